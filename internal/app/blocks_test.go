package app_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/testkit"
)

// between is a world of two players who are all that players can be to each other, and a third, a moderator, who is
// that to both. All that a player writes bears the player's name.
type between struct {
	t      *testing.T
	app    *testkit.App
	schema *testkit.Schema
	a, b   testkit.Player
	third  testkit.Player
}

func newBetween(t *testing.T) *between {
	app := testkit.Start(t, testkit.NewStores(t))
	w := &between{t: t, app: app, schema: app.Schema(t), a: app.SignUp(t, "walker-ann"), b: app.SignUp(t, "walker-bob"), third: app.SignUp(t, "walker-cat")}
	promote(t, app, w.third, social.RoleModerator)
	all := []testkit.Player{w.a, w.b, w.third}
	must := testkit.Must(t)
	for _, p := range all {
		must(p.Mutate("updateProfile", "UpdateProfileInput", "player{id}", testkit.Vars{"bio": "bio of " + p.Name}))
		for _, q := range all {
			if p.ID != q.ID {
				must(p.Follow(q))
				must(p.Mutate("sendMessage", "SendMessageInput", "message{id}", testkit.Vars{"recipientId": q.ID, "content": "message of " + p.Name}))
			}
		}
	}
	for _, author := range all {
		for _, visibility := range []string{"PUBLIC", "FANS", "FRIENDS"} {
			feed := author.MustPost(t, "feed of "+author.Name, visibility)
			for _, p := range all {
				must(p.Like(feed))
				head := must(p.Comment(feed, "", "comment of "+p.Name)).Comment.ID
				for _, q := range all {
					must(q.Comment(feed, head, "answer of "+q.Name))
				}
				must(p.Mutate("reportContent", "ReportContentInput", "", testkit.Vars{"id": feed, "reason": "reported by " + p.Name}))
			}
		}
	}
	return w
}

func promote(t *testing.T, app *testkit.App, p testkit.Player, role social.Role) {
	t.Helper()
	id, err := social.ParsePlayerID(p.ID)
	require.NoError(t, err)
	require.NoError(t, app.Accounts.SetRole(t.Context(), id, role))
}

var found = regexp.MustCompile(`"((player|[a-z]+)_[0-9a-z]{11,22})"`)

// crawl asks as a player for all of all that can be reached, and gives the ids by type.
func (w *between) crawl(p testkit.Player) map[string]string {
	ids := map[string]string{}
	var open []string
	note := func(raw string) {
		for _, match := range found.FindAllStringSubmatch(raw, -1) {
			if _, known := ids[match[1]]; !known {
				ids[match[1]] = ""
				open = append(open, match[1])
			}
		}
	}
	for name, query := range w.schema.Roots() {
		answer := p.Do(w.t, query, nil)
		if answer.Code(w.t) != "FORBIDDEN" {
			require.Empty(w.t, answer.Errors, "%s: %s", name, answer.Raw)
		}
		note(answer.Raw)
	}
	for len(open) > 0 {
		id := open[0]
		open = open[1:]
		data := testkit.Read[struct {
			Node *struct {
				Typename string `json:"__typename"`
			}
		}](w.t, w.app, p.Token, "query($id:ID!){node(id:$id){__typename}}", testkit.Vars{"id": id})
		require.NotNil(w.t, data.Node, "%s is shown and is not there", id)
		ids[id] = data.Node.Typename
		answer := p.Do(w.t, w.schema.Node(ids[id]), testkit.Vars{"id": id})
		require.Empty(w.t, answer.Errors, answer.Raw)
		note(answer.Raw)
	}
	return ids
}

// hides checks that an answer holds nothing of a player.
func hides(t *testing.T, raw string, of testkit.Player, what string) {
	t.Helper()
	assert.NotContains(t, raw, of.ID, what)
	assert.NotContains(t, raw, of.Name, what)
}

