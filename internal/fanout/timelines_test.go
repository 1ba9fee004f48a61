package fanout

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// rebuilt notes whose timelines were rebuilt, and fails once the given number has been.
type rebuilt struct {
	players []social.PlayerID
	failAt  int
}

func (r *rebuilt) RebuildTimelines(_ context.Context, players []social.PlayerID) error {
	if r.failAt > 0 && len(r.players) >= r.failAt {
		r.failAt = 0
		return social.Unavailable(errors.New("away"))
	}
	r.players = append(r.players, players...)
	return nil
}

func TestTimelinesAreRebuiltFromWhereItStopped(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, last int64
		failAt      int
	}{
		{"one", 7, 7, 0},
		{"two chunks to the brim", 1, 2 * playersPerRebuild, 0},
		{"two chunks and one", 5, 5 + 2*playersPerRebuild, 0},
		{"broken off", 5, 5 + 2*playersPerRebuild, playersPerRebuild},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &rebuilt{failAt: c.failAt}
			far := &TimelinesFar{Timelines: r}
			var place []byte
			save := func(_ context.Context, p []byte) error { place = p; return nil }
			event := social.Event{Kind: social.EventTimelines, Subject: c.first, Object: c.last}
			err := far.Far(t.Context(), event, nil, save)
			if c.failAt > 0 {
				require.Equal(t, social.CodeUnavailable, social.CodeOf(err))
				err = far.Far(t.Context(), event, place, save)
			}
			require.NoError(t, err)
			require.Len(t, r.players, int(c.last-c.first+1))
			for i, p := range r.players {
				require.EqualValues(t, c.first+int64(i), p)
			}
		})
	}
}
