package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/testkit"
)

const inboxUpdated = `subscription($since:Cursor){inboxUpdated(since:$since){__typename
	... on StreamStarted{cursor} ... on StreamGap{cursor}
	... on MessageReceived{cursor message{id content sender{name} readAt}}
	... on MessageRemoved{cursor messageId}
	... on UnreadCountsChanged{cursor unreadCounts{total message}}}}`

type inboxEvent struct {
	Typename     string `json:"__typename"`
	Cursor       string
	Message      message
	MessageID    string
	UnreadCounts struct{ Total, Message int }
}

// letterbox is a player's live inbox.
type letterbox struct{ *testkit.Stream }

func listenInbox(t *testing.T, p testkit.Player, since any) letterbox {
	t.Helper()
	l := letterbox{p.Subscribe(t, inboxUpdated, testkit.Vars{"since": since})}
	require.Equal(t, "StreamStarted", l.event(t).Typename)
	return l
}

func (l letterbox) event(t *testing.T) inboxEvent {
	t.Helper()
	answer, ok := l.Next(t)
	require.True(t, ok, "the stream has ended")
	require.Empty(t, answer.Errors)
	var data struct{ InboxUpdated inboxEvent }
	require.NoError(t, json.Unmarshal(answer.Data, &data), answer.Raw)
	require.NotEmpty(t, data.InboxUpdated.Cursor)
	return data.InboxUpdated
}

func (l letterbox) received(t *testing.T, id string, unread int) string {
	t.Helper()
	e := l.event(t)
	require.Equal(t, "MessageReceived", e.Typename)
	require.Equal(t, id, e.Message.ID)
	return l.unread(t, unread)
}

func (l letterbox) unread(t *testing.T, n int) string {
	t.Helper()
	e := l.event(t)
	require.Equal(t, "UnreadCountsChanged", e.Typename)
	require.Equal(t, n, e.UnreadCounts.Message)
	require.Equal(t, n, e.UnreadCounts.Total)
	return e.Cursor
}

func (l letterbox) removed(t *testing.T, id string) {
	t.Helper()
	e := l.event(t)
	require.Equal(t, "MessageRemoved", e.Typename)
	require.Equal(t, id, e.MessageID)
}

func TestLiveInbox(t *testing.T) {
	one, two := twoServers(t)
	ann, bob := one.SignUp(t, "ann"), one.SignUp(t, "bob")
	hers, his, his2 := listenInbox(t, ann, nil), listenInbox(t, bob, nil), listenInbox(t, bob.On(two), nil)
	both := func(do func(l letterbox)) { do(his); do(his2) }

	first := ann.MustSend(t, bob, "first")
	both(func(l letterbox) { l.received(t, first, 1) })
	second := ann.MustSend(t, bob, "second")
	both(func(l letterbox) { l.received(t, second, 2) })
	testkit.Must(t)(bob.On(two).MarkRead(open(t, bob).with(t, ann).ID))
	both(func(l letterbox) { l.unread(t, 0) })
	third := ann.MustSend(t, bob, "third")
	var cut string
	both(func(l letterbox) { cut = l.received(t, third, 1) })
	his2.Close()

	testkit.Must(t)(ann.DeleteMessage(third))
	his.removed(t, third)
	his.unread(t, 0)
	hers.removed(t, third)
	testkit.Must(t)(bob.DeleteMessage(second))
	his.removed(t, second)
	answer := bob.MustSend(t, ann, "answer")
	hers.received(t, answer, 1)

	testkit.Quiet(t, one)
	again := listenInbox(t, bob.On(two), cut)
	again.removed(t, third)
	again.unread(t, 0)
	again.removed(t, second)
	last := ann.MustSend(t, bob, "last")
	again.received(t, last, 1)
	his.received(t, last, 1)
}

func TestALiveInboxMissesNothing(t *testing.T) {
	one, two := twoServers(t)
	bob := one.SignUp(t, "bob")
	senders := one.SignUpAll(t, "sender", 3)
	const each = 20
	his := listenInbox(t, bob, nil)
	sent := make(chan []string, len(senders))
	for _, p := range senders {
		go func() {
			var ids []string
			for i := range each {
				if r, err := p.Send(bob, fmt.Sprint(i)); assert.NoError(t, err) && assert.Empty(t, r.UserErrors) {
					ids = append(ids, r.Message.ID)
				}
			}
			sent <- ids
		}()
	}
	got, unread := map[string][]string{}, 0
	for n := 0; n < len(senders)*each || unread < len(senders)*each; {
		e := his.event(t)
		switch e.Typename {
		case "MessageReceived":
			got[e.Message.Sender.Name] = append(got[e.Message.Sender.Name], e.Message.ID)
			n++
		case "UnreadCountsChanged":
			unread = e.UnreadCounts.Total
		default:
			require.Fail(t, "unexpected", "%s", e.Typename)
		}
		if n%13 == 12 {
			his.Close()
			his = listenInbox(t, bob.On([]*testkit.App{one, two}[n%2]), e.Cursor)
		}
	}
	want := [][]string{<-sent, <-sent, <-sent}
	for _, ids := range got {
		assert.Contains(t, want, ids, "each sender's messages once, in order")
	}
}

func TestALiveInboxIsTheViewersAlone(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	ann, bob := app.SignUp(t, "ann"), app.SignUp(t, "bob")
	his := listenInbox(t, bob, nil)
	cursor := his.received(t, ann.MustSend(t, bob, "hello"), 1)
	for _, c := range []struct {
		name, code string
		player     testkit.Player
		since      any
	}{
		{"anonymous", "UNAUTHENTICATED", testkit.Player{App: app}, nil},
		{"no cursor", "BAD_USER_INPUT", bob, "no cursor"},
		{"somebody else's cursor", "BAD_USER_INPUT", ann, cursor},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, ok := c.player.Subscribe(t, inboxUpdated, testkit.Vars{"since": c.since}).Next(t)
			require.True(t, ok)
			require.Equal(t, c.code, answer.Code(t), answer.Raw)
		})
	}
}
