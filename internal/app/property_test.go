package app_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"circle/internal/testkit"
)

// circle runs random operations on a server and on the model beside it.
type circle struct {
	t     *testing.T
	app   *testkit.App
	model model
}

var populations atomic.Int64

func newCircle(t *testing.T, app *testkit.App, players int) *circle {
	c := &circle{t: t, app: app, model: model{follows: map[[2]int]int{}, blocks: map[[2]int]int{}, mutes: map[[2]int]int{}}}
	c.model.players = app.SignUpAll(t, fmt.Sprintf("p%d-", populations.Add(1)), players)
	return c
}

func (c *circle) player(r *rapid.T, label string) int {
	return rapid.IntRange(0, len(c.model.players)-1).Draw(r, label)
}

func (c *circle) feed(r *rapid.T) *modelFeed {
	if len(c.model.feeds) == 0 {
		r.Skip("no feeds yet")
	}
	return rapid.SampledFrom(c.model.feeds).Draw(r, "feed")
}

func (c *circle) follow(r *rapid.T) {
	i, j := c.player(r, "fan"), c.player(r, "followed")
	p, err := c.model.players[i].Follow(c.model.players[j])
	require.NoError(r, err)
	switch {
	case i == j:
		require.Equal(r, "SELF_REFERENCE", p.Code())
	case !c.model.known(i, j):
		require.Equal(r, "NOT_FOUND", p.Code())
	case c.model.blocking(i, j):
		require.Equal(r, "BLOCKED", p.Code())
	case c.model.following(i, j):
		require.Equal(r, "ALREADY_FOLLOWING", p.Code())
	default:
		require.Empty(r, p.UserErrors)
		c.model.follows[[2]int{i, j}] = c.model.tick()
	}
}

func (c *circle) unfollow(r *rapid.T) {
	i, j := c.player(r, "fan"), c.player(r, "followed")
	p, err := c.model.players[i].Unfollow(c.model.players[j])
	require.NoError(r, err)
	switch {
	case i == j:
		require.Equal(r, "SELF_REFERENCE", p.Code())
	case !c.model.known(i, j):
		require.Equal(r, "NOT_FOUND", p.Code())
	case !c.model.following(i, j):
		require.Equal(r, "NOT_FOLLOWING", p.Code())
	default:
		require.Empty(r, p.UserErrors)
		delete(c.model.follows, [2]int{i, j})
	}
}

func (c *circle) block(r *rapid.T) {
	c.tie(r, "blockPlayer", "unblockPlayer", c.model.blocks, func(pair [2]int) {
		delete(c.model.follows, pair)
		delete(c.model.follows, [2]int{pair[1], pair[0]})
	})
}

func (c *circle) mute(r *rapid.T) {
	c.tie(r, "mutePlayer", "unmutePlayer", c.model.mutes, func([2]int) {})
}

// tie begins or ends one of the ties.
func (c *circle) tie(r *rapid.T, begin, end string, ties map[[2]int]int, begun func(pair [2]int)) {
	i, j, ends := c.player(r, "tying"), c.player(r, "tied"), rapid.Bool().Draw(r, "ends")
	mutation, pair := begin, [2]int{i, j}
	if ends {
		mutation = end
	}
	p, err := c.model.players[i].Mutate(mutation, "PlayerInput", "player{id}", testkit.Vars{"playerId": c.model.players[j].ID})
	require.NoError(r, err)
	switch _, tied := ties[pair]; {
	case i == j:
		require.Equal(r, "SELF_REFERENCE", p.Code())
		return
	case !c.model.known(i, j):
		require.Equal(r, "NOT_FOUND", p.Code())
		require.Nil(r, p.Player)
		return
	case ends:
		delete(ties, pair)
	case !tied:
		ties[pair] = c.model.tick()
		begun(pair)
	}
	require.Empty(r, p.UserErrors)
}

func (c *circle) content(r *rapid.T) string {
	text := rapid.StringMatching(`[a-z社交圈👍]{1,20}`).Draw(r, "text")
	return strings.Repeat(text, rapid.SampledFrom([]int{1, 1, 1, 50, 400}).Draw(r, "times"))
}

func (c *circle) post(r *rapid.T) {
	f := &modelFeed{
		author: c.player(r, "author"), content: c.content(r), likes: map[int]int{},
		visibility: rapid.SampledFrom([]string{"PUBLIC", "PUBLIC", "FANS", "FRIENDS", "PRIVATE"}).Draw(r, "visibility"),
	}
	p, err := c.model.players[f.author].Create(testkit.Vars{"content": f.content, "visibility": f.visibility})
	require.NoError(r, err)
	require.Empty(r, p.UserErrors)
	f.id = p.Feed.ID
	c.model.feeds = append(c.model.feeds, f)
}

