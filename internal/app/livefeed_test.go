package app_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/testkit"
)

const feedUpdated = `subscription($id:ID!){feedUpdated(feedId:$id){__typename
	... on StreamStarted{cursor} ... on StreamGap{cursor}
	... on FeedCountersChanged{cursor counters{feedId likeCount commentCount viewCount}}
	... on CommentAdded{cursor comment{id content replyCount author{name} root{id} replyTo{id} feed{id commentCount}}}
	... on CommentRemoved{cursor commentId}
	... on FeedEdited{cursor feed{id content}}
	... on FeedRemoved{cursor feedId}}}`

type feedEvent struct {
	Typename string `json:"__typename"`
	Cursor   string
	Counters struct {
		FeedID                  string
		LikeCount, CommentCount int
	}
	Comment struct {
		testkit.Comment
		Author struct{ Name string }
		Feed   struct{ CommentCount int }
	}
	CommentID, FeedID string
	Feed              struct{ ID, Content string }
}

// watch is a player's live view of a feed.
type watch struct {
	*testkit.Stream
	// counts are likeCount and commentCount as they were told last, told how often they were.
	counts [2]int
	told   int
}

func watchFeed(t *testing.T, p testkit.Player, feed string) *watch {
	t.Helper()
	w := &watch{Stream: p.Subscribe(t, feedUpdated, testkit.Vars{"id": feed})}
	require.Equal(t, "StreamStarted", w.any(t).Typename)
	return w
}

func (w *watch) any(t *testing.T) feedEvent {
	t.Helper()
	answer, ok := w.Next(t)
	require.True(t, ok, "the stream has ended")
	require.Empty(t, answer.Errors, answer.Raw)
	var data struct{ FeedUpdated feedEvent }
	require.NoError(t, json.Unmarshal(answer.Data, &data), answer.Raw)
	e := data.FeedUpdated
	require.NotEmpty(t, e.Cursor)
	if e.Typename == "FeedCountersChanged" {
		w.counts, w.told = [2]int{e.Counters.LikeCount, e.Counters.CommentCount}, w.told+1
	}
	return e
}

// event takes the next event that is not about counters.
func (w *watch) event(t *testing.T) feedEvent {
	t.Helper()
	for {
		if e := w.any(t); e.Typename != "FeedCountersChanged" {
			return e
		}
	}
}

// settles takes events until the counters are as given.
func (w *watch) settles(t *testing.T, likes, comments int) {
	t.Helper()
	for w.counts != [2]int{likes, comments} {
		require.Equal(t, "FeedCountersChanged", w.any(t).Typename)
	}
}

func TestALiveFeed(t *testing.T) {
	one, two := twoServers(t)
	author, fan := one.SignUp(t, "author"), one.SignUp(t, "fan")
	testkit.Must(t)(fan.Follow(author))
	feed := author.MustPost(t, "talk", "FANS")
	other := watchFeed(t, author, author.MustPost(t, "quiet", "PUBLIC"))
	watches := []*watch{watchFeed(t, author, feed), watchFeed(t, fan.On(two), feed)}
	each := func(check func(w *watch)) {
		t.Helper()
		for _, w := range watches {
			check(w)
		}
	}

	head := testkit.Must(t)(fan.Comment(feed, "", "head")).Comment.ID
	each(func(w *watch) {
		e := w.event(t)
		assert.Equal(t, "CommentAdded", e.Typename)
		assert.Equal(t, testkit.Comment{ID: head, Content: "head"}, e.Comment.Comment)
		assert.Equal(t, "fan", e.Comment.Author.Name)
		assert.Equal(t, 1, e.Comment.Feed.CommentCount)
	})
	answer := testkit.Must(t)(author.Comment(feed, head, "answer")).Comment.ID
	each(func(w *watch) {
		assert.Equal(t, testkit.Comment{ID: answer, Content: "answer", Root: &testkit.ID{ID: head}, ReplyTo: &testkit.ID{ID: head}}, w.event(t).Comment.Comment)
	})
	testkit.Must(t)(fan.Like(feed))
	each(func(w *watch) { w.settles(t, 1, 2) })
	testkit.Must(t)(fan.Uncomment(head))
	each(func(w *watch) {
		e := w.event(t)
		assert.Equal(t, "CommentRemoved", e.Typename)
		assert.Equal(t, head, e.CommentID)
		w.settles(t, 1, 1)
	})
	testkit.Must(t)(author.Edit(feed, "talk more"))
	each(func(w *watch) {
		e := w.event(t)
		assert.Equal(t, "FeedEdited", e.Typename)
		assert.Equal(t, "talk more", e.Feed.Content)
	})
	testkit.Must(t)(author.Delete(feed))
	each(func(w *watch) {
		e := w.event(t)
		assert.Equal(t, "FeedRemoved", e.Typename)
		assert.Equal(t, feed, e.FeedID)
		_, ok := w.Next(t)
		assert.False(t, ok, "nothing follows")
	})
	other.Close()
	assert.Zero(t, other.told, "what happens elsewhere is not told")
}

func TestALiveFeedEndsForWhoMayNoLongerSeeIt(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	author, fan, stranger := app.SignUp(t, "author"), app.SignUp(t, "fan"), app.SignUp(t, "stranger")
	testkit.Must(t)(fan.Follow(author))
	feed, gone := author.MustPost(t, "for fans", "FANS"), author.MustPost(t, "gone", "PUBLIC")
	open := author.MustPost(t, "open", "PUBLIC")
	testkit.Must(t)(author.Delete(gone))
	refused := func(s *testkit.Stream) string {
		answer, ok := s.Next(t)
		require.True(t, ok)
		_, more := s.Next(t)
		assert.False(t, more, "it has ended")
		return answer.Code(t)
	}
	for _, c := range []struct {
		name, feed, code string
		viewer           testkit.Player
	}{
		{"not visible", feed, "NOT_FOUND", stranger},
		{"not visible to nobody", feed, "NOT_FOUND", testkit.Player{App: app}},
		{"deleted", gone, "NOT_FOUND", author},
		{"no feed", fan.ID, "BAD_USER_INPUT", author},
		{"no id", "x", "BAD_USER_INPUT", author},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.code, refused(c.viewer.Subscribe(t, feedUpdated, testkit.Vars{"id": c.feed})))
		})
	}
	anyone := watchFeed(t, testkit.Player{App: app}, open)
	testkit.Must(t)(fan.Comment(open, "", "hello"))
	assert.Equal(t, "hello", anyone.event(t).Comment.Content, "nobody may look at what is public")

	w := watchFeed(t, fan, feed)
	testkit.Must(t)(fan.Unfollow(author))
	testkit.Must(t)(author.Comment(feed, "", "among us"))
	assert.Equal(t, "NOT_FOUND", refused(w.Stream))
}

func TestCountersOfAHotFeedAreTakenTogether(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	author, players := app.SignUp(t, "author"), app.SignUpAll(t, "player", 20)
	feed := author.MustPost(t, "hot", "PUBLIC")
	w, began := watchFeed(t, author, feed), time.Now()
	for range 3 {
		parallel(t, 20, func(i int) (testkit.Payload, error) { return players[i].Like(feed) })
		parallel(t, 20, func(i int) (testkit.Payload, error) { return players[i].Unlike(feed) })
	}
	parallel(t, 20, func(i int) (testkit.Payload, error) { return players[i].Like(feed) })
	testkit.Quiet(t, app)
	w.settles(t, 20, 0)
	assert.LessOrEqual(t, w.told, 1+int(time.Since(began)/(250*time.Millisecond)), "140 changes")
	w.Close()
}
