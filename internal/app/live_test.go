package app_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/testkit"
)

const homeFeedUpdated = `subscription($since:Cursor){homeFeedUpdated(since:$since){__typename
	... on StreamStarted{cursor} ... on StreamGap{cursor}
	... on FeedAdded{cursor edge{cursor reason node{id content likeCount hasLiked author{name isFollowing}}}}
	... on FeedEdited{cursor feed{id content likeCount hasLiked}}
	... on FeedRemoved{cursor feedId}}}`

type liveFeed struct {
	ID, Content string
	LikeCount   int
	HasLiked    bool
}

type liveEvent struct {
	Typename string `json:"__typename"`
	Cursor   string
	Edge     struct {
		Cursor, Reason string
		Node           liveFeed
	}
	Feed   liveFeed
	FeedID string
}

// home is a player's live home page.
type home struct{ *testkit.Stream }

func listen(t *testing.T, p testkit.Player, since any) home {
	t.Helper()
	h := home{p.Subscribe(t, homeFeedUpdated, testkit.Vars{"since": since})}
	e := h.event(t)
	require.Equal(t, "StreamStarted", e.Typename)
	if since != nil {
		require.Equal(t, since, e.Cursor)
	}
	return h
}

func (h home) event(t *testing.T) liveEvent {
	t.Helper()
	answer, ok := h.Next(t)
	require.True(t, ok, "the stream has ended")
	return h.read(t, answer)
}

func (h home) read(t *testing.T, answer testkit.Answer) liveEvent {
	t.Helper()
	require.Empty(t, answer.Errors)
	var data struct{ HomeFeedUpdated liveEvent }
	require.NoError(t, json.Unmarshal(answer.Data, &data), answer.Raw)
	require.NotEmpty(t, data.HomeFeedUpdated.Cursor)
	return data.HomeFeedUpdated
}

// added takes the next event, which adds the feed.
func (h home) added(t *testing.T, feed string) liveEvent {
	t.Helper()
	e := h.event(t)
	require.Equal(t, "FeedAdded", e.Typename)
	require.Equal(t, feed, e.Edge.Node.ID)
	return e
}

// twoServers are two on the same stores, or the same one twice where stores serve one.
func twoServers(t *testing.T, settings ...string) (one, two *testkit.App) {
	t.Helper()
	stores := testkit.NewStores(t)
	one = testkit.Start(t, stores, settings...)
	if stores.Embedded() {
		return one, one
	}
	return one, testkit.Start(t, stores, settings...)
}

func TestLiveHomePage(t *testing.T) {
	one, two := twoServers(t)
	author, fan, friend, stranger := one.SignUp(t, "author"), one.SignUp(t, "fan"), one.SignUp(t, "friend"), one.SignUp(t, "stranger")
	for _, p := range []testkit.Player{fan, friend} {
		testkit.Must(t)(p.Follow(author))
	}
	testkit.Must(t)(author.Follow(friend))
	own, far, near, none := listen(t, author, nil), listen(t, fan.On(two), nil), listen(t, friend.On(two), nil), listen(t, stranger, nil)

	open := author.MustPost(t, "for all", "PUBLIC")
	e := far.added(t, open)
	assert.Equal(t, "FOLLOWED", e.Edge.Reason)
	assert.Equal(t, "for all", e.Edge.Node.Content)
	near.added(t, open)
	assert.Equal(t, "OWN", own.added(t, open).Edge.Reason)

	older := testkit.Read[map[string]struct{ Nodes []testkit.ID }](t, one, fan.Token,
		"query($c:Cursor){homeFeed(first:5,after:$c){nodes{id}}}", testkit.Vars{"c": e.Edge.Cursor})
	assert.Empty(t, older["homeFeed"].Nodes, "the edge's cursor is one of the home page")

	secret, inner := author.MustPost(t, "mine", "PRIVATE"), author.MustPost(t, "for friends", "FRIENDS")
	own.added(t, secret)
	own.added(t, inner)
	near.added(t, inner)
	testkit.Must(t)(author.Edit(inner, "for good friends"))
	for _, h := range []home{own, near} {
		e := h.event(t)
		assert.Equal(t, "FeedEdited", e.Typename)
		assert.Equal(t, liveFeed{ID: inner, Content: "for good friends"}, e.Feed)
	}
	testkit.Must(t)(author.Delete(inner))
	for _, h := range []home{own, near} {
		e := h.event(t)
		assert.Equal(t, "FeedRemoved", e.Typename)
		assert.Equal(t, inner, e.FeedID)
	}

	testkit.Must(t)(fan.Like(open))
	testkit.Must(t)(author.Edit(open, "for everybody"))
	assert.Equal(t, liveFeed{ID: open, Content: "for everybody", LikeCount: 1, HasLiked: true}, far.event(t).Feed,
		"nothing of what is for friends came, and counters are as of the event")

	testkit.Must(t)(friend.Unfollow(author))
	last := author.MustPost(t, "last", "PUBLIC")
	far.added(t, last)
	mine := friend.MustPost(t, "my own", "PUBLIC")
	assert.Equal(t, "FeedEdited", near.event(t).Typename)
	near.added(t, mine)
	testkit.Must(t)(stranger.Follow(author))
	late := author.MustPost(t, "to one more", "FANS")
	none.added(t, late)
}

