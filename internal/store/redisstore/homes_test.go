package redisstore

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// made makes a list whole with all there is.
func (w *Windows) made(t *testing.T, id int64, entries ...social.Entry) {
	t.Helper()
	w.mustFinish(t, id, w.mustBegin(t, id), 0, entries...)
}

func feedsAt(ids ...int64) []social.Entry {
	entries := make([]social.Entry, len(ids))
	for i, id := range ids {
		entries[i] = social.Entry{Member: id, Key: id}
	}
	return entries
}

var wholeHome = social.WindowAsk{ID: 7, After: social.MaxID + 1, Limit: 10}

func (f fixture) readHome(t *testing.T, ask social.WindowAsk) social.HomeWindow {
	t.Helper()
	home, err := f.Homes().Read(t.Context(), ask)
	require.NoError(t, err)
	return home
}

func TestATimelineIsReadWithItsPulledAuthors(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		require.Equal(t, social.HomeWindow{}, f.readHome(t, wholeHome), "neither is there")
		f.Timelines().made(t, 7, feedsAt(30, 20, 10)...)
		require.Equal(t, social.HomeWindow{}, f.readHome(t, wholeHome), "without its pulled authors a timeline is absent")
		token := f.Pulls().mustBegin(t, 7)
		require.Equal(t, social.HomeWindow{}, f.readHome(t, wholeHome), "nor while they are built")
		f.Pulls().mustFinish(t, 7, token, 0)
		home := f.readHome(t, wholeHome)
		require.Equal(t, feedsAt(30, 20, 10), home.Entries)
		require.True(t, home.Ended)
		require.Empty(t, home.Pulled)

		high := int64(social.MaxID - 5) // positions are exact as scores
		for author, position := range map[int64]int64{3: 25, 4: high} {
			require.NoError(t, f.Pulls().Push(t.Context(), []int64{7, 8}, social.Entry{Member: author, Key: position}))
		}
		before := f.trips.count.Load()
		home = f.readHome(t, social.WindowAsk{ID: 7, After: 30, Limit: 1})
		require.EqualValues(t, 1, f.trips.count.Load()-before)
		require.Equal(t, feedsAt(20), home.Entries)
		require.False(t, home.Ended)
		require.Equal(t, []social.Entry{{Member: 4, Key: high}, {Member: 3, Key: 25}}, home.Pulled)
		require.True(t, home.Pulls(&social.Feed{ID: 26, AuthorID: 3}))
		require.False(t, home.Pulls(&social.Feed{ID: 25, AuthorID: 3}))
		require.False(t, home.Pulls(&social.Feed{ID: 26, AuthorID: 5}))

		require.NoError(t, f.Timelines().Drop(t.Context(), []int64{7}))
		require.Equal(t, social.HomeWindow{}, f.readHome(t, wholeHome))
		f.SetEpochs(map[string]uint32{string(Feed): 2})
		f.Timelines().made(t, 7, feedsAt(30)...)
		require.Equal(t, social.HomeWindow{}, f.readHome(t, wholeHome), "of another epoch")
		require.NoError(t, f.Pulls().Drop(t.Context(), []int64{7}))
		token = f.Pulls().mustBegin(t, 7)
		f.Pulls().mustFinish(t, 7, token, 5, social.Entry{Member: 3, Key: 6})
		require.Equal(t, social.HomeWindow{}, f.readHome(t, wholeHome), "a list that does not hold all")
	})
}

func TestPullMergesAndMovesPositions(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		f.Timelines().made(t, 7, feedsAt(30, 10)...)
		f.Pulls().made(t, 7, social.Entry{Member: 4, Key: 12}, social.Entry{Member: 3, Key: 10})
		pull := func(feeds []social.Entry, moves ...social.PositionMove) social.HomeWindow {
			home, err := f.Homes().Pull(t.Context(), wholeHome, feeds, moves)
			require.NoError(t, err)
			require.Equal(t, f.readHome(t, wholeHome), home, "it reads what is there then")
			return home
		}
		home := pull(feedsAt(40, 20), social.PositionMove{Author: 3, From: 10, To: 40},
			social.PositionMove{Author: 4, From: 11, To: 40}, social.PositionMove{Author: 5, From: 0, To: 40})
		require.Equal(t, feedsAt(40, 30, 20, 10), home.Entries)
		require.Equal(t, []social.Entry{{Member: 3, Key: 40}, {Member: 4, Key: 12}}, home.Pulled,
			"a position that another has moved stays, an author who has left does not come back")

		var many []social.Entry
		for id := range int64(1100) {
			many = append(many, social.Entry{Member: 10_000 - id, Key: 10_000 - id})
		}
		home = pull(many[:1001], social.PositionMove{Author: 3, From: 40, To: 10_000})
		require.Equal(t, many[:10], home.Entries)
		require.GreaterOrEqual(t, home.Floor, many[1000].Key, "one more than it holds tells that it goes on")
		require.Contains(t, home.Pulled, social.Entry{Member: 3, Key: 10_000})

		require.NoError(t, f.Timelines().Drop(t.Context(), []int64{7}))
		require.Equal(t, social.HomeWindow{}, pull(feedsAt(40)), "a push makes no list")
	})
}

