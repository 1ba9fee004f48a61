package sqlstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

// homeWorld is a small world in which player 1 has a home page.
type homeWorld struct {
	edges map[social.PlayerID]social.Relation
	feeds []social.Feed
}

// fill makes a world of players 1 to authors, of whom 1 follows some.
func (f fixture) fill(r *rand.Rand, authors, feeds int) homeWorld {
	w := homeWorld{edges: map[social.PlayerID]social.Relation{}}
	f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
		for i := social.PlayerID(2); i <= social.PlayerID(authors); i++ {
			edge := social.Edge{Player: 1, Peer: i}
			if r.IntN(3) > 0 {
				edge.Following = social.EdgeID(1000 + i)
			}
			if r.IntN(2) > 0 {
				edge.Fan = social.EdgeID(2000 + i)
			}
			if edge.Relation().Friend() {
				edge.Friend = edge.Fan
			}
			if r.IntN(5) == 0 {
				edge.Mute = social.EdgeID(3000 + i)
			}
			w.edges[i] = edge.Relation()
			if err := tx.SavePair(ctx, edge); err != nil {
				return err
			}
		}
		for i := range feeds {
			feed := social.Feed{
				ID: social.FeedID(10 * (i + 1)), AuthorID: social.PlayerID(1 + int(float64(authors)*r.Float64()*r.Float64())),
				Visibility: social.Visibility(1 + r.IntN(4)), Deleted: r.IntN(8) == 0, Hidden: r.IntN(8) == 0, Whole: true,
			}
			w.feeds = append(w.feeds, feed)
			if err := tx.InsertFeed(ctx, feed, ""); err != nil {
				return err
			}
		}
		return nil
	})
	return w
}

// home is player 1's page by the rule, feed by feed.
func (w homeWorld) home(viewer social.Viewer, below int64, limit int) []social.FeedID {
	page := []social.FeedID{}
	for _, feed := range slices.Backward(w.feeds) {
		relation := w.edges[feed.AuthorID]
		shown := feed.AuthorID == 1 || relation.Following && !relation.Muted && feed.Guard().VisibleTo(viewer, relation)
		if shown && !feed.Deleted && int64(feed.ID) < below && len(page) < limit {
			page = append(page, feed.ID)
		}
	}
	return page
}

func TestHomeFeedsAreWhatTheRuleSays(t *testing.T) {
	for _, size := range []struct{ authors, feeds int }{{1, 10}, {4, 60}, {40, 300}, {260, 600}} {
		t.Run(fmt.Sprintf("%d authors", size.authors), func(t *testing.T) {
			each(t, func(f fixture) {
				w := f.fill(rand.New(rand.NewPCG(1, uint64(size.authors))), size.authors, size.feeds)
				rapid.Check(f.t, func(rt *rapid.T) {
					below := rapid.Int64Range(0, int64(10*size.feeds+20)).Draw(rt, "below")
					limit := rapid.IntRange(0, 250).Draw(rt, "limit")
					viewer := social.Viewer{Player: 1, Role: rapid.SampledFrom([]social.Role{social.RolePlayer, social.RoleModerator}).Draw(rt, "role")}
					got, err := f.HomeFeeds(f.t.Context(), viewer, below, limit)
					require.NoError(rt, err)
					require.Equal(rt, w.home(viewer, below, limit), append([]social.FeedID{}, got...))
				})
				before := f.statements.Load()
				_, err := f.HomeFeeds(f.t.Context(), social.Viewer{Player: 1}, social.MaxID+1, 31)
				require.NoError(f.t, err)
				require.LessOrEqual(f.t, f.statements.Load()-before, int64(2))
			})
		})
	}
}
