package redisstore

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// edges are n entries, nearest first, with ids of the usual size.
func edges(n int) []social.Entry {
	entries := make([]social.Entry, n)
	for i, member := range rand.New(rand.NewPCG(1, 2)).Perm(100_000)[:n] {
		entries[i] = social.Entry{Member: int64(member) + 1, Key: int64(feedID(n - i))}
	}
	return entries
}

// fill builds a list as whoever finds it absent does.
func (s *Split) fill(t *testing.T, id int64, rows []social.Entry) {
	ctx := t.Context()
	// step is what a reader of the rows has behind a key.
	step := func(after int64) (some []social.Entry, floor int64) {
		for _, e := range rows {
			if e.Key < after && len(some) < 1000 {
				some = append(some, e)
			}
		}
		if len(some) == 1000 {
			floor = some[999].Key - 1
		}
		return some, floor
	}
	token, ok, err := s.Begin(ctx, id)
	require.NoError(t, err)
	require.True(t, ok)
	some, floor := step(social.MaxID + 1)
	ok, err = s.Finish(ctx, id, token, some, floor)
	require.NoError(t, err)
	require.True(t, ok)
	for floor > 0 {
		token, floor, ok, err = s.Resume(ctx, id)
		require.NoError(t, err)
		if !ok {
			return
		}
		some, floor = step(floor + 1)
		ok, err = s.Grow(ctx, id, token, some, floor)
		require.NoError(t, err)
		require.True(t, ok)
	}
}

func (f fixture) tripsOf(t *testing.T, fn func(ctx context.Context) error) int64 {
	before := f.trips.count.Load()
	require.NoError(t, fn(t.Context()))
	return f.trips.count.Load() - before
}

func TestLongListsAreReadFromTheirPartsInOneTrip(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx, list, rows := t.Context(), f.Fans(), edges(2500)
		list.fill(t, 7, rows)
		assert.EqualValues(t, 1, f.client().ZCard(ctx, list.one.keys.key(7)).Val(), "the one key holds nothing but its mark")

		// The server learns the scripts.
		_, err := list.Has(ctx, 7, []int64{1})
		require.NoError(t, err)
		require.NoError(t, list.Push(ctx, []int64{8}, rows[0]))
		require.NoError(t, list.Remove(ctx, []int64{8}, []int64{1}))

		list.long.Purge() // as in another process
		asks := []social.WindowAsk{{ID: 7, After: social.MaxID + 1, Limit: 100}, {ID: 7, After: rows[1999].Key, Limit: 500}, {ID: 7, After: rows[1999].Key, Limit: 499}}
		for _, trips := range []int64{2, 1} {
			assert.Equal(t, trips, f.tripsOf(t, func(ctx context.Context) error {
				pages, err := list.Read(ctx, asks)
				assert.Equal(t, rows[:100], pages[0].Entries)
				assert.Equal(t, social.WindowPage{State: social.WindowWhole, Entries: rows[2000:], Ended: true, Size: 2500}, pages[1])
				assert.Equal(t, rows[2000:2499], pages[2].Entries)
				assert.False(t, pages[2].Ended)
				return err
			}))
		}
		members := []int64{rows[2499].Member, 100_001, rows[0].Member, rows[0].Member}
		list.long.Purge()
		for _, trips := range []int64{2, 1} {
			assert.Equal(t, trips, f.tripsOf(t, func(ctx context.Context) error {
				answers, err := list.Has(ctx, 7, members)
				first, last := social.Membership{Presence: social.PresenceYes, Key: rows[0].Key}, social.Membership{Presence: social.PresenceYes, Key: rows[2499].Key}
				assert.Equal(t, []social.Membership{last, {Presence: social.PresenceNo}, first, first}, answers)
				return err
			}))
		}
		assert.EqualValues(t, 1, f.tripsOf(t, func(ctx context.Context) error { return list.Push(ctx, []int64{7, 8}, edges(1)[0]) }))
		assert.EqualValues(t, 1, f.tripsOf(t, func(ctx context.Context) error { return list.Remove(ctx, []int64{7, 8}, members) }))
	})
}

func TestAListThatOutgrowsOneKeyIsToBeBuiltFurther(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx, list, rows := t.Context(), f.Following(), edges(1001)
		list.fill(t, 7, rows[1:1000])
		page := func() social.WindowPage {
			pages, err := list.Read(ctx, []social.WindowAsk{{ID: 7, After: social.MaxID + 1, Limit: 10}})
			require.NoError(t, err)
			return pages[0]
		}
		assert.False(t, page().Unfinished)
		require.NoError(t, list.Push(ctx, []int64{7}, rows[0]))
		assert.Zero(t, page().Floor)
		newer := social.Entry{Member: 100_001, Key: int64(feedID(5000))}
		require.NoError(t, list.Push(ctx, []int64{7}, newer))
		assert.Equal(t, rows[999].Key, page().Floor, "the farthest is no longer there")
		assert.True(t, page().Unfinished)
	})
}

// Follow edges take at most 28 bytes in each direction, in lists of 32 and of the longest that are held.
func TestEdgesTakeLittleMemory(t *testing.T) {
	if realURL() == "" {
		t.Log("the embedded server does not tell what it uses")
		return
	}
	f := onReal(t)
	list := f.Fans()
	for id, n := range []int{32, 200, 1000, 1001, 2000, 20_000} {
		list.fill(t, int64(id), edges(n))
		used := int64(0)
		for _, key := range append([]string{list.one.keys.key(int64(id))}, list.parts.keysOf(list.partIDs(int64(id)))...) {
			used += f.client().MemoryUsage(t.Context(), key).Val()
		}
		t.Logf("a list of %d: %.1f bytes an entry", n, float64(used)/float64(n))
		assert.LessOrEqual(t, float64(used)/float64(n), 28.0, "a list of %d", n)
	}
}

func (w *Windows) keysOf(ids []int64) []string {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = w.keys.key(id)
	}
	return keys
}

// Parts of a list that reach less or more far than each other are grown by the same rows.
func TestAListThatIsGrownTakesOnlyWhatIsBeyondItsFloor(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx, w := t.Context(), f.orders(10)[players]
		e := func(key int64) social.Entry { return social.Entry{Member: key, Key: key} }
		w.mustFinish(t, 7, w.mustBegin(t, 7), 30, e(40), e(35))
		grow := func(floor int64, entries ...social.Entry) {
			token, _, ok, err := w.Resume(ctx, 7)
			require.NoError(t, err)
			require.True(t, ok)
			require.NoError(t, w.Remove(ctx, []int64{7}, []int64{40}))
			ok, err = w.Grow(ctx, 7, token, entries, floor)
			require.NoError(t, err)
			require.True(t, ok)
		}
		grow(32, e(40), e(35))
		page := w.page(t, 7)
		assert.Equal(t, []social.Entry{e(35)}, page.Entries)
		assert.EqualValues(t, 30, page.Floor)

		require.NoError(t, w.Push(ctx, []int64{7}, e(40)))
		grow(20, e(40), e(35), e(25))
		page = w.page(t, 7)
		assert.Equal(t, []social.Entry{e(35), e(25)}, page.Entries, "40 was removed since it was read")
		assert.EqualValues(t, 20, page.Floor)
	})
}
