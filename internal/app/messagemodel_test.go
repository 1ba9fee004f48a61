package app_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"circle/internal/service"
	"circle/internal/social"
)

// letter is a message as the model keeps it.
type letter struct {
	id              social.MessageID
	from, to        social.PlayerID
	text            string
	at              time.Time
	hidden, deleted bool
	read            time.Time
}

// letters is what a few players should see of each other's messages.
type letters struct {
	*post
	players []social.PlayerID
	all     []*letter
}

func (l *letters) player(r *rapid.T, label string) social.PlayerID {
	return rapid.SampledFrom(l.players).Draw(r, label)
}

func (l *letters) there(m *letter) bool {
	return !m.deleted && m.id >= social.OldestMessage(l.now())
}

func (l *letters) sees(player social.PlayerID, m *letter) bool {
	return l.there(m) && (m.from == player || m.to == player && !m.hidden)
}

func (l *letters) send(r *rapid.T) {
	from, to := l.player(r, "from"), l.player(r, "to")
	text := strings.Repeat(rapid.StringMatching(`[a-z信👍]{1,9}`).Draw(r, "text"), rapid.SampledFrom([]int{1, 1, 500}).Draw(r, "times"))
	m, err := l.Messages.Send(context.Background(), social.Viewer{Player: from}, service.NewMessage{Recipient: to, Content: text})
	if from == to {
		require.Equal(r, social.CodeSelfReference, social.CodeOf(err))
		return
	}
	require.NoError(r, err)
	l.all = append(l.all, &letter{id: m.ID, from: from, to: to, text: text, at: m.SentAt()})
}

func (l *letters) remove(r *rapid.T) {
	if len(l.all) == 0 {
		r.Skip("no messages yet")
	}
	recent := l.all[max(0, len(l.all)-6):]
	m, player := rapid.SampledFrom(recent).Draw(r, "message"), l.player(r, "deleter")
	err := l.Messages.Delete(context.Background(), social.Viewer{Player: player}, m.id)
	switch {
	case !l.sees(player, m):
		require.Equal(r, social.CodeNotFound, social.CodeOf(err))
	case player == m.from:
		require.NoError(r, err)
		m.deleted = true
	default:
		require.NoError(r, err)
		m.hidden = true
	}
}

func (l *letters) markRead(r *rapid.T) {
	player, peer, viewer := l.player(r, "reader"), l.player(r, "peer"), l.player(r, "viewer")
	key := social.ConversationKey{Player: player, Peer: peer}
	now := l.now().Truncate(time.Millisecond)
	conversation, err := l.Messages.MarkRead(context.Background(), social.Viewer{Player: viewer}, key)
	if viewer != player || len(l.between(player, peer)) == 0 {
		require.Equal(r, social.CodeNotFound, social.CodeOf(err))
		return
	}
	require.NoError(r, err)
	require.Zero(r, conversation.Unread)
	unread := slices.ContainsFunc(l.all, func(m *letter) bool { return l.unread(player, m) && m.from == peer })
	for _, m := range l.all {
		if unread && m.from == peer && m.to == player && m.read.IsZero() && !m.hidden {
			m.read = now
		}
	}
}

func (l *letters) unread(player social.PlayerID, m *letter) bool {
	return m.to == player && m.read.IsZero() && l.sees(player, m)
}

// between is what a player sees of the messages with a peer, newest first.
func (l *letters) between(player, peer social.PlayerID) (found []*letter) {
	for _, m := range slices.Backward(l.all) {
		if (m.from == player && m.to == peer || m.from == peer && m.to == player) && l.sees(player, m) {
			found = append(found, m)
		}
	}
	return found
}

// shown is what an answer says of messages.
type shown struct {
	ID       social.MessageID
	From, To social.PlayerID
	Text     string
}

func lettersShown(all []*letter) []shown {
	out := []shown{}
	for _, m := range all {
		out = append(out, shown{m.id, m.from, m.to, m.text})
	}
	return out
}

// walk reads all pages of a list of messages.
func walk[T any](r *rapid.T, first int, key func(T) int64, read func(social.PageArgs) (social.Page[T], error)) (all []T) {
	args := social.PageArgs{First: first}
	for {
		page, err := read(args)
		require.NoError(r, err)
		all = append(all, page.Items...)
		if !page.HasNext {
			require.LessOrEqual(r, len(page.Items), first)
			return all
		}
		require.Len(r, page.Items, first)
		args.After = &social.Position{Key: key(page.Items[first-1])}
	}
}

func messageKey(m *social.Message) int64 { return int64(m.ID) }

func messagesShown(all []*social.Message) []shown {
	out := []shown{}
	for _, m := range all {
		out = append(out, shown{m.ID, m.Sender, m.Recipient, m.Content})
	}
	return out
}

