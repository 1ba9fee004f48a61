package redisstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

func TestCards(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx := t.Context()
		both, headOnly, countOnly, neither := feedID(1), feedID(2), feedID(3), feedID(4)
		feeds := map[social.FeedID]*social.Feed{both: sampleFeed(both, 1), headOnly: sampleFeed(headOnly, 2)}
		counters := map[social.FeedID]*social.FeedCounters{both: sampleCounters(both, 3), countOnly: sampleCounters(countOnly, 4)}
		require.NoError(t, put(ctx, f.Feeds(), feeds))
		require.NoError(t, put(ctx, f.Counters(), counters))
		cards, err := f.Cards(ctx, 0, []social.FeedID{neither, countOnly, headOnly, both})
		require.NoError(t, err)
		assert.Equal(t, feeds, cards.Heads)
		assert.Equal(t, counters, cards.Counters)
		cards, err = f.Cards(ctx, 0, nil)
		require.NoError(t, err)
		assert.Empty(t, cards.Heads)
		assert.Empty(t, cards.Counters)
	})
}

func TestCardsKnowLikesAsFarAsTheWindowReaches(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx := t.Context()
		ids := []social.FeedID{5, 15, 25}
		cards, err := f.Cards(ctx, 9, ids)
		require.NoError(t, err)
		assert.True(t, cards.LikedAbsent)
		assert.Empty(t, cards.Liked)

		f.build(t, f.Liked(), 9, 10, social.Entry{Member: 25, Key: 25})
		cards, err = f.Cards(ctx, 9, ids)
		require.NoError(t, err)
		assert.True(t, cards.LikedAbsent, "there is room for more")
		assert.Equal(t, map[social.FeedID]bool{25: true, 15: false}, cards.Liked, "5 is below the floor")
	})
}

func TestPeopleKnowRelationsOnlyFromWholeLists(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx := t.Context()
		ids := []social.PlayerID{1, 2, 3}
		require.NoError(t, put(ctx, f.Players(), map[social.PlayerID]*social.Player{2: samplePlayer(2, 1)}))
		f.build(t, f.Following().one, 9, 0, social.Entry{Member: 2, Key: 70}, social.Entry{Member: 1, Key: 60})
		people, err := f.People(ctx, 9, ids, ids)
		require.NoError(t, err)
		assert.Equal(t, map[social.PlayerID]*social.Player{2: samplePlayer(2, 1)}, people.Players)
		absent := []social.RelationList{social.ListFans, social.ListBlocked, social.ListBlockers, social.ListMuted}
		assert.Equal(t, absent, people.Absent)
		assert.Empty(t, people.Relations, "who follows the viewer is not known")

		f.build(t, f.Fans().one, 9, 0, social.Entry{Member: 2, Key: 80})
		f.build(t, f.Blocked().one, 9, 0, social.Entry{Member: 3, Key: 90})
		f.build(t, f.Blockers().one, 9, 0, social.Entry{Member: 3, Key: 91})
		people, err = f.People(ctx, 9, nil, ids)
		require.NoError(t, err)
		assert.Equal(t, []social.RelationList{social.ListMuted}, people.Absent)
		assert.Empty(t, people.Relations, "whom the viewer mutes is not known")

		f.build(t, f.Muted().one, 9, 0, social.Entry{Member: 1, Key: 95})
		people, err = f.People(ctx, 9, nil, ids)
		require.NoError(t, err)
		assert.Equal(t, map[social.PlayerID]social.Relation{
			1: {Following: true, Muted: true}, 2: {Following: true, Fan: true}, 3: {Blocking: true, BlockedBy: true},
		}, people.Relations)
	})
}

// build makes a window whole.
func (f fixture) build(t *testing.T, w *Windows, id, floor int64, entries ...social.Entry) {
	t.Helper()
	token, ok, err := w.Begin(t.Context(), id)
	require.NoError(t, err)
	require.True(t, ok)
	ok, err = w.Finish(t.Context(), id, token, entries, floor)
	require.NoError(t, err)
	require.True(t, ok)
}
