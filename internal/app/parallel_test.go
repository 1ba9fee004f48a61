package app_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/testkit"
)

// parallel runs fn n times at once and gives what the runs answered, in the order of i.
func parallel(t *testing.T, n int, fn func(i int) (testkit.Payload, error)) []testkit.Payload {
	t.Helper()
	type outcome struct {
		i       int
		payload testkit.Payload
		err     error
	}
	outcomes := make(chan outcome, n)
	start := make(chan struct{})
	for i := range n {
		go func() {
			<-start
			p, err := fn(i)
			outcomes <- outcome{i, p, err}
		}()
	}
	close(start)
	payloads := make([]testkit.Payload, n)
	for range n {
		o := <-outcomes
		require.NoError(t, o.err)
		payloads[o.i] = o.payload
	}
	return payloads
}

// codes counts the codes of payloads; success is the empty code.
func codes(payloads []testkit.Payload) map[string]int {
	counts := map[string]int{}
	for _, p := range payloads {
		counts[p.Code()]++
	}
	return counts
}

func TestOneOfManyLikesAtOnceCounts(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	author, fan := app.SignUp(t, "author"), app.SignUp(t, "fan")
	feed := author.MustPost(t, "like me", "PUBLIC")

	liked := parallel(t, 200, func(int) (testkit.Payload, error) { return fan.Like(feed) })
	assert.Equal(t, map[string]int{"": 1, "ALREADY_LIKED": 199}, codes(liked))
	for _, p := range liked {
		require.Equal(t, testkit.Feed{ID: feed, LikeCount: 1, HasLiked: true}, *p.Feed)
	}

	unliked := parallel(t, 50, func(int) (testkit.Payload, error) { return fan.Unlike(feed) })
	assert.Equal(t, map[string]int{"": 1, "NOT_LIKED": 49}, codes(unliked))
	for _, p := range unliked {
		require.Equal(t, testkit.Feed{ID: feed}, *p.Feed)
	}
}

const relationCounts = "query($id:ID!){node(id:$id){... on Player{fanCount followingCount friendCount}}}"

func counts(t *testing.T, p testkit.Player) map[string]int {
	t.Helper()
	return testkit.Read[struct{ Node map[string]int }](t, p.App, p.Token, relationCounts, testkit.Vars{"id": p.ID}).Node
}

func TestTwoWhoFollowEachOtherAtOnceAreFriends(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	two := app.SignUpAll(t, "two", 2)
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	for range rounds {
		followed := parallel(t, 2, func(i int) (testkit.Payload, error) { return two[i].Follow(two[1-i]) })
		require.Equal(t, map[string]int{"": 2}, codes(followed))
		for _, p := range two {
			require.Equal(t, map[string]int{"fanCount": 1, "followingCount": 1, "friendCount": 1}, counts(t, p))
		}
		unfollowed := parallel(t, 2, func(i int) (testkit.Payload, error) { return two[i].Unfollow(two[1-i]) })
		require.Equal(t, map[string]int{"": 2}, codes(unfollowed))
	}
	require.Equal(t, map[string]int{"fanCount": 0, "followingCount": 0, "friendCount": 0}, counts(t, two[0]))
}

func TestManyWhoFollowOneAtOnceAllCount(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	star, fans := app.SignUp(t, "star"), app.SignUpAll(t, "fan", 64)
	followed := parallel(t, 64, func(i int) (testkit.Payload, error) { return fans[i].Follow(star) })
	assert.Equal(t, map[string]int{"": 64}, codes(followed))
	assert.Equal(t, map[string]int{"fanCount": 64, "followingCount": 0, "friendCount": 0}, counts(t, star))
}

func TestTheFollowLimitHoldsAgainstFollowsAtOnce(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t), "CIRCLE_FOLLOW_LIMIT=5")
	eager, others := app.SignUp(t, "eager"), app.SignUpAll(t, "other", 12)
	followed := parallel(t, 12, func(i int) (testkit.Payload, error) { return eager.Follow(others[i]) })
	assert.Equal(t, map[string]int{"": 5, "FOLLOW_LIMIT_REACHED": 7}, codes(followed))
	assert.Equal(t, 5, counts(t, eager)["followingCount"])

	following := testkit.IDs(t, app, eager.Token, "query($id:ID!,$first:Int!,$after:Cursor){node(id:$id){... on Player{c:following(first:$first,after:$after){nodes{id} pageInfo{hasNextPage hasPreviousPage endCursor}}}}}", 2, testkit.Vars{"id": eager.ID})
	require.Len(t, following, 5)
	testkit.Must(t)(eager.Unfollow(testkit.Player{ID: following[0]}))
	p, err := eager.Follow(testkit.Player{ID: following[0]})
	require.NoError(t, err)
	assert.Empty(t, p.UserErrors, "a place that was given up can be taken again")
}

func TestAnIdempotencyKeyMakesOneFeed(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	author, other := app.SignUp(t, "author"), app.SignUp(t, "other")
	input := testkit.Vars{"content": "once", "visibility": "PUBLIC", "idempotencyKey": "key"}

	created := parallel(t, 30, func(int) (testkit.Payload, error) { return author.Create(input) })
	require.Equal(t, map[string]int{"": 30}, codes(created))
	id := created[0].Feed.ID
	for _, p := range created {
		require.Equal(t, id, p.Feed.ID)
	}
	assert.Equal(t, []string{id}, author.Home(t, 10))

	p, err := author.Create(testkit.Vars{"content": "once", "visibility": "FANS", "idempotencyKey": "key"})
	require.NoError(t, err)
	assert.Equal(t, "IDEMPOTENCY_CONFLICT", p.Code(), "another visibility is other input")
	p, err = other.Create(input)
	require.NoError(t, err)
	require.Empty(t, p.UserErrors, "keys belong to a player")
	assert.NotEqual(t, id, p.Feed.ID)

	testkit.Must(t)(author.Delete(id))
	p, err = author.Create(input)
	require.NoError(t, err)
	assert.Equal(t, "NOT_FOUND", p.Code(), "what was deleted is not made again")
	assert.Empty(t, author.Home(t, 10))
}
