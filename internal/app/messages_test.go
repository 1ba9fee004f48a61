package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/testkit"
)

type message struct {
	ID, Content       string
	Sender, Recipient struct{ ID, Name string }
	SentAt            time.Time
	ReadAt            *time.Time
}

type conversation struct {
	ID          string
	Peer        testkit.ID
	UnreadCount int
	LastMessage *message
	Messages    testkit.Connection[message]
}

type mailbox struct {
	UnreadCounts  map[string]int
	Inbox         testkit.Connection[message]
	Conversations testkit.Connection[conversation]
}

const (
	messageFields = "id content sender{id} recipient{id} sentAt readAt"
	mailboxQuery  = `query($first:Int!){viewer{unreadCounts{total like comment reply follow message gift system}
		inbox(first:$first){nodes{` + messageFields + `} pageInfo{hasNextPage}}
		conversations(first:$first){nodes{id peer{id} unreadCount lastMessage{` + messageFields + `}
			messages(first:$first){nodes{` + messageFields + `} pageInfo{hasNextPage}}} pageInfo{hasNextPage}}}}`
)

func open(t testing.TB, p testkit.Player) mailbox {
	t.Helper()
	return testkit.Read[struct{ Viewer mailbox }](t, p.App, p.Token, mailboxQuery, testkit.Vars{"first": 20}).Viewer
}

// with is the conversation with a player, which must be there.
func (m mailbox) with(t testing.TB, peer testkit.Player) conversation {
	t.Helper()
	i := slices.IndexFunc(m.Conversations.Nodes, func(c conversation) bool { return c.Peer.ID == peer.ID })
	require.GreaterOrEqual(t, i, 0)
	return m.Conversations.Nodes[i]
}

func texts(messages []message) []string {
	out := []string{}
	for _, m := range messages {
		out = append(out, m.Content)
	}
	return out
}

func TestMessages(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	ann, bob, cat := app.SignUp(t, "ann"), app.SignUp(t, "bob"), app.SignUp(t, "cat")
	one := ann.MustSend(t, bob, "one")
	cat.MustSend(t, bob, "from cat")
	two := ann.MustSend(t, bob, "two")
	bob.MustSend(t, ann, "answer")

	box := open(t, bob)
	assert.Equal(t, map[string]int{"total": 3, "like": 0, "comment": 0, "reply": 0, "follow": 0, "message": 3, "gift": 0, "system": 0}, box.UnreadCounts)
	assert.Equal(t, []string{"two", "from cat", "one"}, texts(box.Inbox.Nodes))
	require.Len(t, box.Conversations.Nodes, 2)
	talk := box.Conversations.Nodes[0]
	assert.Equal(t, ann.ID, talk.Peer.ID, "the newest message counts, whoever sent it")
	assert.Equal(t, "answer", talk.LastMessage.Content)
	assert.Equal(t, 2, talk.UnreadCount)
	assert.Equal(t, []string{"answer", "two", "one"}, texts(talk.Messages.Nodes))
	last := talk.Messages.Nodes[1]
	assert.Equal(t, ann.ID, last.Sender.ID)
	assert.Equal(t, bob.ID, last.Recipient.ID)
	assert.Nil(t, last.ReadAt)
	assert.NotEqual(t, talk.ID, open(t, ann).with(t, bob).ID, "each has a conversation of his own")

	read := testkit.Must(t)(bob.MarkRead(talk.ID))
	assert.Equal(t, testkit.Conversation{ID: talk.ID}, *read.Conversation)
	assert.Equal(t, 1, open(t, bob).UnreadCounts["total"])
	for _, m := range open(t, ann).with(t, bob).Messages.Nodes {
		require.Equal(t, m.Content == "answer", m.ReadAt == nil, "the sender sees what was read")
		if m.ReadAt != nil {
			assert.False(t, m.ReadAt.Before(m.SentAt.Truncate(time.Millisecond)))
		}
	}
	three := ann.MustSend(t, bob, "three")
	first := *open(t, bob).with(t, ann).Messages.Nodes[2].ReadAt
	testkit.Must(t)(bob.MarkRead(talk.ID))
	assert.Equal(t, first, *open(t, bob).with(t, ann).Messages.Nodes[2].ReadAt, "a later mark says nothing of what was read before")

	testkit.Must(t)(bob.DeleteMessage(two))
	assert.Equal(t, []string{"three", "answer", "one"}, texts(open(t, bob).with(t, ann).Messages.Nodes))
	assert.Equal(t, []string{"three", "answer", "two", "one"}, texts(open(t, ann).with(t, bob).Messages.Nodes), "the sender keeps it")
	four := ann.MustSend(t, bob, "four")
	assert.Equal(t, 1, open(t, bob).with(t, ann).UnreadCount)
	for _, id := range []string{four, three, one} {
		p := testkit.Must(t)(ann.DeleteMessage(id))
		assert.Equal(t, id, p.DeletedMessageID)
	}
	box = open(t, bob)
	assert.Zero(t, box.with(t, ann).UnreadCount)
	assert.Equal(t, "answer", box.with(t, ann).LastMessage.Content)
	assert.Equal(t, []string{"from cat"}, texts(box.Inbox.Nodes))
	testkit.Must(t)(bob.DeleteMessage(open(t, bob).with(t, ann).LastMessage.ID))
	box = open(t, bob)
	require.Len(t, box.Conversations.Nodes, 1, "nothing is left to see of it")
	assert.Equal(t, []string{"two"}, texts(open(t, ann).with(t, bob).Messages.Nodes))
	p, err := bob.MarkRead(talk.ID)
	require.NoError(t, err)
	assert.Equal(t, "NOT_FOUND", p.Code())
}