// TestFeedsOfPulledAuthorsComeLive has an author cross the limit while his fans listen.
func TestFeedsOfPulledAuthorsComeLive(t *testing.T) {
	one, two := twoServers(t, "CIRCLE_FANOUT_PUSH_LIMIT=1")
	author, far, near, stranger := one.SignUp(t, "author"), one.SignUp(t, "far"), one.SignUp(t, "near"), one.SignUp(t, "stranger")
	testkit.Must(t)(far.Follow(author))
	own, before, none := listen(t, author, nil), listen(t, far.On(two), nil), listen(t, stranger, nil)
	first := author.MustPost(t, "pushed", "PUBLIC")
	own.added(t, first)
	before.added(t, first)

	testkit.Must(t)(near.Follow(author))
	after := listen(t, near, nil)
	for _, text := range []string{"at the crossing", "after it"} {
		feed := author.MustPost(t, text, "PUBLIC")
		for _, h := range []home{own, before, after} {
			assert.Equal(t, text, h.added(t, feed).Edge.Node.Content)
		}
	}
	testkit.Must(t)(author.Edit(first, "edited"))
	for _, h := range []home{own, before, after} {
		assert.Equal(t, liveFeed{ID: first, Content: "edited"}, h.event(t).Feed)
	}
	testkit.Must(t)(author.Delete(first))
	for _, h := range []home{own, before, after} {
		assert.Equal(t, first, h.event(t).FeedID)
	}
	mine := stranger.MustPost(t, "mine", "PUBLIC")
	none.added(t, mine)
}

func TestLiveFeedsComeWithinASecond(t *testing.T) {
	one, two := twoServers(t, "CIRCLE_FANOUT_PUSH_LIMIT=1")
	for _, c := range []struct {
		name string
		fans int
	}{{"pushed", 1}, {"pulled", 2}} {
		t.Run(c.name, func(t *testing.T) {
			author, fans := one.SignUp(t, c.name), one.SignUpAll(t, c.name+" fan", c.fans)
			for _, fan := range fans {
				testkit.Must(t)(fan.Follow(author))
			}
			h := listen(t, fans[0].On(two), nil)
			lags := make([]time.Duration, 9)
			for i := range lags {
				feed := author.MustPost(t, fmt.Sprint(i), "PUBLIC")
				posted := time.Now()
				h.added(t, feed)
				lags[i] = time.Since(posted)
			}
			slices.Sort(lags)
			t.Log("it took", lags)
			require.Less(t, lags[len(lags)/2], time.Second)
		})
	}
}

