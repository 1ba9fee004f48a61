package redisstore

import (
	"context"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// orders are windows of each order that hold few entries.
func (f fixture) orders(cap int) map[order]*Windows {
	return map[order]*Windows{
		newest:  {store: f.Store, keys: timelineKeys, order: newest, cap: cap},
		oldest:  {store: f.Store, keys: profileKeys, order: oldest, cap: cap},
		players: {store: f.Store, keys: relationKeys[social.ListFollowing].one, order: players, cap: cap},
	}
}

// begin is where a walk through a list begins.
func (o order) begin() int64 {
	if o == oldest {
		return 0
	}
	return social.MaxID + 1
}

func (w *Windows) entry(key int64) social.Entry {
	if w.order == players {
		return social.Entry{Member: key%1000 + 1, Key: key}
	}
	return social.Entry{Member: key, Key: key}
}

func (w *Windows) mustBegin(t require.TestingT, id int64) string {
	token, ok, err := w.Begin(context.Background(), id)
	require.NoError(t, err)
	require.True(t, ok)
	return token
}

func (w *Windows) mustFinish(t require.TestingT, id int64, token string, floor int64, entries ...social.Entry) {
	ok, err := w.Finish(context.Background(), id, token, entries, floor)
	require.NoError(t, err)
	require.True(t, ok)
}

func (w *Windows) page(t require.TestingT, id int64) social.WindowPage {
	pages, err := w.Read(context.Background(), []social.WindowAsk{{ID: id, After: w.order.begin(), Limit: 50_000}})
	require.NoError(t, err)
	return pages[0]
}

func TestWindowLife(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		for order, w := range f.orders(3) {
			t.Run(string(order), func(t *testing.T) {
				ctx := t.Context()
				require.NoError(t, w.Push(ctx, []int64{7}, w.entry(20)))
				assert.Equal(t, social.WindowPage{}, w.page(t, 7), "nothing is pushed into a list that is not there")
				token := w.mustBegin(t, 7)
				require.NoError(t, w.Push(ctx, []int64{7}, w.entry(20)))
				assert.Equal(t, social.WindowPage{}, w.page(t, 7), "being built")
				_, ok, err := w.Begin(ctx, 7)
				require.NoError(t, err)
				assert.False(t, ok)
				w.mustFinish(t, 7, token, 0, w.entry(10))
				page := w.page(t, 7)
				assert.Equal(t, social.WindowWhole, page.State)
				assert.True(t, page.Ended)
				assert.ElementsMatch(t, []social.Entry{w.entry(10), w.entry(20)}, page.Entries)
				require.NoError(t, w.Remove(ctx, []int64{7}, []int64{w.entry(10).Member, w.entry(20).Member}))
				assert.Equal(t, social.WindowPage{State: social.WindowWhole, Ended: true}, w.page(t, 7), "an empty list is there")
				require.NoError(t, w.Drop(ctx, []int64{7}))
				assert.Equal(t, social.WindowPage{}, w.page(t, 7))
			})
		}
	})
}

func TestWindowsTakeOneTrip(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		for order, w := range f.orders(1000) {
			ctx := t.Context()
			var lists, members []int64
			var asks []social.WindowAsk
			var entries []social.Entry
			for i := int64(1); i <= 250; i++ {
				lists, members = append(lists, i), append(members, i, 1000+i, 2000+i)
				asks = append(asks, social.WindowAsk{ID: i, After: order.begin(), Limit: 10})
			}
			for key := int64(400); key > 150; key-- {
				entries = append(entries, w.entry(key))
			}
			slices.SortFunc(entries, order.nearer)
			var token string
			for _, call := range []struct {
				name string
				run  func() error
			}{
				{"begin", func() (err error) { token, _, err = w.Begin(ctx, 1); return err }},
				{"finish", func() error { _, err := w.Finish(ctx, 1, token, entries, 100); return err }},
				{"resume", func() (err error) { token, _, _, err = w.Resume(ctx, 1); return err }},
				{"grow", func() error { _, err := w.Grow(ctx, 1, token, nil, 0); return err }},
				{"push", func() error { return w.Push(ctx, lists, w.entry(7)) }},
				{"merge", func() error { return w.Merge(ctx, 1, entries) }},
				{"read", func() error { _, err := w.Read(ctx, asks[:100]); return err }},
				{"has", func() error { _, err := w.Has(ctx, 1, members); return err }},
				{"remove from many", func() error { return w.Remove(ctx, lists, members[:1]) }},
				{"remove many", func() error { return w.Remove(ctx, lists[:1], members) }},
				{"renew", func() error { return w.Renew(ctx, lists) }},
				{"drop", func() error { return w.Drop(ctx, lists) }},
			} {
				require.NoError(t, call.run(), call.name) // may load the script
				before := f.trips.count.Load()
				require.NoError(t, call.run(), call.name)
				assert.EqualValues(t, 1, f.trips.count.Load()-before, "%s: %s", order, call.name)
			}
			before := f.trips.count.Load()
			_, err := w.Read(ctx, nil)
			require.NoError(t, err)
			_, err = w.Has(ctx, 1, nil)
			require.NoError(t, err)
			require.NoError(t, w.Push(ctx, nil, w.entry(7)))
			require.NoError(t, w.Remove(ctx, lists, nil))
			require.NoError(t, w.Drop(ctx, nil))
			assert.Zero(t, f.trips.count.Load()-before, "nothing is asked for")
		}
	})
}