func (c *circle) edit(r *rapid.T) {
	f, i, content := c.feed(r), c.player(r, "editor"), c.content(r)
	p, err := c.model.players[i].Edit(f.id, content)
	require.NoError(r, err)
	if f.deleted || f.author != i {
		require.Equal(r, "NOT_FOUND", p.Code())
		return
	}
	require.Empty(r, p.UserErrors)
	f.content = content
}

func (c *circle) remove(r *rapid.T) {
	f, i := c.feed(r), c.player(r, "deleter")
	p, err := c.model.players[i].Delete(f.id)
	require.NoError(r, err)
	if f.deleted || f.author != i {
		require.Equal(r, "NOT_FOUND", p.Code())
		return
	}
	require.Empty(r, p.UserErrors)
	require.Equal(r, f.id, p.DeletedFeedID)
	f.deleted = true
}

func (c *circle) like(r *rapid.T) {
	f, i := c.feed(r), c.player(r, "liker")
	p, err := c.model.players[i].Like(f.id)
	require.NoError(r, err)
	_, liked := f.likes[i]
	switch {
	case !c.model.visible(i, f):
		require.Equal(r, "NOT_FOUND", p.Code())
		return
	case liked:
		require.Equal(r, "ALREADY_LIKED", p.Code())
	default:
		require.Empty(r, p.UserErrors)
		f.likes[i] = c.model.tick()
	}
	require.Equal(r, testkit.Feed{ID: f.id, LikeCount: len(f.likes), HasLiked: true}, *p.Feed)
}

func (c *circle) unlike(r *rapid.T) {
	f, i := c.feed(r), c.player(r, "liker")
	p, err := c.model.players[i].Unlike(f.id)
	require.NoError(r, err)
	_, liked := f.likes[i]
	switch {
	case !c.model.visible(i, f):
		require.Equal(r, "NOT_FOUND", p.Code())
		return
	case !liked:
		require.Equal(r, "NOT_LIKED", p.Code())
	default:
		require.Empty(r, p.UserErrors)
		delete(f.likes, i)
	}
	require.Equal(r, testkit.Feed{ID: f.id, LikeCount: len(f.likes)}, *p.Feed)
}

func (c *circle) flush(r *rapid.T) {
	if c.app.Stores.Embedded() {
		r.Skip("the embedded redis can't be reached from outside")
	}
	c.app.Stores.Flush(c.t)
}

// expire has all lists of a kind that home pages are read from expire.
func (c *circle) expire(r *rapid.T) {
	if c.app.Stores.Embedded() {
		r.Skip("the embedded redis can't be reached from outside")
	}
	c.app.Stores.Expire(c.t, rapid.SampledFrom([]string{"timeline", "pulls", "profile", "following"}).Draw(r, "kind"))
}

// check compares what one viewer sees with what the model says.
func (c *circle) check(r *rapid.T) {
	testkit.Quiet(c.t, c.app)
	viewer := c.player(r, "viewer")
	first := rapid.SampledFrom([]int{1, 2, 3, 7, 100}).Draw(r, "first")
	p := c.model.players[viewer]
	assert.Equal(r, c.model.home(viewer), p.Home(c.t, first), "home page")
	for other := range c.model.players {
		if c.model.known(viewer, other) {
			assert.Equal(r, c.model.profile(viewer, other), p.Profile(c.t, c.model.players[other], first), "profile list")
		}
	}
	for name, want := range map[string][]string{
		"blockedPlayers": c.model.tied(c.model.blocks, viewer), "mutedPlayers": c.model.tied(c.model.mutes, viewer), "likedFeeds": c.model.liked(viewer),
	} {
		assert.Equal(r, want, testkit.IDs(c.t, c.app, p.Token, fmt.Sprintf(own, name), first, nil), name)
	}
	c.checkPlayer(r, viewer, first)
	for _, f := range c.model.feeds {
		c.checkFeed(r, viewer, f, first)
		c.checkComments(r, viewer, f, first)
	}
}

const own = "query($first:Int!,$after:Cursor){viewer{c:%s(first:$first,after:$after){nodes{id} pageInfo{hasNextPage hasPreviousPage endCursor}}}}"

const lists = "query($id:ID!,$first:Int!,$after:Cursor){node(id:$id){... on Player{c:%s(first:$first,after:$after){" +
	"nodes{id} pageInfo{hasNextPage hasPreviousPage endCursor}}}}}"