// TestABlockHidesOnEveryPath walks all that the schema has, so that what comes into it later is held to the same. What
// the world above lacks of a type of node must be made there.
func TestABlockHidesOnEveryPath(t *testing.T) {
	w := newBetween(t)
	ids := map[string]string{}
	for _, p := range []testkit.Player{w.a, w.b, w.third} {
		maps.Copy(ids, w.crawl(p))
	}
	types := slices.Sorted(maps.Values(ids))
	for _, name := range w.schema.Nodes() {
		require.Contains(t, types, name, "the world of this test lacks one")
	}
	streams := map[string]*testkit.Stream{}
	for _, p := range []testkit.Player{w.a, w.b} {
		for _, query := range []string{
			"subscription{e:homeFeedUpdated{__typename ... on FeedAdded{edge{node{id content author{id name}}}}}}",
			"subscription{e:inboxUpdated{__typename ... on MessageReceived{message{content sender{id name}}}}}",
		} {
			s := p.Subscribe(t, query, nil)
			started, ok := s.Next(t)
			require.True(t, ok)
			require.Contains(t, started.Raw, "StreamStarted")
			streams[p.Name+query] = s
		}
	}
	testkit.Must(t)(w.a.Mutate("blockPlayer", "PlayerInput", "player{id}", testkit.Vars{"playerId": w.b.ID}))

	for _, side := range []struct{ viewer, other testkit.Player }{{w.a, w.b}, {w.b, w.a}} {
		blocker := side.viewer.ID == w.a.ID
		for name, query := range w.schema.Roots() {
			raw := side.viewer.Do(t, query, nil).Raw
			if blocker && name == "viewer" {
				assert.Equal(t, 1, strings.Count(raw, side.other.Name), "among the blocked players alone: %s", raw)
				continue
			}
			hides(t, raw, side.other, name)
		}
		for id, of := range ids {
			answer := side.viewer.Do(t, w.schema.Node(of), testkit.Vars{"id": id})
			require.Empty(t, answer.Errors, answer.Raw)
			if blocker && id == side.other.ID {
				assert.Equal(t, 1, strings.Count(answer.Raw, side.other.Name), "simple info alone: %s", answer.Raw)
				assert.Contains(t, answer.Raw, `"isBlocked":true`)
				continue
			}
			hides(t, answer.Raw, side.other, "a "+of)
		}
		answer := side.viewer.Do(t, "query($n:String!){player(name:$n){id isBlocked}}", testkit.Vars{"n": side.other.Name})
		assert.Equal(t, blocker, strings.Contains(answer.Raw, `"isBlocked":true`), answer.Raw)
		assert.Equal(t, !blocker, strings.Contains(answer.Raw, `"player":null`), answer.Raw)
	}
	w.mutations(ids)
	w.live(streams)
}

// mutations tries all that names a thing by its id on each thing of the blocker's, as the blocked.
func (w *between) mutations(ids map[string]string) {
	seen := w.crawl(w.b)
	for _, m := range w.schema.Mutations() {
		for id, of := range ids {
			if _, still := seen[id]; still || of == "Conversation" || of == "Report" {
				continue
			}
			input, named := testkit.Vars{}, false
			for _, field := range m.Input {
				input[field.Name] = "text"
				if field.Of() == "ID" {
					input[field.Name], named = id, true
				}
			}
			if !named {
				continue
			}
			answer := w.b.Do(w.t, m.Query, testkit.Vars{"i": input})
			hides(w.t, answer.Raw, w.a, m.Name+" of a "+of)
			assert.Regexp(w.t, `code":"(NOT_FOUND|BLOCKED|INVALID|FORBIDDEN|SELF_REFERENCE)"`, answer.Raw, m.Name+" of a "+of)
		}
	}
}

// live has all three post and write to each other: of the other the two hear nothing.
func (w *between) live(streams map[string]*testkit.Stream) {
	for _, p := range []testkit.Player{w.a, w.b, w.third} {
		p.MustPost(w.t, "last of "+p.Name, "PUBLIC")
	}
	for _, p := range []testkit.Player{w.a, w.b} {
		testkit.Must(w.t)(w.third.Mutate("sendMessage", "SendMessageInput", "message{id}", testkit.Vars{"recipientId": p.ID, "content": "last of " + w.third.Name}))
	}
	for name, s := range streams {
		other := w.a
		if strings.HasPrefix(name, w.a.Name) {
			other = w.b
		}
		for {
			event, ok := s.Next(w.t)
			require.True(w.t, ok, name)
			hides(w.t, event.Raw, other, name)
			if strings.Contains(event.Raw, "last of "+w.third.Name) {
				break
			}
		}
	}
}

