package app_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/testkit"
)

const fullPage = `query($first:Int!){homeFeed(first:$first){edges{cursor reason node{
	id summary createdAt visibility likeCount commentCount viewCount hasLiked
	author{id name level avatarUrl isFollowing isFan isFriend}}} pageInfo{hasNextPage endCursor}}}`

// quietest runs fn several times and gives the least number of trips that it took: the server's own
// loops make some now and then.
func quietest(app *testkit.App, fn func()) (redis, sql int64) {
	redis, sql = app.Trips.Count(fn)
	for range 9 {
		r, s := app.Trips.Count(fn)
		redis, sql = min(redis, r), min(sql, s)
	}
	return redis, sql
}

func TestAPageOf100CostsTheTripsOfAPageOf10(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	viewer := app.SignUp(t, "viewer")
	for i, author := range app.SignUpAll(t, "author", 5) {
		testkit.Must(t)(viewer.Follow(author))
		for j := range 24 {
			feed := author.MustPost(t, fmt.Sprintf("feed %d of author %d", j, i), "FANS")
			if j%3 == 0 {
				testkit.Must(t)(viewer.Like(feed))
			}
		}
	}
	page := func(first int) func() {
		return func() {
			r := testkit.Read[struct {
				HomeFeed struct{ Edges []struct{ Reason string } }
			}](t, app, viewer.Token, fullPage, testkit.Vars{"first": first})
			require.Len(t, r.HomeFeed.Edges, first)
		}
	}
	require.Eventually(t, func() bool {
		redis, sql := quietest(app, page(100))
		return redis == 3 && sql == 0
	}, 10*time.Second, 10*time.Millisecond, "the windows are built behind the first page")
	for _, first := range []int{10, 100} {
		redis, sql := quietest(app, page(first))
		assert.EqualValues(t, 3, redis, "the timeline; heads, counters and likes; authors and relations: a page of %d", first)
		assert.Zero(t, sql, "a page of %d", first)
	}
}

const profilePage = `query($id:ID!,$first:Int!){node(id:$id){... on Player{name feeds(first:$first){edges{cursor reason node{
	id summary visibility likeCount hasLiked author{id name isFriend}}} pageInfo{hasNextPage}}}}}`

func TestAProfilePageOf100CostsTheTripsOfAPageOf10(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	viewer, author := app.SignUp(t, "viewer"), app.SignUp(t, "author")
	testkit.Must(t)(viewer.Follow(author))
	for i := range 101 {
		author.MustPost(t, fmt.Sprintf("feed %d", i), []string{"PUBLIC", "FANS"}[i%2])
	}
	page := func(first int) func() {
		return func() {
			r := testkit.Read[struct {
				Node struct {
					Feeds struct{ Edges []struct{ Reason string } }
				}
			}](t, app, viewer.Token, profilePage, testkit.Vars{"id": author.ID, "first": first})
			require.Len(t, r.Node.Feeds.Edges, first)
		}
	}
	require.Eventually(t, func() bool {
		_, sql := quietest(app, page(100))
		return sql == 0
	}, 10*time.Second, 10*time.Millisecond, "the windows are built behind the first page")
	for _, first := range []int{10, 100} {
		redis, sql := quietest(app, page(first))
		assert.EqualValues(t, 4, redis, "the player; the window; heads, counters and likes; authors and relations: a page of %d", first)
		assert.Zero(t, sql, "a page of %d", first)
	}
}

const likesPage = `query($id:ID!,$first:Int!){node(id:$id){... on Feed{likes(first:$first){totalCount friendCount
	edges{cursor node{isFriend likedAt player{id name}}} pageInfo{hasNextPage}}}}}`

