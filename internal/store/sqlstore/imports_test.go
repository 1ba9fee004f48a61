package sqlstore_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

func TestAnImportBeginsOnce(t *testing.T) {
	each(t, func(f fixture) {
		_, found, err := f.ImportState(f.t.Context(), "a")
		require.NoError(f.t, err)
		require.False(f.t, found)
		begin := social.ImportState{Source: "a", ImportPlace: social.ImportPlace{Phase: "one"}, FirstID: 5 << 12}
		want := begin
		want.FirstPlayer = 1
		for range 2 {
			state, err := f.BeginImport(f.t.Context(), begin, 10)
			require.NoError(f.t, err)
			require.Equal(f.t, want, state)
			begin.FirstID++ // the second beginning does not count
		}
		state, found, err := f.ImportState(f.t.Context(), "a")
		require.NoError(f.t, err)
		require.True(f.t, found)
		require.Equal(f.t, want, state)
		first, err := f.ReservePlayers(f.t.Context(), 3)
		require.NoError(f.t, err)
		require.Equal(f.t, social.PlayerID(11), first, "one range was reserved")
		next, err := f.NextPlayerID(f.t.Context())
		require.NoError(f.t, err)
		require.Equal(f.t, social.PlayerID(14), next)
	})
}

func TestWriteBatch(t *testing.T) {
	each(t, func(f fixture) {
		_, err := f.BeginImport(f.t.Context(), social.ImportState{Source: "a", ImportPlace: social.ImportPlace{Phase: "one"}}, 1)
		require.NoError(f.t, err)
		step := func(from, to int64) *social.ImportStep {
			return &social.ImportStep{Source: "a", From: social.ImportPlace{Phase: "one", Position: from}, To: social.ImportPlace{Phase: "one", Position: to}}
		}
		batch := func(id int64, step *social.ImportStep) *social.Batch {
			player := social.PlayerID(id)
			return &social.Batch{
				Players:  []social.BulkPlayer{{ID: player, Name: fmt.Sprint("N", id), NameKey: fmt.Sprint("n", id), JoinedAt: social.Epoch, Counts: social.PlayerCounts{Fans: 3}, Version: 9}},
				External: []social.ExternalID{{Kind: social.ExternalPlayer, External: fmt.Sprint("x", id), ID: id}},
				Step:     step,
			}
		}
		require.NoError(f.t, f.WriteBatch(f.t.Context(), batch(1, step(0, 1))))
		require.ErrorContains(f.t, f.WriteBatch(f.t.Context(), batch(2, step(0, 1))), "another process")
		require.NoError(f.t, f.WriteBatch(f.t.Context(), batch(3, step(1, 2))))
		taken := batch(4, step(2, 3))
		taken.Players[0].NameKey = "n3"
		require.Equal(f.t, social.CodeNameTaken, social.CodeOf(f.WriteBatch(f.t.Context(), taken)))

		state, _, err := f.ImportState(f.t.Context(), "a")
		require.NoError(f.t, err)
		assert.Equal(f.t, int64(2), state.Position, "what failed moved nothing on")
		found, err := f.ExternalIDs(f.t.Context(), social.ExternalPlayer, []string{"x1", "x2", "x3", "x4"})
		require.NoError(f.t, err)
		assert.Equal(f.t, map[string]int64{"x1": 1, "x3": 3}, found)
		_, ok, err := f.LookupExternal(f.t.Context(), social.ExternalFeed, "x1")
		require.NoError(f.t, err)
		assert.False(f.t, ok, "a player's id is not a feed's")
		names, err := f.TakenNames(f.t.Context(), []string{"n1", "n2", "n3"})
		require.NoError(f.t, err)
		assert.Equal(f.t, map[string]bool{"n1": true, "n3": true}, names)
		details, err := f.Details().Load(f.t.Context(), []social.PlayerID{1})
		require.NoError(f.t, err)
		assert.Equal(f.t, &social.PlayerDetail{ID: 1, JoinedAt: social.Epoch, PlayerCounts: social.PlayerCounts{Fans: 3}, Version: 9}, details[1])
	})
}

func TestWriteBatchOfMoreRowsThanAStatementHas(t *testing.T) {
	each(t, func(f fixture) {
		const n = 2500
		b := &social.Batch{}
		for i := range social.FeedID(n) {
			whole := i%2 == 0
			feed := social.Feed{ID: 1 + i, AuthorID: 7, Visibility: social.Public, Excerpt: "short", Whole: whole, Version: 3}
			b.Feeds = append(b.Feeds, social.BulkFeed{Feed: feed, Content: fmt.Sprint("short and long ", int(i)), Likes: 1})
			b.Likes = append(b.Likes, social.Like{Key: social.LikeKey{Feed: 1 + i, Player: 8}, Order: social.LikeID(n + i)})
			b.Edges = append(b.Edges, social.Edge{Player: 7, Peer: social.PlayerID(10 + i), Following: social.EdgeID(1 + i)})
		}
		require.NoError(f.t, f.WriteBatch(f.t.Context(), b))
		ids := []social.FeedID{1, 2, n, n + 1}
		heads, err := f.Feeds().Load(f.t.Context(), ids)
		require.NoError(f.t, err)
		bodies, err := f.Bodies().Load(f.t.Context(), ids)
		require.NoError(f.t, err)
		counters, err := f.Counters().Load(f.t.Context(), ids)
		require.NoError(f.t, err)
		liked, err := f.Liked(f.t.Context(), 8, ids)
		require.NoError(f.t, err)
		assert.Len(f.t, heads, 3)
		assert.Equal(f.t, &b.Feeds[0].Feed, heads[1])
		assert.Equal(f.t, fmt.Sprint("short and long ", n-1), bodies[n].Content)
		assert.NotContains(f.t, bodies, social.FeedID(1))
		assert.Equal(f.t, 1, counters[n].Likes)
		assert.Len(f.t, liked, 3)
		relations, err := f.Relations(f.t.Context(), 7, []social.PlayerID{10, n + 9, n + 10})
		require.NoError(f.t, err)
		assert.Len(f.t, relations, 2)
		free, err := f.TakenFeedIDs(f.t.Context(), []social.FeedID{n, n + 1})
		require.NoError(f.t, err)
		assert.Equal(f.t, map[social.FeedID]bool{n: true}, free)
	})
}