func TestWhatABlockEndsAndWhatItLeaves(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	a, b, c := app.SignUp(t, "ann"), app.SignUp(t, "bob"), app.SignUp(t, "cat")
	must := testkit.Must(t)
	must(a.Follow(b))
	must(b.Follow(a))
	must(c.Follow(b))
	feed := b.MustPost(t, "hello", "PUBLIC")
	must(a.Like(feed))
	must(b.Mutate("sendMessage", "SendMessageInput", "message{id}", testkit.Vars{"recipientId": a.ID, "content": "hi"}))
	require.Equal(t, []string{feed}, a.Home(t, 5))
	state := func(p testkit.Player) string {
		return p.Do(t, "{viewer{unreadCounts{message} conversations{nodes{id}} inbox{nodes{content}} player{fanCount followingCount friendCount}}}", nil).Raw
	}
	require.Contains(t, state(a), `"unreadCounts":{"message":1}`)
	require.Contains(t, state(a), `"fanCount":1,"followingCount":1,"friendCount":1`)
	tie := func(p, other testkit.Player, mutation string) testkit.Payload {
		payload, err := p.Mutate(mutation, "PlayerInput", "player{id}", testkit.Vars{"playerId": other.ID})
		require.NoError(t, err)
		return payload
	}

	for range 2 {
		require.Empty(t, tie(a, b, "blockPlayer").UserErrors, "again: nothing changes")
	}
	require.Empty(t, a.Home(t, 5))
	assert.Contains(t, state(a), `"unreadCounts":{"message":0},"conversations":{"nodes":[]},"inbox":{"nodes":[]}`)
	assert.Contains(t, state(a), `"fanCount":0,"followingCount":0,"friendCount":0`)
	assert.Contains(t, state(b), `"fanCount":1,"followingCount":0,"friendCount":0`)
	for name, payload := range map[string]testkit.Payload{
		"follow": tie(b, a, "followPlayer"), "block": tie(b, a, "blockPlayer"), "mute": tie(b, a, "mutePlayer"), "unfollow": tie(b, a, "unfollowPlayer"),
	} {
		assert.Equal(t, "NOT_FOUND", payload.Code(), name)
		assert.Nil(t, payload.Player, name)
	}
	assert.Equal(t, "BLOCKED", tie(a, b, "followPlayer").Code())
	for _, side := range [][2]testkit.Player{{a, b}, {b, a}} {
		p, err := side[0].Mutate("sendMessage", "SendMessageInput", "message{id}", testkit.Vars{"recipientId": side[1].ID, "content": "hi"})
		require.NoError(t, err)
		assert.Equal(t, "BLOCKED", p.Code())
	}
	got := c.Do(t, "query($id:ID!){node(id:$id){... on Feed{likeCount likes{totalCount nodes{player{name}}}}}}", testkit.Vars{"id": feed})
	assert.Contains(t, got.Raw, `"likeCount":1,"likes":{"totalCount":1,"nodes":[{"player":{"name":"ann"}}]}`)
	got = b.Do(t, "query($id:ID!){node(id:$id){... on Feed{likeCount likes{totalCount nodes{player{name}}}}}}", testkit.Vars{"id": feed})
	assert.Contains(t, got.Raw, `"likeCount":1,"likes":{"totalCount":1,"nodes":[]}`, "counts are global")

	require.Empty(t, tie(a, b, "unblockPlayer").UserErrors)
	assert.Contains(t, state(a), `"unreadCounts":{"message":1}`)
	assert.Contains(t, state(a), `"fanCount":0,"followingCount":0,"friendCount":0`)
	require.Empty(t, a.Home(t, 5), "following does not come back")
	require.Empty(t, tie(b, a, "followPlayer").UserErrors)
}

func TestMutingIsForTheHomePageAlone(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	a, b := app.SignUp(t, "ann"), app.SignUp(t, "bob")
	testkit.Must(t)(a.Follow(b))
	feed := b.MustPost(t, "hello", "FANS")
	testkit.Quiet(t, app) // else the feed may come live
	live := listen(t, a, nil)
	for _, step := range []struct {
		mutation string
		home     []string
	}{{"mutePlayer", []string{}}, {"mutePlayer", []string{}}, {"unmutePlayer", []string{feed}}, {"unmutePlayer", []string{feed}}} {
		testkit.Must(t)(a.Mutate(step.mutation, "PlayerInput", "player{id}", testkit.Vars{"playerId": b.ID}))
		assert.Equal(t, step.home, a.Home(t, 5), step.mutation)
		assert.Equal(t, []string{feed}, a.Profile(t, b, 5))
		muted := testkit.IDs(t, app, a.Token, fmt.Sprintf(own, "mutedPlayers"), 5, nil)
		assert.Equal(t, len(step.home) == 0, len(muted) == 1)
	}
	testkit.Must(t)(a.Mutate("mutePlayer", "PlayerInput", "player{id}", testkit.Vars{"playerId": b.ID}))
	b.MustPost(t, "not heard", "PUBLIC")
	mine := a.MustPost(t, "mine", "PUBLIC")
	live.added(t, mine)
}
