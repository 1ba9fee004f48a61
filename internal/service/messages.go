package service

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"circle/internal/social"
)

// Messages reads private messages and the conversations that they make; messagewrites.go writes them.
// Nobody but the two players of a message ever sees it, and they neither while one of them blocks the other.
// Messages older than social.MessageLife, and a conversation in which the viewer sees no message, are not there.
type Messages struct {
	*writer
	store     MessageStore
	relations *Relations
	lists     *lists
	messages  *Entity[social.MessageID, *social.Message]
	now       func() time.Time
	log       *slog.Logger
}

// oldest is the smallest id of a message that is still there.
func (m *Messages) oldest() social.MessageID { return social.OldestMessage(m.now()) }

// Visible reads the messages that are there and that the viewer sees, with their players; others are absent.
func (m *Messages) Visible(ctx context.Context, viewer social.Viewer, ids []social.MessageID) (map[social.MessageID]*social.Message, social.People, error) {
	if viewer.Anonymous() {
		return nil, social.People{}, nil
	}
	found, err := m.messages.Get(ctx, ids)
	if err != nil {
		return nil, social.People{}, err
	}
	people, err := m.hide(ctx, viewer, found)
	return found, people, err
}

// hide takes out what the viewer may not see of messages. Nothing else decides who sees a message. Its players are
// read along.
func (m *Messages) hide(ctx context.Context, viewer social.Viewer, found map[social.MessageID]*social.Message) (social.People, error) {
	oldest := m.oldest()
	var players []social.PlayerID
	for id, message := range found {
		if id < oldest || !message.VisibleTo(viewer.Player) {
			delete(found, id)
			continue
		}
		players = append(players, message.Sender, message.Recipient)
	}
	people, err := m.relations.People(ctx, viewer, unique(players))
	maps.DeleteFunc(found, func(_ social.MessageID, message *social.Message) bool {
		return people.Relations[message.Sender].Apart() || people.Relations[message.Recipient].Apart()
	})
	return people, err
}

// ReadAts tells when messages were read; those that were not are absent.
func (m *Messages) ReadAts(ctx context.Context, messages []*social.Message) (map[*social.Message]*time.Time, error) {
	// One that was deleted unread has a number below later marks like any other.
	messages = slices.DeleteFunc(slices.Clone(messages), func(m *social.Message) bool { return m.Hidden == social.HiddenUnread })
	if len(messages) == 0 {
		return nil, nil
	}
	times, err := m.store.ReadTimes(ctx, messages)
	if err != nil {
		return nil, err
	}
	found := make(map[*social.Message]*time.Time, len(times))
	for i := range times {
		if !times[i].IsZero() {
			found[messages[i]] = &times[i]
		}
	}
	return found, nil
}

// With reads the viewer's conversations with peers; those that are not there are absent.
func (m *Messages) With(ctx context.Context, viewer social.Viewer, peers []social.PlayerID) (map[social.PlayerID]*social.Conversation, error) {
	if viewer.Anonymous() {
		return nil, nil
	}
	return m.store.ConversationsWith(ctx, viewer.Player, unique(peers), m.oldest())
}

// Conversations reads a piece of the viewer's conversations, the one with the newest message first.
func (m *Messages) Conversations(ctx context.Context, viewer social.Viewer, args social.PageArgs) (social.Page[social.Conversation], error) {
	found, err := m.store.Conversations(ctx, viewer.Player, social.MessageID(args.Below()), m.oldest(), args.First+1)
	return social.Cut(found, args.First), err
}

// Unread counts what the viewer has not read.
func (m *Messages) Unread(ctx context.Context, viewer social.Viewer) (social.UnreadCounts, error) {
	messages, err := m.store.UnreadMessages(ctx, viewer.Player, m.oldest())
	return social.UnreadCounts{Message: messages}, err
}

// ConversationPageAsk asks for a page of the messages of a conversation.
type ConversationPageAsk struct {
	Key   social.ConversationKey
	First int
	// Below is the message below which the page begins.
	Below social.MessageID
}

// messagePage is a page of messages while it is put together.
type messagePage struct {
	items []*social.Message
	// people are the players of the messages.
	people social.People
	// below is the id below which the page goes on, want how many messages it takes in all.
	below social.MessageID
	want  int
}

// take adds those of the next ids whose messages are there.
func (p *messagePage) take(ids []social.MessageID, found map[social.MessageID]*social.Message, people social.People) {
	p.people = people.With(p.people)
	for _, id := range ids {
		if message := found[id]; message != nil {
			p.items = append(p.items, message)
		}
		p.below = id
	}
}

func (p *messagePage) missing() int { return p.want - len(p.items) }

// Pages reads pages of conversations' messages, newest first; nothing of conversations that are not the
// viewer's. What turns out to be gone since it was listed is replaced. The messages' players are read along.
func (m *Messages) Pages(ctx context.Context, viewer social.Viewer, asks []ConversationPageAsk) (map[ConversationPageAsk]social.Page[*social.Message], social.People, error) {
	var people social.People
	building := make(map[ConversationPageAsk]*messagePage, len(asks))
	var open []ConversationPageAsk
	for _, ask := range unique(asks) {
		if ask.Key.Player == viewer.Player {
			building[ask] = &messagePage{below: ask.Below, want: ask.First + 1}
			open = append(open, ask)
		}
	}
	for len(open) > 0 {
		var err error
		if open, err = m.extend(ctx, viewer, open, building); err != nil {
			return nil, people, err
		}
	}
	pages := make(map[ConversationPageAsk]social.Page[*social.Message], len(building))
	for ask, page := range building {
		pages[ask] = social.Cut(page.items, ask.First)
		people = people.With(page.people)
	}
	return pages, people, nil
}

// extend adds what pages lack, and tells which of them lack more.
func (m *Messages) extend(
	ctx context.Context, viewer social.Viewer, asks []ConversationPageAsk, building map[ConversationPageAsk]*messagePage,
) (open []ConversationPageAsk, err error) {
	of := make([]social.ConversationAsk, len(asks))
	for i, ask := range asks {
		page := building[ask]
		of[i] = social.ConversationAsk{Key: ask.Key, Below: page.below, From: m.oldest(), Limit: page.missing()}
	}
	lists, err := m.store.ConversationMessages(ctx, of)
	if err != nil {
		return nil, err
	}
	var all []social.MessageID
	for _, ids := range lists {
		all = append(all, ids...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	found, people, err := m.Visible(ctx, viewer, all)
	if err != nil {
		return nil, err
	}
	for i, ask := range asks {
		page := building[ask]
		page.take(lists[i], found, people)
		if len(lists[i]) == of[i].Limit && page.missing() > 0 {
			open = append(open, ask)
		}
	}
	return open, nil
}