func TestWhatWasMissedLiveComesWithSince(t *testing.T) {
	one, two := twoServers(t)
	author, fan := one.SignUp(t, "author"), one.SignUp(t, "fan")
	testkit.Must(t)(fan.Follow(author))
	h := listen(t, fan, nil)
	cut := h.added(t, author.MustPost(t, "before the cut", "PUBLIC")).Cursor
	h.Close()

	var missed []string
	for i := range 20 {
		missed = append(missed, author.MustPost(t, fmt.Sprint("missed ", i), "PUBLIC"))
	}
	h = listen(t, fan.On(two), cut)
	for _, feed := range missed {
		h.added(t, feed)
	}
	live := author.MustPost(t, "live", "PUBLIC")
	h.added(t, live)
	h.Close()

	for i := range 300 {
		missed = append(missed, author.MustPost(t, fmt.Sprint("too many ", i), "PUBLIC"))
	}
	require.Eventually(t, func() bool {
		stats, err := one.Outbox(t.Context())
		return err == nil && stats.Near+stats.Far == 0
	}, 30*time.Second, 10*time.Millisecond)
	h = listen(t, fan, cut)
	gap := h.event(t)
	require.Equal(t, "StreamGap", gap.Typename)
	feed := author.MustPost(t, "after the gap", "PUBLIC")
	h.added(t, feed)
	h = listen(t, fan.On(two), gap.Cursor)
	h.added(t, feed)
}

func TestLiveHomePageRefuses(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	fan, other := app.SignUp(t, "fan"), app.SignUp(t, "other")
	foreign := listen(t, other, nil)
	place := foreign.added(t, other.MustPost(t, "mine", "PRIVATE"))
	for _, c := range []struct {
		name, code string
		player     testkit.Player
		since      any
	}{
		{"anonymous", "UNAUTHENTICATED", testkit.Player{App: app}, nil},
		{"no cursor", "BAD_USER_INPUT", fan, "no cursor"},
		{"somebody else's cursor", "BAD_USER_INPUT", fan, place.Cursor},
		{"a cursor of the home page", "BAD_USER_INPUT", other, place.Edge.Cursor},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.player.Subscribe(t, homeFeedUpdated, testkit.Vars{"since": c.since})
			answer, ok := s.Next(t)
			require.True(t, ok)
			require.Equal(t, c.code, answer.Code(t), answer.Raw)
			_, ok = s.Next(t)
			require.False(t, ok, "it has ended")
		})
	}
}

func TestALiveHomePageGoesOnAfterAFlush(t *testing.T) {
	stores := testkit.NewStores(t)
	app := testkit.Start(t, stores)
	author, fan := app.SignUp(t, "author"), app.SignUp(t, "fan")
	testkit.Must(t)(fan.Follow(author))
	h := listen(t, fan, nil)
	h.added(t, author.MustPost(t, "before", "PUBLIC"))
	if stores.Embedded() {
		return // it can't be emptied from outside
	}
	stores.Flush(t)
	author.MustPost(t, "lost or not", "PUBLIC")
	h.gap(t)
	h.goesOn(t, author)
}

// comes waits for a feed as a client does, who reads the page again after each gap.
func (h home) comes(t *testing.T, p testkit.Player, feed string) {
	t.Helper()
	for {
		e := h.event(t)
		if e.Edge.Node.ID == feed || e.Typename == "StreamGap" && slices.Contains(p.Home(t, 10), feed) {
			return
		}
	}
}

// gap takes events up to a gap.
func (h home) gap(t *testing.T) {
	t.Helper()
	for h.event(t).Typename != "StreamGap" {
	}
}

// goesOn has the author post until a feed comes. While it is found out how far Redis went back, there may be
// further gaps.
func (h home) goesOn(t *testing.T, author testkit.Player) {
	t.Helper()
	for {
		feed := author.MustPost(t, "after", "PUBLIC")
		for e := h.event(t); e.Typename != "StreamGap"; e = h.event(t) {
			if e.Edge.Node.ID == feed {
				return
			}
		}
	}
}