func TestARepeatedSendIsOneMessage(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	ann, bob := app.SignUp(t, "ann"), app.SignUp(t, "bob")
	send := func(content string) (testkit.Payload, error) {
		return ann.Mutate("sendMessage", "SendMessageInput", "message{id}", testkit.Vars{"recipientId": bob.ID, "content": content, "idempotencyKey": "k"})
	}
	ids := map[string]bool{}
	for _, p := range parallel(t, 20, func(int) (testkit.Payload, error) { return send("once") }) {
		require.Empty(t, p.UserErrors)
		ids[p.Message.ID] = true
	}
	require.Len(t, ids, 1)
	assert.Equal(t, 1, open(t, bob).UnreadCounts["message"])
	p, err := send("other")
	require.NoError(t, err)
	assert.Equal(t, "IDEMPOTENCY_CONFLICT", p.Code())
	for id := range ids {
		testkit.Must(t)(ann.DeleteMessage(id))
	}
	p, err = send("once")
	require.NoError(t, err)
	assert.Equal(t, "NOT_FOUND", p.Code())
	assert.Empty(t, open(t, bob).Inbox.Nodes)
}

func TestParallelMessagesBothWays(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	players := app.SignUpAll(t, "p", 3)
	const n = 90
	sent := parallel(t, n, func(i int) (testkit.Payload, error) {
		return players[i%3].Send(players[(i+1+i/3%2)%3], fmt.Sprint(i))
	})
	require.Equal(t, map[string]int{"": n}, codes(sent))
	unread := 0
	for _, p := range players {
		box := open(t, p)
		sum := 0
		for _, c := range box.Conversations.Nodes {
			sum += c.UnreadCount
			assert.Equal(t, c.Messages.Nodes[0].ID, c.LastMessage.ID)
		}
		assert.Equal(t, sum, box.UnreadCounts["message"])
		unread += sum
	}
	assert.Equal(t, n, unread)

	talk := open(t, players[0]).with(t, players[1]).ID
	done := parallel(t, n, func(i int) (testkit.Payload, error) {
		switch i % 3 {
		case 0:
			return players[0].MarkRead(talk)
		case 1:
			return players[1].Send(players[0], "more")
		}
		return players[i%2].DeleteMessage(sent[i].Message.ID)
	})
	for _, p := range done {
		assert.Contains(t, []string{"", "NOT_FOUND"}, p.Code())
	}
	testkit.Must(t)(players[0].MarkRead(talk))
	assert.Zero(t, open(t, players[0]).with(t, players[1]).UnreadCount)
}

