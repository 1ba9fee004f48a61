package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/importer"
	"circle/internal/testkit"
)

// TestAFeedWithManyLikersListsManyFriendsFirst puts 20,000 likers and 2,000 friends together and holds
// the list against what a plain program makes of the two lists apart: read from the relational store, and
// from the windows once they are built, which hold the newest 10,000 likers.
func TestAFeedWithManyLikersListsManyFriendsFirst(t *testing.T) {
	likers, friends := 20_000, 2_000
	if testing.Short() {
		likers, friends = 12_000, 1_000 // still more likers than a window holds
	}
	app := testkit.Start(t, testkit.NewStores(t))
	viewer, feed := app.SeedHot(t, importer.SeedConfig{
		Players: likers + 10, Feeds: 1, Seed: 7, MaxFollows: 1, FollowLimit: friends,
		Hot: &importer.Hot{Likers: likers, Friends: friends},
	})
	type liker struct {
		IsFriend bool
		Player   testkit.ID
	}
	of := testkit.Vars{"id": feed, "order": "NEWEST"}
	const query = "query($id:ID!,$order:LikeOrder!,$first:Int!,$after:Cursor){node(id:$id){... on Feed{c:likes(first:$first,after:$after,order:$order){" +
		"nodes{isFriend player{id}} pageInfo{hasNextPage hasPreviousPage endCursor}}}}}"
	newest := testkit.Walk[liker](t, app, viewer.Token, query, 100, of)
	require.Len(t, newest, likers)
	isFriend := map[string]bool{}
	for _, id := range testkit.IDs(t, app, viewer.Token, "query($id:ID!,$first:Int!,$after:Cursor){node(id:$id){... on Player{c:friends(first:$first,after:$after){"+
		"nodes{id} pageInfo{hasNextPage hasPreviousPage endCursor}}}}}", 100, testkit.Vars{"id": viewer.ID}) {
		isFriend[id] = true
	}
	require.Len(t, isFriend, friends)

	var first, rest []liker
	for _, l := range newest {
		require.Equal(t, isFriend[l.Player.ID], l.IsFriend)
		if l.IsFriend {
			first = append(first, l)
		} else {
			rest = append(rest, l)
		}
	}
	require.NotEmpty(t, first)
	of["order"] = "FRIENDS_FIRST"
	want := append(first, rest...)
	require.Equal(t, want, testkit.Walk[liker](t, app, viewer.Token, query, 97, of))
	warm := testkit.Vars{"id": feed, "order": "FRIENDS_FIRST", "first": 20}
	require.Eventually(t, func() bool {
		_, statements := quietest(app, func() { testkit.Read[any](t, app, viewer.Token, query, warm) })
		return statements == 0
	}, 20*time.Second, 50*time.Millisecond, "the windows are built behind the answers")
	require.Equal(t, want, testkit.Walk[liker](t, app, viewer.Token, query, 97, of))

	r := testkit.Read[struct {
		Node struct {
			LikeCount int
			Likes     struct{ TotalCount, FriendCount int }
		}
	}](t, app, viewer.Token, "query($id:ID!){node(id:$id){... on Feed{likeCount likes{totalCount friendCount}}}}", testkit.Vars{"id": feed})
	require.Equal(t, []int{likers, likers, len(first)}, []int{r.Node.LikeCount, r.Node.Likes.TotalCount, r.Node.Likes.FriendCount})
}