func TestAboveReadsTheNewestDownToAKey(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		f.Profiles().made(t, 1, feedsAt(50, 40, 30)...)
		f.Profiles().made(t, 2, feedsAt(45)...)
		pages, err := f.Profiles().Above(t.Context(), []social.AboveAsk{{ID: 1, Above: 30, Limit: 5}, {ID: 3, Above: 1, Limit: 5},
			{ID: 2, Above: 45, Limit: 5}, {ID: 1, Above: 0, Limit: 2}})
		require.NoError(t, err)
		require.Equal(t, feedsAt(50, 40), pages[0].Entries)
		require.Equal(t, social.WindowAbsent, pages[1].State)
		require.Equal(t, social.WindowWhole, pages[2].State)
		require.Empty(t, pages[2].Entries)
		require.Equal(t, feedsAt(50, 40), pages[3].Entries)
	})
}

// made makes a list whole with all there is, in parts where it does not fit into one key.
func (s *Split) made(t *testing.T, id int64, entries ...social.Entry) {
	t.Helper()
	token, ok, err := s.Begin(t.Context(), id)
	require.NoError(t, err)
	var floor int64
	near := entries
	if len(entries) > keyCap {
		near = entries[:keyCap]
		floor = entries[keyCap-1].Key - 1
	}
	require.True(t, ok)
	ok, err = s.Finish(t.Context(), id, token, near, floor)
	require.NoError(t, err)
	require.True(t, ok)
	for floor != 0 {
		token, from, ok, err := s.Resume(t.Context(), id)
		require.NoError(t, err)
		if !ok {
			return
		}
		first := slices.IndexFunc(entries, func(e social.Entry) bool { return e.Key <= from })
		rest := entries[first:]
		if floor = 0; len(rest) > keyCap {
			rest = rest[:keyCap]
			floor = rest[keyCap-1].Key - 1
		}
		ok, err = s.Grow(t.Context(), id, token, rest, floor)
		require.NoError(t, err)
		require.True(t, ok)
	}
}

func TestOneMemberIsLookedUpInManyLists(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		s := f.Following()
		edge := func(id int64) social.Entry { return social.Entry{Member: id, Key: id + 100} }
		var long []social.Entry
		for id := int64(2 * keyCap); id > 0; id-- {
			long = append(long, edge(id))
		}
		const most = keysPerCall + 10
		ids := make([]int64, most)
		want := make([]social.Presence, most)
		for i := range ids {
			ids[i] = int64(i + 1)
			switch i % 50 {
			case 0:
				s.made(t, ids[i], edge(9), edge(8))
				want[i] = social.PresenceYes
			case 1:
				s.made(t, ids[i], edge(8))
				want[i] = social.PresenceNo
			case 2:
				_, _, err := s.Begin(t.Context(), ids[i])
				require.NoError(t, err)
			case 3:
				s.made(t, ids[i], long...)
				want[i] = social.PresenceYes
			case 4:
				s.made(t, ids[i], long[:len(long)-9]...)
				want[i] = social.PresenceNo
			}
		}
		got, err := s.In(t.Context(), ids, 9)
		require.NoError(t, err)
		require.Equal(t, want, got)
		f.SetEpochs(map[string]uint32{string(Relation): 2})
		got, err = s.In(t.Context(), ids, 9)
		require.NoError(t, err)
		require.False(t, slices.ContainsFunc(got, func(p social.Presence) bool { return p != social.PresenceUnknown }))
	})
}