func (c *circle) checkPlayer(r *rapid.T, viewer, first int) {
	of := c.player(r, "player")
	counts := map[string]int{"feedCount": len(c.model.list(func(f *modelFeed) bool { return f.author == of && !f.deleted }))}
	for _, list := range []struct{ name, count string }{{"following", "followingCount"}, {"fans", "fanCount"}, {"friends", "friendCount"}} {
		want := c.model.related(nobody, list.name, of)
		vars := testkit.Vars{"id": c.model.players[of].ID}
		assert.Equal(r, want, testkit.IDs(c.t, c.app, "", fmt.Sprintf(lists, list.name), first, vars), list.name)
		if c.model.known(viewer, of) {
			assert.Equal(r, c.model.related(viewer, list.name, of),
				testkit.IDs(c.t, c.app, c.model.players[viewer].Token, fmt.Sprintf(lists, list.name), first, vars), list.name)
		}
		counts[list.count] = len(want)
	}
	got := testkit.Read[struct{ Node map[string]int }](c.t, c.app, "",
		"query($id:ID!){node(id:$id){... on Player{feedCount followingCount fanCount friendCount}}}", testkit.Vars{"id": c.model.players[of].ID})
	assert.Equal(r, counts, got.Node)
	relation := testkit.Read[struct{ Node map[string]bool }](c.t, c.app, c.model.players[viewer].Token,
		"query($id:ID!){node(id:$id){... on Player{isFollowing isFan isFriend isBlocked isMuted}}}", testkit.Vars{"id": c.model.players[of].ID})
	if !c.model.known(viewer, of) {
		assert.Nil(r, relation.Node)
		return
	}
	assert.Equal(r, map[string]bool{
		"isFollowing": c.model.following(viewer, of), "isFan": c.model.following(of, viewer), "isFriend": c.model.friends(viewer, of),
		"isBlocked": c.model.blocking(viewer, of), "isMuted": c.model.muting(viewer, of),
	}, relation.Node)
}

const likes = "query($id:ID!,$order:LikeOrder!,$first:Int!,$after:Cursor){node(id:$id){... on Feed{c:likes(first:$first,after:$after,order:$order){" +
	"nodes{player{id}} pageInfo{hasNextPage hasPreviousPage endCursor}}}}}"

func (c *circle) checkFeed(r *rapid.T, viewer int, f *modelFeed, first int) {
	token := c.model.players[viewer].Token
	type shown struct {
		Content                 string
		LikeCount               int
		HasLiked                bool
		Author                  testkit.ID
		Likes                   struct{ TotalCount, FriendCount int }
		ViewCount, CommentCount int
	}
	got := testkit.Read[struct{ Node *shown }](c.t, c.app, token,
		"query($id:ID!){node(id:$id){... on Feed{content likeCount viewCount commentCount hasLiked author{id} likes{totalCount friendCount}}}}",
		testkit.Vars{"id": f.id})
	if !c.model.visible(viewer, f) {
		assert.Nil(r, got.Node, "%s feed of another", f.visibility)
		return
	}
	_, liked := f.likes[viewer]
	want := &shown{Content: f.content, LikeCount: len(f.likes), HasLiked: liked, Author: testkit.ID{ID: c.model.players[f.author].ID}}
	want.CommentCount = f.commentCount()
	want.Likes.TotalCount, want.Likes.FriendCount = len(f.likes), c.model.friendLikes(viewer, f)
	assert.Equal(r, want, got.Node)
	for _, order := range []string{"FRIENDS_FIRST", "NEWEST"} {
		type liker struct{ Player testkit.ID }
		players := []string{}
		for _, l := range testkit.Walk[liker](c.t, c.app, token, likes, first, testkit.Vars{"id": f.id, "order": order}) {
			players = append(players, l.Player.ID)
		}
		assert.Equal(r, c.model.likers(viewer, f, order == "FRIENDS_FIRST"), players, "likers, %s", order)
	}
}

// TestACircleLooksAsItsModelSays has authors cross the limit above which they are pulled, both ways.
func TestACircleLooksAsItsModelSays(t *testing.T) {
	liveCircles(t, testkit.NewStores(t), 4)
}

// The same holds where no list in Redis has room for more than two entries, so that nearly all go on in
// the relational store, or in other keys.
func TestACircleWithShortListsLooksAsItsModelSays(t *testing.T) {
	stores := testkit.NewStores(t)
	stores.ListCap = 2
	liveCircles(t, stores, 5)
}

func liveCircles(t *testing.T, stores testkit.Stores, players int) {
	app := testkit.Start(t, stores, "CIRCLE_FANOUT_PUSH_LIMIT=1")
	rapid.Check(t, func(r *rapid.T) {
		c := newCircle(t, app, players)
		r.Repeat(map[string]func(*rapid.T){
			"follow": c.follow, "follow more": c.follow, "unfollow": c.unfollow,
			"post": c.post, "post more": c.post, "edit": c.edit, "delete": c.remove,
			"block": c.block, "mute": c.mute,
			"like": c.like, "like more": c.like, "unlike": c.unlike,
			"comment": c.comment, "comment more": c.comment, "answer": c.answer, "uncomment": c.uncomment,
			"flush": c.flush, "expire": c.expire, "check": c.check,
		})
		c.check(r)
	})
}
