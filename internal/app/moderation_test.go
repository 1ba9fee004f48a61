package app_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/testkit"
)

func onFeed(t *testing.T, p testkit.Player, mutation, feed string) testkit.Payload {
	t.Helper()
	return testkit.Must(t)(p.Mutate(mutation, "FeedInput", "feed{id likeCount hasLiked}", testkit.Vars{"feedId": feed}))
}

func TestAHiddenFeedIsItsAuthorsAndTheModerators(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	author, fan, moderator := app.SignUp(t, "author"), app.SignUp(t, "fan"), app.SignUp(t, "moderator")
	promote(t, app, moderator, social.RoleModerator)
	for _, p := range []testkit.Player{fan, moderator} {
		testkit.Must(t)(p.Follow(author))
	}
	feed := author.MustPost(t, "hello", "PUBLIC")
	testkit.Must(t)(fan.Like(feed))
	head := testkit.Must(t)(fan.Comment(feed, "", "mine")).Comment.ID
	testkit.Quiet(t, app)
	sees := func(p testkit.Player) bool {
		r := testkit.Read[struct {
			Nodes        []*testkit.ID
			FeedCounters []*struct{ LikeCount int }
		}](t, app, p.Token, "query($f:ID!,$c:ID!){nodes(ids:[$f,$c]){id} feedCounters(feedIds:[$f]){likeCount}}", testkit.Vars{"f": feed, "c": head})
		got := r.Nodes[0] != nil
		require.Equal(t, got, r.Nodes[1] != nil, "its comments")
		require.Equal(t, got, r.FeedCounters[0] != nil, "its counters")
		require.Equal(t, got, len(p.Profile(t, author, 5)) == 1, "the profile list")
		if p.ID != "" {
			require.Equal(t, got, len(p.Home(t, 5)) == 1, "the home page")
		}
		return got
	}
	anyone := testkit.Player{App: app}
	home, his, watched := listen(t, fan, nil), listen(t, author, nil), watchFeed(t, fan, feed)

	for range 2 {
		require.Equal(t, feed, onFeed(t, moderator, "hideFeed", feed).Feed.ID, "again: nothing changes")
	}
	assert.Equal(t, []bool{true, true, false, false}, []bool{sees(author), sees(moderator), sees(fan), sees(anyone)})
	assert.Equal(t, "FeedRemoved", home.event(t).Typename)
	assert.Equal(t, "FeedEdited", his.event(t).Typename)
	assert.Equal(t, "FeedRemoved", watched.any(t).Typename)
	liked := testkit.IDs(t, app, fan.Token, fmt.Sprintf(own, "likedFeeds"), 5, nil)
	assert.Empty(t, liked)
	p, err := fan.Unlike(feed)
	require.NoError(t, err)
	assert.Equal(t, "NOT_FOUND", p.Code())
	testkit.Must(t)(author.Edit(feed, "better"))

	onFeed(t, moderator, "unhideFeed", feed)
	assert.Equal(t, []bool{true, true, true, true}, []bool{sees(author), sees(moderator), sees(fan), sees(anyone)})
	for {
		e := home.event(t)
		if e.Typename == "FeedAdded" {
			assert.Equal(t, liveFeed{ID: feed, Content: "better", LikeCount: 1, HasLiked: true}, e.Edge.Node)
			break
		}
		require.NotEqual(t, "StreamGap", e.Typename, "what comes before is of the edit, as it stood when that was told")
	}
}

const reports = `query($first:Int!,$after:Cursor){c:reports(first:$first,after:$after){nodes{id reason isResolved reporter{name}
	target{__typename ... on Feed{id content} ... on Comment{content feed{id}} ... on Message{content sender{name}} ... on Player{name}}}
	pageInfo{hasNextPage hasPreviousPage endCursor}}}`

type report struct {
	ID, Reason string
	IsResolved bool
	Reporter   struct{ Name string }
	Target     *struct {
		Typename      string `json:"__typename"`
		Content, Name string
	}
}

func TestModeratorsListAndResolveReports(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	a, b, moderator := app.SignUp(t, "ann"), app.SignUp(t, "bob"), app.SignUp(t, "moderator")
	promote(t, app, moderator, social.RoleModerator)
	testkit.Must(t)(a.Follow(b))
	testkit.Must(t)(b.Follow(a))
	feed := a.MustPost(t, "for friends", "FRIENDS")
	comment := testkit.Must(t)(b.Comment(feed, "", "rude")).Comment.ID
	message := b.MustSend(t, a, "ruder")
	tell := func(p testkit.Player, id, reason string) string {
		payload, err := p.Mutate("reportContent", "ReportContentInput", "", testkit.Vars{"id": id, "reason": reason})
		require.NoError(t, err)
		return payload.Code()
	}
	for _, id := range []string{feed, comment, message, a.ID} {
		by := a
		if id == feed || id == a.ID {
			by = b
		}
		require.Empty(t, tell(by, id, "first"))
		require.Empty(t, tell(by, id, "again"), "while the first is open, nothing is added")
	}
	read := func() []report { return testkit.Walk[report](t, app, moderator.Token, reports, 2, nil) }
	got := read()
	require.Len(t, got, 4)
	for i, want := range []string{"Player ann", "Message ruder", "Comment rude", "Feed for friends"} {
		target := got[i].Target
		require.NotNil(t, target, want)
		assert.Equal(t, want, target.Typename+" "+target.Name+target.Content)
		assert.Equal(t, "first", got[i].Reason)
		assert.False(t, got[i].IsResolved)
	}
	assert.Equal(t, "ann", got[1].Reporter.Name)

	resolve := func(p testkit.Player) testkit.Answer {
		return p.Do(t, "mutation($i:ResolveReportInput!){resolveReport(input:$i){report{isResolved} userErrors{code}}}", testkit.Vars{"i": testkit.Vars{"reportId": got[0].ID}})
	}
	for range 2 {
		assert.Contains(t, resolve(moderator).Raw, `"isResolved":true`)
	}
	assert.True(t, read()[0].IsResolved)
	require.Empty(t, tell(b, a.ID, "once more"))
	require.Len(t, read(), 5, "after it was closed, it may be reported again")
	testkit.Must(t)(a.Delete(feed))
	for _, r := range read() {
		if r.Reason == "first" && r.Target != nil {
			assert.NotContains(t, []string{"Feed", "Comment"}, r.Target.Typename, "gone")
		}
	}
	node := testkit.Read[struct{ Node any }](t, app, a.Token, "query($id:ID!){node(id:$id){id}}", testkit.Vars{"id": got[0].ID})
	assert.Nil(t, node.Node, "reports are not there for players")
}

