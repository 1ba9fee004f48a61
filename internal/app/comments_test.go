package app_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/testkit"
)

func TestAnEmptiedCommentStaysUntilItsLastAnswerGoes(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	a, b := app.SignUp(t, "ann"), app.SignUp(t, "bob")
	feed := a.MustPost(t, "talk", "PUBLIC")
	head := testkit.Must(t)(a.Comment(feed, "", "head")).Comment
	first := testkit.Must(t)(b.Comment(feed, head.ID, "first")).Comment
	second := testkit.Must(t)(a.Comment(feed, first.ID, "second")).Comment
	assert.Equal(t, &testkit.Comment{ID: head.ID, Content: "head"}, head)
	assert.Equal(t, &testkit.Comment{ID: second.ID, Content: "second", Root: &testkit.ID{ID: head.ID}, ReplyTo: &testkit.ID{ID: first.ID}}, second)

	emptied := testkit.Must(t)(a.Uncomment(head.ID))
	assert.Equal(t, head.ID, emptied.DeletedCommentID)
	assert.Equal(t, &testkit.Comment{ID: head.ID, IsDeleted: true, ReplyCount: 2}, emptied.Comment)
	gone := testkit.Must(t)(b.Uncomment(first.ID))
	assert.Equal(t, first.ID, gone.DeletedCommentID)
	assert.Nil(t, gone.Comment, "answers leave nothing behind")
	for _, p := range []testkit.Player{a, b} {
		assert.Equal(t, []string{head.ID}, p.Comments(t, feed, 1))
		assert.Equal(t, []string{second.ID}, p.Replies(t, head.ID, 1))
	}
	r := testkit.Read[struct{ Nodes []*testkit.Comment }](t, app, b.Token,
		"query($ids:[ID!]!){nodes(ids:$ids){... on Comment{id content isDeleted replyCount root{id} replyTo{id}}}}",
		testkit.Vars{"ids": []string{head.ID, first.ID, second.ID}})
	assert.Equal(t, []*testkit.Comment{
		{ID: head.ID, IsDeleted: true, ReplyCount: 1}, nil,
		{ID: second.ID, Content: "second", Root: &testkit.ID{ID: head.ID}},
	}, r.Nodes)

	testkit.Must(t)(a.Comment(feed, second.ID, "third"))
	testkit.Must(t)(a.Uncomment(second.ID))
	third := a.Replies(t, head.ID, 1)
	require.Len(t, third, 1)
	testkit.Must(t)(a.Uncomment(third[0]))
	for _, p := range []testkit.Player{a, b} {
		assert.Empty(t, p.Comments(t, feed, 1))
	}
	assert.Equal(t, [2]int{}, commentCounts(t, a, feed))
}

// commentCounts are a feed's commentCount and the totalCount of its comments.
func commentCounts(t *testing.T, p testkit.Player, feed string) [2]int {
	t.Helper()
	r := testkit.Read[struct {
		Node struct {
			CommentCount int
			Comments     struct{ TotalCount int }
		}
	}](t, p.App, p.Token, "query($id:ID!){node(id:$id){... on Feed{commentCount comments(first:1){totalCount}}}}", testkit.Vars{"id": feed})
	return [2]int{r.Node.CommentCount, r.Node.Comments.TotalCount}
}

func TestManyCommentsAtOnceAllCount(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	author, players := app.SignUp(t, "author"), app.SignUpAll(t, "player", 10)
	feed := author.MustPost(t, "talk", "PUBLIC")
	head := testkit.Must(t)(author.Comment(feed, "", "head")).Comment.ID
	made := parallel(t, 100, func(i int) (testkit.Payload, error) {
		if i%2 == 0 {
			return players[i%10].Comment(feed, "", fmt.Sprint("comment ", i))
		}
		return players[i%10].Comment(feed, head, fmt.Sprint("answer ", i))
	})
	require.Equal(t, map[string]int{"": 100}, codes(made))
	assert.Equal(t, [2]int{101, 51}, commentCounts(t, author, feed))
	assert.Len(t, author.Comments(t, feed, 100), 51)
	assert.Len(t, author.Replies(t, head, 100), 50)

	again := parallel(t, 200, func(i int) (testkit.Payload, error) {
		return players[i%100%10].Uncomment(made[i%100].Comment.ID)
	})
	require.Equal(t, map[string]int{"": 100, "NOT_FOUND": 100}, codes(again))
	assert.Equal(t, [2]int{1, 1}, commentCounts(t, author, feed))
	assert.Equal(t, []string{head}, author.Comments(t, feed, 100))
	assert.Empty(t, author.Replies(t, head, 100))
}

