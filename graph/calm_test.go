package graph

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// TestCountersAreTakenTogether gives items at given times and notes when which ones are passed on. A place
// says where an item stands.
func TestCountersAreTakenTogether(t *testing.T) {
	const ms = time.Millisecond
	type at struct {
		at   time.Duration
		kind social.LiveKind
		seq  int64
	}
	for _, c := range []struct {
		name      string
		came, got []at
	}{
		{"others at once", []at{{0, 'c', 1}, {10 * ms, 'x', 2}}, []at{{0, 'c', 1}, {10 * ms, 'x', 2}}},
		{"one change, when its interval is over", []at{{5 * ms, 'n', 1}}, []at{{255 * ms, 'n', 1}}},
		{"two changes, each an interval before it is told", []at{{0, 'n', 1}, {100 * ms, 'n', 2}}, []at{{250 * ms, 'n', 2}, {500 * ms, 'n', 2}}},
		{"a change after the interval", []at{{0, 'n', 1}, {300 * ms, 'n', 2}}, []at{{250 * ms, 'n', 1}, {550 * ms, 'n', 2}}},
		{"others amid changes", []at{{0, 'n', 1}, {20 * ms, 'c', 2}, {240 * ms, 'c', 3}, {260 * ms, 'e', 4}},
			[]at{{20 * ms, 'c', 2}, {240 * ms, 'c', 3}, {250 * ms, 'n', 3}, {260 * ms, 'e', 4}}},
		{"many changes, four a second", []at{
			{0, 'n', 1}, {50 * ms, 'n', 2}, {100 * ms, 'n', 3}, {300 * ms, 'n', 4}, {400 * ms, 'n', 5}, {600 * ms, 'n', 6}, {740 * ms, 'n', 7}, {760 * ms, 'n', 8},
		}, []at{{250 * ms, 'n', 3}, {500 * ms, 'n', 5}, {750 * ms, 'n', 7}, {1000 * ms, 'n', 8}, {1250 * ms, 'n', 8}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				items := make(chan social.LiveItem, len(c.came))
				go func() {
					for _, came := range c.came {
						time.Sleep(came.at - time.Since(began))
						items <- social.LiveItem{Kind: social.LiveEvent, Place: social.LogPlace{Seq: came.seq}, Entry: social.LiveEntry{Kind: came.kind}}
					}
				}()
				quiet := &calm{next: func(ctx context.Context) (social.LiveItem, error) {
					select {
					case item := <-items:
						return item, nil
					case <-ctx.Done():
						return social.LiveItem{}, ctx.Err()
					}
				}}
				for _, want := range c.got {
					item, err := quiet.item(ctx)
					require.NoError(t, err)
					require.Equal(t, want, at{time.Since(began), item.Entry.Kind, item.Place.Seq})
				}
				time.AfterFunc(time.Minute, cancel)
				_, err := quiet.item(ctx)
				require.ErrorIs(t, err, context.Canceled, "nothing else comes")
			})
		})
	}
}

func TestAHeldChangeHidesNoEnd(t *testing.T) {
	end := errors.New("the end")
	came := []social.LiveItem{{Kind: social.LiveEvent, Entry: social.LiveEntry{Kind: social.LiveCounters}}}
	quiet := &calm{next: func(context.Context) (social.LiveItem, error) {
		if len(came) == 0 {
			return social.LiveItem{}, end
		}
		item := came[0]
		came = came[1:]
		return item, nil
	}}
	_, err := quiet.item(t.Context())
	require.ErrorIs(t, err, end)
}
