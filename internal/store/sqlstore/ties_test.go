package sqlstore_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

// tie makes what player 1 is to others: he blocks 2 and mutes 5 and 6, 3 and 6 block him, 4 mutes him; all but 2 are
// his fans in the rows, and he is theirs, so that it is the blocks alone that hide.
func (f fixture) tie() {
	f.t.Helper()
	f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
		for _, edge := range []social.Edge{
			{Player: 1, Peer: 2, Block: 12}, {Player: 3, Peer: 1, Following: 13, Fan: 14, Friend: 14, Block: 31},
			{Player: 4, Peer: 1, Following: 15, Fan: 16, Friend: 16, Mute: 41}, {Player: 1, Peer: 5, Following: 17, Fan: 18, Friend: 18, Mute: 55},
			{Player: 6, Peer: 1, Following: 19, Fan: 20, Friend: 20, Block: 61, Muted: 66},
			{Player: 9, Peer: 2, Following: 91}, {Player: 9, Peer: 3, Following: 92}, {Player: 9, Peer: 4, Following: 93}, {Player: 9, Peer: 5, Following: 94},
		} {
			if err := tx.SavePair(ctx, edge); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestTies(t *testing.T) {
	each(t, func(f fixture) {
		ctx := f.t.Context()
		f.tie()
		relations, err := f.Relations(ctx, 1, []social.PlayerID{2, 3, 4, 5, 6, 7})
		require.NoError(f.t, err)
		both := social.Relation{Following: true, Fan: true}
		want := map[social.PlayerID]social.Relation{2: {Blocking: true}, 3: both, 4: both, 5: both, 6: both}
		for player, more := range map[social.PlayerID]social.Relation{3: {BlockedBy: true}, 5: {Muted: true}, 6: {BlockedBy: true, Muted: true}} {
			relation := want[player]
			relation.BlockedBy, relation.Muted = more.BlockedBy, more.Muted
			want[player] = relation
		}
		require.Equal(f.t, want, relations)
		edge, err := f.EdgeOf(ctx, 6, 1)
		require.NoError(f.t, err)
		require.Equal(f.t, social.Edge{Player: 6, Peer: 1, Following: 19, Fan: 20, Friend: 20, Block: 61, Muted: 66}, edge)
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			edge, err := tx.LockPair(ctx, 5, 1)
			require.Equal(f.t, social.Edge{Player: 5, Peer: 1, Following: 18, Fan: 17, Friend: 18, Muted: 55}, edge)
			return err
		})

		for _, c := range []struct {
			name       string
			list       social.RelationList
			viewer, of social.PlayerID
			want       []social.PlayerID
			count      int
		}{
			{"blocked", social.ListBlocked, 1, 1, []social.PlayerID{2}, 1},
			{"blockers", social.ListBlockers, 0, 1, []social.PlayerID{6, 3}, 2},
			{"muted", social.ListMuted, 0, 1, []social.PlayerID{6, 5}, 1},
			{"muted, without one who blocks", social.ListMuted, 1, 1, []social.PlayerID{5}, 1},
			{"muting is the muting one's own", social.ListMuted, 0, 5, []social.PlayerID{}, 0},
			{"whom another follows", social.ListFollowing, 0, 9, []social.PlayerID{5, 4, 3, 2}, -1},
			{"of these whom the viewer may see", social.ListFollowing, 1, 9, []social.PlayerID{5, 4}, -1},
			{"fans whom the viewer may see", social.ListFans, 1, 1, []social.PlayerID{5, 4}, -1},
		} {
			f.t.Run(c.name, func(t *testing.T) {
				lists, err := f.PlayerLists(ctx, c.list, c.viewer, []social.ListAsk[social.PlayerID]{{Of: c.of, Below: social.MaxID, Limit: 9}})
				require.NoError(t, err)
				got := []social.PlayerID{}
				for _, e := range lists[0] {
					got = append(got, e.Player)
				}
				require.Equal(t, c.want, got)
				if c.count >= 0 {
					n, err := f.CountPlayers(ctx, c.list, c.of)
					require.NoError(t, err)
					require.Equal(t, c.count, n)
				}
			})
		}
	})
}

func TestListsLeaveOutWhatABlockHides(t *testing.T) {
	each(t, func(f fixture) {
		ctx := f.t.Context()
		f.tie()
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			for i, author := range []social.PlayerID{1, 2, 3, 4, 5, 6} {
				c := social.Comment{ID: social.CommentID(100 + i), FeedID: 10, AuthorID: author}
				if err := tx.InsertComment(ctx, c); err != nil {
					return err
				}
				feed := social.Feed{ID: social.FeedID(10 + i), AuthorID: author, Visibility: social.Friends, Hidden: author == 5, Whole: true}
				if err := tx.InsertFeed(ctx, feed, ""); err != nil {
					return err
				}
				if _, err := tx.PutLike(ctx, social.LikeKey{Feed: feed.ID, Player: 1}, social.LikeID(200+i)); err != nil {
					return err
				}
			}
			return nil
		})
		lists, err := f.CommentLists(ctx, 1, []social.ThreadAsk{{Thread: social.Thread{Feed: 10}, Limit: 9}})
		require.NoError(f.t, err)
		require.Equal(f.t, [][]social.CommentID{{100, 103, 104}}, lists)

		for role, want := range map[social.Role][]social.FeedID{social.RolePlayer: {13, 10}, social.RoleModerator: {14, 13, 10}} {
			likes, err := f.LikedFeeds(ctx, social.Viewer{Player: 1, Role: role}, social.MaxID, 9)
			require.NoError(f.t, err)
			var got []social.FeedID
			for _, like := range likes {
				got = append(got, like.Key.Feed)
			}
			require.Equal(f.t, want, got)
		}
		likes, err := f.LikedFeeds(ctx, social.Viewer{Player: 1}, 203, 9)
		require.NoError(f.t, err)
		require.Equal(f.t, []social.Like{{Key: social.LikeKey{Feed: 10, Player: 1}, Order: 200}}, likes)

		require.NoError(f.t, f.send(ctx, 300, 2, 1, "from the blocked"))
		require.NoError(f.t, f.send(ctx, 301, 4, 1, "from another"))
		for all, want := range map[bool][]social.MessageID{false: {301}, true: {301, 300}} {
			ids, err := f.ReceivedMessages(ctx, 1, social.MaxID, 0, 9, all)
			require.NoError(f.t, err)
			require.Equal(f.t, want, ids)
		}
	})
}