// TestNobodyElseSeesAMessage asks for a message of two in all the ways there are.
func TestNobodyElseSeesAMessage(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	ann, bob, eve := app.SignUp(t, "ann"), app.SignUp(t, "bob"), app.SignUp(t, "eve")
	eavesdropping := eve.Subscribe(t, inboxUpdated, nil)
	_, ok := eavesdropping.Next(t)
	require.True(t, ok)
	secret := ann.MustSend(t, bob, "secret")
	talk := open(t, bob).with(t, ann).ID
	mine := open(t, ann).with(t, bob).ID
	const nodes = `query($ids:[ID!]!){nodes(ids:$ids){id ... on Message{content} ... on Conversation{lastMessage{content} messages{nodes{content}}}}}`
	for _, p := range []testkit.Player{eve, {App: app}} {
		answer := p.Do(t, nodes, testkit.Vars{"ids": []string{secret, talk, mine}})
		assert.JSONEq(t, `{"nodes":[null,null,null]}`, string(answer.Data))
		answer = p.Do(t, "query($id:ID!){node(id:$id){id}}", testkit.Vars{"id": secret})
		assert.JSONEq(t, `{"node":null}`, string(answer.Data))
	}
	found := testkit.Read[struct{ Nodes []*testkit.ID }](t, app, bob.Token, "query($ids:[ID!]!){nodes(ids:$ids){id}}",
		testkit.Vars{"ids": []string{secret, talk, mine}})
	assert.Equal(t, []*testkit.ID{{ID: secret}, {ID: talk}, nil}, found.Nodes, "not even the peer's own conversation")

	for _, do := range []func() (testkit.Payload, error){
		func() (testkit.Payload, error) { return eve.DeleteMessage(secret) },
		func() (testkit.Payload, error) { return eve.MarkRead(talk) },
		func() (testkit.Payload, error) { return eve.MarkRead(mine) },
		func() (testkit.Payload, error) { return ann.MarkRead(talk) },
	} {
		p, err := do()
		require.NoError(t, err)
		assert.Equal(t, "NOT_FOUND", p.Code())
	}
	box := open(t, eve)
	assert.Empty(t, box.Inbox.Nodes)
	assert.Empty(t, box.Conversations.Nodes)
	assert.Zero(t, box.UnreadCounts["total"])
	assert.Equal(t, 1, open(t, bob).UnreadCounts["message"])

	ann.MustSend(t, eve, "for eve")
	answer, ok := eavesdropping.Next(t)
	require.True(t, ok)
	assert.Contains(t, answer.Raw, "for eve", "what was for others did not come before")
	assert.NotContains(t, answer.Raw, "secret")
}

func TestPagesOfMessagesCostTheSameTrips(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	viewer := app.SignUp(t, "viewer")
	for _, p := range app.SignUpAll(t, "peer", 32) {
		for i := range 3 {
			p.MustSend(t, viewer, strings.Repeat("text ", 1+100*i))
		}
		viewer.MustSend(t, p, "answer")
	}
	for _, c := range []struct {
		name, query string
		few, many   int
		redis, sql  int64
	}{
		{"inbox", `query($first:Int!){viewer{c:inbox(first:$first){nodes{content sentAt sender{name} recipient{name}}}}}`, 10, 90, 3, 0},
		{"times of reading", `query($first:Int!){viewer{c:inbox(first:$first){nodes{readAt}}}}`, 10, 32, 3, 1},
		{"conversations", `query($first:Int!){viewer{c:conversations(first:$first){nodes{unreadCount peer{name} lastMessage{content}
			messages(first:3){nodes{content}}}}}}`, 10, 32, 5, 2},
	} {
		for _, first := range []int{c.few, c.many} {
			read := func() { testkit.Read[any](t, app, viewer.Token, c.query, testkit.Vars{"first": first}) }
			require.Eventually(t, func() bool {
				redis, sql := quietest(app, read)
				return redis <= c.redis && sql <= c.sql
			}, 10*time.Second, 10*time.Millisecond, "%s: a page of %d", c.name, first)
		}
	}
}