func TestAnIdempotencyKeyMakesOneComment(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	a := app.SignUp(t, "ann")
	feed, other := a.MustPost(t, "one", "PUBLIC"), a.MustPost(t, "two", "PUBLIC")
	head := testkit.Must(t)(a.Comment(feed, "", "head")).Comment.ID
	comment := func(feed, content string, replyTo any) (testkit.Payload, error) {
		return a.Mutate("createComment", "CreateCommentInput", "comment{id}",
			testkit.Vars{"feedId": feed, "content": content, "replyToId": replyTo, "idempotencyKey": "key"})
	}
	made := parallel(t, 30, func(int) (testkit.Payload, error) { return comment(feed, "once", head) })
	require.Equal(t, map[string]int{"": 30}, codes(made))
	id := made[0].Comment.ID
	for _, p := range made {
		require.Equal(t, id, p.Comment.ID)
	}
	assert.Equal(t, [2]int{2, 1}, commentCounts(t, a, feed))
	for name, conflict := range map[string]func() (testkit.Payload, error){
		"another text": func() (testkit.Payload, error) { return comment(feed, "twice", head) },
		"no answer":    func() (testkit.Payload, error) { return comment(feed, "once", nil) },
		"another feed": func() (testkit.Payload, error) { return comment(other, "once", head) },
	} {
		p, err := conflict()
		require.NoError(t, err)
		assert.Equal(t, "IDEMPOTENCY_CONFLICT", p.Code(), name)
	}
	testkit.Must(t)(a.Uncomment(head))
	p := testkit.Must(t)(comment(feed, "once", head))
	assert.Equal(t, id, p.Comment.ID, "what was done stays done, though it could not be done now")
	testkit.Must(t)(a.Uncomment(id))
	p, err := comment(feed, "once", head)
	require.NoError(t, err)
	assert.Equal(t, "NOT_FOUND", p.Code())
	assert.Equal(t, [2]int{}, commentCounts(t, a, feed))
}