func (l *letters) check(r *rapid.T) {
	l.settle(r)
	ctx, player := context.Background(), l.player(r, "viewer")
	viewer, first := social.Viewer{Player: player}, rapid.SampledFrom([]int{1, 2, 3, 7, 100}).Draw(r, "first")
	var received, unread []*letter
	for _, m := range slices.Backward(l.all) {
		if m.to == player && l.sees(player, m) {
			received = append(received, m)
		}
		if l.unread(player, m) {
			unread = append(unread, m)
		}
	}
	inbox := walk(r, first, messageKey, func(args social.PageArgs) (social.Page[*social.Message], error) {
		page, _, err := l.Messages.Inbox(ctx, viewer, args)
		return page, err
	})
	require.Equal(r, lettersShown(received), messagesShown(inbox), "inbox")
	counts, err := l.Messages.Unread(ctx, viewer)
	require.NoError(r, err)
	require.Equal(r, len(unread), counts.Message, "unread")
	require.Equal(r, len(unread), counts.Total())
	l.checkConversations(r, viewer, first)
	l.checkEach(r, viewer)
}

func (l *letters) checkConversations(r *rapid.T, viewer social.Viewer, first int) {
	ctx := context.Background()
	want := []social.Conversation{}
	for _, peer := range l.players {
		mine := l.between(viewer.Player, peer)
		if len(mine) == 0 {
			continue
		}
		c := social.Conversation{Player: viewer.Player, Peer: peer, Last: mine[0].id}
		for _, m := range mine {
			if l.unread(viewer.Player, m) {
				c.Unread++
			}
		}
		want = append(want, c)
		ask := service.ConversationPageAsk{Key: c.Key(), First: first}
		messages := walk(r, first, messageKey, func(args social.PageArgs) (social.Page[*social.Message], error) {
			ask.Below = social.MessageID(args.Below())
			pages, _, err := l.Messages.Pages(ctx, viewer, []service.ConversationPageAsk{ask, {Key: social.ConversationKey{Player: peer, Peer: viewer.Player}, First: 9, Below: social.MaxID}})
			require.Len(r, pages, 1, "nothing of the peer's own conversation")
			return pages[ask], err
		})
		require.Equal(r, lettersShown(mine), messagesShown(messages), "conversation")
	}
	slices.SortFunc(want, func(a, b social.Conversation) int { return cmp.Compare(b.Last, a.Last) })
	got := walk(r, first, func(c social.Conversation) int64 { return int64(c.Last) }, func(args social.PageArgs) (social.Page[social.Conversation], error) {
		return l.Messages.Conversations(ctx, viewer, args)
	})
	with, err := l.Messages.With(ctx, viewer, l.players)
	require.NoError(r, err)
	require.Len(r, with, len(want))
	for i := range got {
		require.Equal(r, got[i], *with[got[i].Peer])
		got[i].Sent, got[i].Read = 0, 0
	}
	require.Equal(r, want, append([]social.Conversation{}, got...), "conversations")
}

// checkEach asks for every message there ever was.
func (l *letters) checkEach(r *rapid.T, viewer social.Viewer) {
	var ids []social.MessageID
	want := map[social.MessageID]shown{}
	read := map[social.MessageID]time.Time{}
	for _, m := range l.all {
		ids = append(ids, m.id)
		if l.sees(viewer.Player, m) {
			want[m.id] = shown{m.id, m.from, m.to, m.text}
			if !m.read.IsZero() {
				read[m.id] = m.read
			}
		}
	}
	found, _, err := l.Messages.Visible(context.Background(), viewer, ids)
	require.NoError(r, err)
	got := map[social.MessageID]shown{}
	var messages []*social.Message
	for id, m := range found {
		got[id] = messagesShown([]*social.Message{m})[0]
		messages = append(messages, m)
	}
	require.Equal(r, want, got, "by id")
	times, err := l.Messages.ReadAts(context.Background(), messages)
	require.NoError(r, err)
	gotRead := map[social.MessageID]time.Time{}
	for m, at := range times {
		gotRead[m.ID] = *at
	}
	require.Equal(r, read, gotRead, "times of reading")
}

func TestMessagesAreAsTheirModelSays(t *testing.T) {
	p := newPost(t)
	rapid.Check(t, func(r *rapid.T) {
		l := &letters{post: p}
		for range 3 { // each case has players of its own, until they come again with nothing left to see
			p.next = p.next%40 + 1
			l.players = append(l.players, p.next)
		}
		if p.next < 4 {
			p.advance(social.MessageLife + time.Second)
		}
		hours := rapid.SampledFrom([]time.Duration{1, 24, 24, 10 * 24, 29 * 24})
		r.Repeat(map[string]func(*rapid.T){
			"send": l.send, "send more": l.send, "send yet more": l.send, "delete": l.remove, "delete more": l.remove,
			"read": l.markRead, "read more": l.markRead,
			"time goes by": func(r *rapid.T) { p.advance(time.Hour * hours.Draw(r, "hours")) },
			"expire":       func(r *rapid.T) { require.NoError(r, l.Messages.Expire(context.Background())) },
			"flush":        func(*rapid.T) { p.flush() },
			"check":        l.check,
		})
		l.check(r)
		require.NoError(r, l.Messages.Expire(context.Background()))
		l.check(r)
	})
}