func TestAPageOf100LikersCostsTheTripsOfAPageOf10(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	people := app.SignUpAll(t, "liker", 125)
	viewer := people[0]
	feed := viewer.MustPost(t, "hello", "PUBLIC")
	for i, p := range people {
		testkit.Must(t)(p.Like(feed))
		if i > 0 && i%10 == 0 {
			testkit.Must(t)(viewer.Follow(p))
			testkit.Must(t)(p.Follow(viewer))
		}
	}
	page := func(first int) func() {
		return func() {
			r := testkit.Read[struct {
				Node struct {
					Likes struct {
						Edges                   []any
						TotalCount, FriendCount int
					}
				}
			}](t, app, viewer.Token, likesPage, testkit.Vars{"id": feed, "first": first})
			require.Len(t, r.Node.Likes.Edges, first)
			require.Equal(t, []int{125, 12}, []int{r.Node.Likes.TotalCount, r.Node.Likes.FriendCount})
		}
	}
	require.Eventually(t, func() bool {
		_, sql := quietest(app, page(100))
		return sql == 0
	}, 10*time.Second, 10*time.Millisecond, "the windows are built behind the first page")
	for _, first := range []int{10, 100} {
		redis, sql := quietest(app, page(first))
		assert.LessOrEqual(t, redis, int64(5), "the feed; likers and friends, friends among likers; counters and players: a page of %d", first)
		assert.Zero(t, sql, "a page of %d", first)
	}
}

// TestAPageWithPulledAuthorsCostsOneTripMore has all authors pulled: their profile lists are read in one trip,
// and what is new is merged in another, once.
func TestAPageWithPulledAuthorsCostsOneTripMore(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t), "CIRCLE_FANOUT_PUSH_LIMIT=1")
	viewer, other := app.SignUp(t, "viewer"), app.SignUp(t, "other")
	authors := app.SignUpAll(t, "author", 20)
	for _, author := range authors {
		testkit.Must(t)(viewer.Follow(author))
		testkit.Must(t)(other.Follow(author))
		author.MustPost(t, "hello", "FANS")
	}
	page := func() int {
		return len(testkit.Read[struct {
			HomeFeed struct{ Edges []struct{ Reason string } }
		}](t, app, viewer.Token, fullPage, testkit.Vars{"first": 100}).HomeFeed.Edges)
	}
	warm := func(want int) func() bool {
		return func() bool {
			redis, sql := quietest(app, func() { require.Equal(t, want, page()) })
			return redis == 4 && sql == 0
		}
	}
	testkit.Quiet(t, app)
	require.Eventually(t, warm(20), 10*time.Second, 10*time.Millisecond, "timeline with pulled authors; their profile lists; cards; people")
	authors[0].MustPost(t, "new", "FANS")
	require.Equal(t, 21, page())
	require.Eventually(t, warm(21), 10*time.Second, 10*time.Millisecond, "what was merged stays")
}

// TestNestedListsAreReadInBulk compares pages of 4 and of 40: read one by one, lists below lists
// would take ten times the trips.
func TestNestedListsAreReadInBulk(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	viewer := app.SignUp(t, "viewer")
	for _, p := range app.SignUpAll(t, "player", 40) {
		testkit.Must(t)(viewer.Follow(p))
		testkit.Must(t)(p.Follow(viewer))
		testkit.Must(t)(viewer.Like(p.MustPost(t, "hello", "FRIENDS")))
	}
	const query = `query($first:Int!){viewer{player{following(first:$first){nodes{name fanCount
		feeds(first:5){nodes{hasLiked likes(first:3){totalCount friendCount nodes{isFriend player{name}}}}} friends(first:3){nodes{name}}}}}}}`
	read := func(first int) func() {
		return func() {
			r := testkit.Read[struct {
				Viewer struct {
					Player struct{ Following testkit.Connection[any] }
				}
			}](t, app, viewer.Token, query, testkit.Vars{"first": first})
			require.Len(t, r.Viewer.Player.Following.Nodes, first)
		}
	}
	read(40)()
	fewRedis, fewSQL := quietest(app, read(4))
	manyRedis, manySQL := quietest(app, read(40))
	assert.LessOrEqual(t, manyRedis, 4*fewRedis)
	assert.LessOrEqual(t, manySQL, 4*fewSQL)
}
