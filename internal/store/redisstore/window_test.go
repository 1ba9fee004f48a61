package redisstore

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// orders are windows of each order that hold few entries.
func (f fixture) orders(cap int) map[order]*Windows {
	return map[order]*Windows{
		newest:  {store: f.Store, keys: timelineKeys, order: newest, cap: cap},
		oldest:  {store: f.Store, keys: profileKeys, order: oldest, cap: cap},
		players: {store: f.Store, keys: followingKeys, order: players, cap: cap},
	}
}

// begin is where a walk through a list begins.
func (o order) begin() int64 {
	if o == oldest {
		return 0
	}
	return social.MaxID + 1
}

func (w *Windows) entry(key int64) Entry {
	if w.order == players {
		return Entry{Member: key%1000 + 1, Key: key}
	}
	return Entry{Member: key, Key: key}
}

func (w *Windows) mustBegin(t require.TestingT, id int64) string {
	token, ok, err := w.Begin(context.Background(), id)
	require.NoError(t, err)
	require.True(t, ok)
	return token
}

func (w *Windows) mustFinish(t require.TestingT, id int64, token string, floor int64, entries ...Entry) {
	ok, err := w.Finish(context.Background(), id, token, entries, floor)
	require.NoError(t, err)
	require.True(t, ok)
}

func (w *Windows) page(t require.TestingT, id int64) WindowPage {
	pages, err := w.Read(context.Background(), []WindowAsk{{ID: id, After: w.order.begin(), Limit: 50_000}})
	require.NoError(t, err)
	return pages[0]
}

func TestWindowLife(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		for order, w := range f.orders(3) {
			t.Run(string(order), func(t *testing.T) {
				ctx := t.Context()
				require.NoError(t, w.Push(ctx, []int64{7}, w.entry(20)))
				assert.Equal(t, WindowPage{}, w.page(t, 7), "nothing is pushed into a list that is not there")
				token := w.mustBegin(t, 7)
				require.NoError(t, w.Push(ctx, []int64{7}, w.entry(20)))
				assert.Equal(t, WindowPage{}, w.page(t, 7), "being built")
				_, ok, err := w.Begin(ctx, 7)
				require.NoError(t, err)
				assert.False(t, ok)
				w.mustFinish(t, 7, token, 0, w.entry(10))
				page := w.page(t, 7)
				assert.Equal(t, Whole, page.State)
				assert.True(t, page.Ended)
				assert.ElementsMatch(t, []Entry{w.entry(10), w.entry(20)}, page.Entries)
				require.NoError(t, w.Remove(ctx, []int64{7}, []int64{w.entry(10).Member, w.entry(20).Member}))
				assert.Equal(t, WindowPage{State: Whole, Ended: true}, w.page(t, 7), "an empty list is there")
				require.NoError(t, w.Drop(ctx, []int64{7}))
				assert.Equal(t, WindowPage{}, w.page(t, 7))
			})
		}
	})
}