// TestLongThreadsAreWalkedWhileOthersTalk walks 500 comments and 900 answers in pages of 7 while others
// comment, answer and delete.
func TestLongThreadsAreWalkedWhileOthersTalk(t *testing.T) {
	stores := testkit.NewStores(t)
	heads, answers := 500, 900
	if testing.Short() || stores.Embedded() {
		heads, answers = 100, 150 // one writer, and each of so many commits is synced
	}
	app := testkit.Start(t, stores)
	author, players := app.SignUp(t, "author"), app.SignUpAll(t, "player", 4)
	feed := author.MustPost(t, "talk", "PUBLIC")
	root := testkit.Must(t)(author.Comment(feed, "", "root")).Comment.ID
	say := func(n int, replyTo string) (ids []string) {
		for len(ids) < n {
			for _, p := range parallel(t, min(50, n-len(ids)), func(i int) (testkit.Payload, error) {
				return players[i%4].Comment(feed, replyTo, fmt.Sprint("comment ", i))
			}) {
				require.Empty(t, p.UserErrors)
				ids = append(ids, p.Comment.ID)
			}
		}
		return ids
	}
	standing := append(say(heads-1, ""), root)
	below := say(answers, root)

	stop := make(chan struct{})
	var talking sync.WaitGroup
	for _, p := range players {
		talking.Go(func() {
			for replyTo := root; ; {
				mine, err := p.Comment(feed, replyTo, "passing")
				assert.NoError(t, err)
				assert.Empty(t, mine.UserErrors)
				if mine.Comment == nil {
					return
				}
				_, err = p.Uncomment(mine.Comment.ID)
				assert.NoError(t, err)
				if replyTo == root {
					replyTo = ""
				} else {
					replyTo = root
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for range 2 {
		for _, list := range []struct {
			name     string
			standing []string
			read     func() []string
		}{
			{"comments", standing, func() []string { return author.Comments(t, feed, 7) }},
			{"answers", below, func() []string { return author.Replies(t, root, 7) }},
		} {
			seen := map[string]int{}
			for _, id := range list.read() {
				seen[id]++
				require.Equal(t, 1, seen[id], "%s: %s came twice", list.name, id)
			}
			for _, id := range list.standing {
				require.Equal(t, 1, seen[id], "%s: %s is missing", list.name, id)
			}
		}
		if !stores.Embedded() {
			stores.Flush(t)
		}
	}
	close(stop)
	talking.Wait()
	require.Eventually(t, func() bool {
		left, err := app.Outbox(t.Context())
		return err == nil && left.Near == 0
	}, 20*time.Second, 5*time.Millisecond)
	assert.Equal(t, [2]int{heads + answers, heads}, commentCounts(t, author, feed))
	for name, list := range map[string][2][]string{
		"comments": {standing, author.Comments(t, feed, 100)},
		"answers":  {below, author.Replies(t, root, 100)},
	} {
		assert.ElementsMatch(t, list[0], list[1], name)
	}
	assert.Equal(t, author.Comments(t, feed, 100), players[0].Comments(t, feed, 13))
}

const threads = `query($id:ID!,$first:Int!,$after:Cursor){node(id:$id){... on Feed{commentCount comments(first:$first,after:$after){totalCount
	nodes{id content isDeleted createdAt replyCount feed{id} author{id name level isFriend} root{id} replyTo{id}
	replies(first:3){totalCount nodes{id content author{name} root{id} replyTo{author{name}}}}}
	pageInfo{hasNextPage endCursor}}}}}`

func TestAPageOf40ThreadsCostsTheTripsOfAPageOf4(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	viewer := app.SignUp(t, "viewer")
	feed := viewer.MustPost(t, "talk", "FANS")
	players := app.SignUpAll(t, "player", 5)
	for _, p := range players {
		testkit.Must(t)(p.Follow(viewer))
	}
	parallel(t, 40, func(i int) (testkit.Payload, error) {
		head, err := players[i%5].Comment(feed, "", "head")
		for j := range 4 {
			if err == nil {
				_, err = players[j].Comment(feed, head.Comment.ID, "answer")
			}
		}
		return head, err
	})
	page := func(first int) func() {
		return func() {
			r := testkit.Read[struct {
				Node struct {
					Comments struct {
						Nodes []struct{ Replies struct{ Nodes []any } }
					}
				}
			}](t, app, viewer.Token, threads, testkit.Vars{"id": feed, "first": first})
			require.Len(t, r.Node.Comments.Nodes, first)
			require.Len(t, r.Node.Comments.Nodes[first-1].Replies.Nodes, 3)
		}
	}
	require.Eventually(t, func() bool {
		_, sql := quietest(app, page(40))
		return sql == 0
	}, 20*time.Second, 10*time.Millisecond, "the windows are built behind the first page")
	few, _ := quietest(app, page(4))
	many, sql := quietest(app, page(40))
	// What the fields of one level ask for may come in more than one bulk read on a busy machine.
	assert.Less(t, many, 2*few)
	assert.Zero(t, sql)
}

func TestCommentsGoAsTheirFeedGoes(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	author, friend, stranger := app.SignUp(t, "author"), app.SignUp(t, "friend"), app.SignUp(t, "stranger")
	testkit.Must(t)(friend.Follow(author))
	feed := author.MustPost(t, "for fans", "FANS")
	head := testkit.Must(t)(friend.Comment(feed, "", "head")).Comment.ID
	answer := testkit.Must(t)(author.Comment(feed, head, "answer")).Comment.ID
	seen := func(p testkit.Player) []bool {
		r := testkit.Read[struct{ Nodes []*testkit.ID }](t, app, p.Token, "query($ids:[ID!]!){nodes(ids:$ids){id}}",
			testkit.Vars{"ids": []string{feed, head, answer}})
		var seen []bool
		for _, n := range r.Nodes {
			seen = append(seen, n != nil)
		}
		return seen
	}
	all, none := slices.Repeat([]bool{true}, 3), make([]bool, 3)
	assert.Equal(t, all, seen(author))
	assert.Equal(t, all, seen(friend))
	assert.Equal(t, none, seen(stranger))
	assert.Equal(t, none, seen(testkit.Player{App: app}))
	testkit.Must(t)(friend.Unfollow(author))
	assert.Equal(t, none, seen(friend), "not even one's own")
	p, err := friend.Uncomment(head)
	require.NoError(t, err)
	assert.Equal(t, "NOT_FOUND", p.Code())
	testkit.Must(t)(friend.Follow(author))
	assert.Equal(t, all, seen(friend))
	testkit.Must(t)(author.Delete(feed))
	for _, p := range []testkit.Player{author, friend} {
		assert.Equal(t, none, seen(p))
	}
}