func TestSuspensionsEndSessionsAndSubscriptions(t *testing.T) {
	one, two := twoServers(t)
	p, moderator, admin := one.SignUp(t, "player"), one.SignUp(t, "moderator"), one.SignUp(t, "admin")
	promote(t, one, moderator, social.RoleModerator)
	promote(t, one, admin, social.RoleAdmin)
	feed := p.MustPost(t, "stays", "PUBLIC")
	streams := []home{listen(t, p, nil), listen(t, p.On(two), nil)}
	change := func(by testkit.Player, mutation string, of testkit.Player) testkit.Answer {
		return by.Do(t, "mutation($i:PlayerInput!){r:"+mutation+"(input:$i){player{name} userErrors{code}}}", testkit.Vars{"i": testkit.Vars{"playerId": of.ID}})
	}
	logIn := func() testkit.Answer {
		return one.Do(t, "", "mutation($i:LogInInput!){logIn(input:$i){session{accessToken} userErrors{code}}}",
			testkit.Vars{"i": testkit.Vars{"name": p.Name, "password": testkit.Password}})
	}
	for range 2 {
		assert.Contains(t, change(moderator, "suspendPlayer", p).Raw, `"userErrors":[]`)
	}
	assert.Equal(t, "UNAUTHENTICATED", p.Do(t, "{viewer{role}}", nil).Code(t), "at once")
	for _, s := range streams {
		for ok := true; ok; {
			_, ok = s.Next(t) // to its end
		}
	}
	assert.Equal(t, "UNAUTHENTICATED", p.On(two).Do(t, "{viewer{role}}", nil).Code(t), "within a second")
	assert.Contains(t, logIn().Raw, "SUSPENDED")
	assert.Contains(t, moderator.Do(t, "query($id:ID!){node(id:$id){id}}", testkit.Vars{"id": feed}).Raw, feed, "content stays")

	assert.Equal(t, "FORBIDDEN", change(moderator, "suspendPlayer", admin).Code(t))
	assert.Contains(t, change(moderator, "suspendPlayer", moderator).Raw, "SELF_REFERENCE")
	assert.Contains(t, change(moderator, "reinstatePlayer", p).Raw, `"userErrors":[]`)
	assert.Equal(t, "UNAUTHENTICATED", p.Do(t, "{viewer{role}}", nil).Code(t), "what was ended stays ended")
	assert.NotContains(t, logIn().Raw, "SUSPENDED")
	assert.Contains(t, logIn().Raw, "accessToken")
}

func TestModeratorsCallsAreForbiddenToOthers(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	a, editor := app.SignUp(t, "ann"), app.SignUp(t, "editor")
	promote(t, app, editor, social.RoleEditor)
	feed := a.MustPost(t, "hello", "PUBLIC")
	for _, call := range []string{
		"{reports{nodes{id}}}", fmt.Sprintf("mutation{hideFeed(input:{feedId:%q}){feed{id}}}", feed), fmt.Sprintf("mutation{unhideFeed(input:{feedId:%q}){feed{id}}}", feed),
		fmt.Sprintf("mutation{suspendPlayer(input:{playerId:%q}){player{id}}}", editor.ID), fmt.Sprintf("mutation{reinstatePlayer(input:{playerId:%q}){player{id}}}", editor.ID),
		`mutation{resolveReport(input:{reportId:"x"}){report{id}}}`, `mutation{hideFeed(input:{feedId:"x"}){feed{id}}}`,
	} {
		for _, p := range []testkit.Player{a, editor} {
			assert.Equal(t, "FORBIDDEN", p.Do(t, call, nil).Code(t), call)
		}
		assert.Equal(t, "UNAUTHENTICATED", app.Do(t, "", call, nil).Code(t), call)
	}
	require.Equal(t, []string{feed}, a.Home(t, 5), "nothing was done")
}

func TestABlockEndsWhatIsHeardOfAFeed(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	a, b, c := app.SignUp(t, "ann"), app.SignUp(t, "bob"), app.SignUp(t, "cat")
	feed := b.MustPost(t, "hello", "PUBLIC")
	watched := watchFeed(t, a, feed)
	testkit.Must(t)(b.Mutate("blockPlayer", "PlayerInput", "player{id}", testkit.Vars{"playerId": a.ID}))
	testkit.Must(t)(c.Like(feed))
	last, ok := watched.Next(t)
	require.True(t, ok)
	require.NotEmpty(t, last.Errors, "the like is not told: %s", last.Raw)
	_, ok = watched.Next(t)
	require.False(t, ok, "it has ended")
}
