package redisstore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

func TestMessagesComeBackAsTheyAreNow(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		short := &social.Message{ID: 500, Sender: 7, Recipient: 1 << 40, Number: 1, Content: "hi 👋"}
		long := &social.Message{ID: 501, Sender: 7, Recipient: 8, Number: 1 << 33, Content: strings.Repeat("好的 okay ", 500)}
		want := map[social.MessageID]*social.Message{500: short, 501: long}
		require.NoError(t, put(t.Context(), f.Messages(), want))
		got, err := f.Messages().Get(t.Context(), []social.MessageID{500, 501, 502})
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Less(t, f.client().StrLen(t.Context(), "msg:{501}").Val(), int64(len(long.Content)/4), "long texts are compressed")

		hidden := *short
		hidden.Hidden = social.HiddenUnread
		for _, m := range []*social.Message{&hidden, short} { // what is older is not taken
			require.NoError(t, put(t.Context(), f.Messages(), map[social.MessageID]*social.Message{500: m}))
			got, err = f.Messages().Get(t.Context(), []social.MessageID{500})
			require.NoError(t, err)
			require.Equal(t, &hidden, got[500])
		}
	})
}