func TestManyListsAndManyMembers(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		for _, w := range []*Windows{f.Liked(), f.Likes()} {
			ctx := t.Context()
			var lists, members []int64
			for i := int64(1); i <= 230; i++ {
				lists = append(lists, i)
				if i%2 == 0 {
					w.mustFinish(t, i, w.mustBegin(t, i), 0)
				}
			}
			require.NoError(t, w.Push(ctx, lists, social.Entry{Member: 5, Key: 5}))
			for i := int64(1); i <= 230; i++ {
				assert.Equal(t, i%2 == 0, len(w.page(t, i).Entries) == 1, "list %d", i)
			}
			var entries []social.Entry
			for i := int64(1300); i > 0; i-- {
				members = append(members, i)
				if i%3 == 0 {
					entries = append(entries, social.Entry{Member: i, Key: i})
				}
			}
			require.NoError(t, w.Merge(ctx, 2, entries))
			require.NoError(t, w.Remove(ctx, []int64{2, 4, 5}, members[:400]))
			answers, err := w.Has(ctx, 2, members)
			require.NoError(t, err)
			for i, answer := range answers {
				member := members[i]
				want := social.Membership{Presence: social.PresenceNo}
				if member <= 900 && member%3 == 0 || member == 5 {
					want = social.Membership{Presence: social.PresenceYes, Key: member}
				}
				assert.Equal(t, want, answer, "member %d", member)
			}
		}
	})
}

func TestWindowScriptsAreLoadedAgain(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		w, ctx := f.Timelines(), t.Context()
		flush := func() {
			require.NoError(t, f.servers[Feed].each(ctx, func(ctx context.Context, node *redis.Client) error {
				return node.ScriptFlush(ctx).Err()
			}))
		}
		flush()
		token := w.mustBegin(t, 7)
		flush()
		w.mustFinish(t, 7, token, 0, w.entry(10))
		flush()
		assert.Len(t, w.page(t, 7).Entries, 1)
		flush()
		answers, err := w.Has(ctx, 7, []int64{10, 11})
		require.NoError(t, err)
		assert.Equal(t, []social.Membership{{Presence: social.PresenceYes, Key: 10}, {Presence: social.PresenceNo}}, answers)
	})
}

// One entry more than the compact encoding takes, even for a moment, would make a list of 1,000 take
// 120 KB for good.
func TestMemoryOfATimeline(t *testing.T) {
	if realURL() == "" {
		assert.Zero(t, entriesPerCall%16, "calls end with a step")
		return
	}
	f := onReal(t)
	require.NoError(t, f.servers[Feed].each(t.Context(), func(ctx context.Context, node *redis.Client) error {
		return node.ConfigSet(ctx, "zset-max-listpack-entries", "1024").Err()
	}))
	w, ctx := f.Timelines(), t.Context()
	entries := func(first int64) []social.Entry {
		entries := make([]social.Entry, 1000)
		for i := range entries {
			id := int64(feedID(int(first) - 2*i))
			entries[i] = social.Entry{Member: id, Key: id}
		}
		return entries
	}
	check := func(what string) {
		used := f.client().MemoryUsage(ctx, w.keys.key(7)).Val()
		t.Logf("%s: %d bytes", what, used)
		assert.LessOrEqual(t, used, int64(14<<10), what)
		assert.InDelta(t, 1001, f.client().ZCard(ctx, w.keys.key(7)).Val(), 15, what)
	}
	token := w.mustBegin(t, 7)
	require.NoError(t, w.Merge(ctx, 7, entries(4001)))
	w.mustFinish(t, 7, token, int64(feedID(2001)), entries(4000)...)
	check("finished, with as many pushed meanwhile")
	require.NoError(t, w.Merge(ctx, 7, entries(4002)))
	check("merged")
	for _, e := range entries(8000) {
		require.NoError(t, w.Push(ctx, []int64{7}, e))
	}
	check("pushed")
}
