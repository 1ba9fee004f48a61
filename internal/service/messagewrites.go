package service

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"circle/internal/social"
)

// NewMessage is what a message is made of.
type NewMessage struct {
	Recipient social.PlayerID
	Content   string
	// Key is the idempotency key, nil without one.
	Key *string
}

// Send sends a message. Errors: SELF_REFERENCE, NOT_FOUND and BLOCKED at recipientId, REQUIRED and TOO_LONG at
// content and at idempotencyKey, IDEMPOTENCY_CONFLICT, and NOT_FOUND for a repeated request whose message
// was deleted.
func (m *Messages) Send(ctx context.Context, viewer social.Viewer, in NewMessage) (*social.Message, error) {
	if err := m.check(ctx, viewer, in); err != nil {
		return nil, err
	}
	return create(
		func() (*social.Message, social.MessageID, error) { return m.insert(ctx, viewer.Player, in) },
		func(id social.MessageID) (*social.Message, error) { return m.repeated(ctx, viewer, id) },
	)
}

// check is the one place that decides who may write to whom.
func (m *Messages) check(ctx context.Context, viewer social.Viewer, in NewMessage) error {
	switch {
	case viewer.Anonymous():
		return viewer.Require()
	case viewer.Player == in.Recipient:
		return social.Fail(social.CodeSelfReference, "That is yourself.", "recipientId")
	case strings.TrimSpace(in.Content) == "":
		return social.Fail(social.CodeRequired, "A message needs a text.", "content")
	case utf8.RuneCountInString(in.Content) > social.MaxMessageLength:
		return social.Fail(social.CodeTooLong, "A message has at most 5,000 characters.", "content")
	}
	if err := checkKey(in.Key); err != nil {
		return err
	}
	found, err := m.relations.People(ctx, viewer, []social.PlayerID{in.Recipient})
	switch {
	case err != nil:
		return err
	case found.Players[in.Recipient] == nil:
		return social.NotFound("recipientId")
	case found.Relations[in.Recipient].Apart():
		return social.Fail(social.CodeBlocked, "There are no messages between the two of you.", "recipientId")
	}
	return nil
}

func (in NewMessage) hash() [32]byte {
	return inputHash("sendMessage", in.Recipient.String(), in.Content)
}

// insert writes a message, or tells which one an earlier request with the same key wrote.
func (m *Messages) insert(ctx context.Context, sender social.PlayerID, in NewMessage) (message *social.Message, repeated social.MessageID, err error) {
	id, err := nextID(ctx, m.ids)
	if err != nil {
		return nil, 0, err
	}
	message = &social.Message{ID: social.MessageID(id), Sender: sender, Recipient: in.Recipient, Content: in.Content}
	err = m.do(ctx, func(tx Tx) error {
		noted, err := recall(ctx, tx, in.Key, Remembered{
			Player: sender, Operation: "sendMessage", Hash: in.hash(), Result: id, At: m.now(),
		})
		if repeated = social.MessageID(noted); err != nil || noted != 0 {
			return err
		}
		mine, theirs, err := tx.LockConversation(ctx, social.ConversationKey{Player: sender, Peer: in.Recipient})
		if err != nil {
			return err
		}
		mine.Sent++
		theirs.Sent, message.Number = mine.Sent, mine.Sent
		mine.Last, theirs.Last = max(mine.Last, message.ID), max(theirs.Last, message.ID)
		theirs.Unread++
		if err := tx.InsertMessage(ctx, *message); err != nil {
			return err
		}
		if err := tx.SaveConversation(ctx, mine, theirs); err != nil {
			return err
		}
		return m.wrote(ctx, tx, sender, message)
	})
	return message, repeated, err
}

// wrote ends a message's transaction.
func (m *Messages) wrote(ctx context.Context, tx Tx, actor social.PlayerID, message *social.Message) error {
	return tx.Append(ctx, social.Event{
		Kind: social.EventConversation, Actor: actor, Subject: int64(message.ID), Object: int64(message.Recipient),
	})
}

func (m *Messages) repeated(ctx context.Context, viewer social.Viewer, id social.MessageID) (*social.Message, error) {
	found, err := m.messages.truth.Load(ctx, []social.MessageID{id})
	if err != nil {
		return nil, err
	}
	if _, err := m.hide(ctx, viewer, found); err != nil {
		return nil, err
	}
	if message := found[id]; message != nil {
		return message, nil
	}
	return nil, social.NotFound()
}

// Delete deletes a message: one that the viewer sent for both, one that the viewer received for the viewer
// alone. Error: NOT_FOUND.
func (m *Messages) Delete(ctx context.Context, viewer social.Viewer, id social.MessageID) error {
	if err := viewer.Require(); err != nil {
		return err
	}
	found, _, err := m.Visible(ctx, viewer, []social.MessageID{id})
	if err != nil {
		return err
	}
	if found[id] == nil {
		return social.NotFound("messageId")
	}
	key := social.ConversationKey{Player: found[id].Sender, Peer: found[id].Recipient}
	return m.do(ctx, func(tx Tx) error {
		sender, recipient, err := tx.LockConversation(ctx, key)
		if err != nil {
			return err
		}
		message, err := tx.MessageHead(ctx, id)
		if err != nil {
			return err
		}
		if message == nil || !message.VisibleTo(viewer.Player) {
			return social.NotFound("messageId")
		}
		unread := lose(&recipient, message)
		switch {
		case viewer.Player == message.Sender:
			err = tx.DeleteMessages(ctx, []social.MessageID{id})
		case unread:
			err = tx.HideMessage(ctx, id, social.HiddenUnread)
		default:
			err = tx.HideMessage(ctx, id, social.HiddenRead)
		}
		if err != nil {
			return err
		}
		for _, side := range []*social.Conversation{&sender, &recipient} {
			if side.Last == id {
				if side.Last, err = tx.NewestMessage(ctx, side.Key()); err != nil {
					return err
				}
			}
		}
		if err := tx.SaveConversation(ctx, sender, recipient); err != nil {
			return err
		}
		return m.wrote(ctx, tx, viewer.Player, message)
	})
}

// lose takes a message that its recipient will no longer see out of what the recipient has not read, and
// says whether it was unread.
func lose(recipient *social.Conversation, message *social.Message) bool {
	unread := message.Hidden == social.Shown && message.Number > recipient.Read
	if unread {
		recipient.Unread--
	}
	return unread
}

// MarkRead marks all messages of one of the viewer's conversations as read. Error: NOT_FOUND.
func (m *Messages) MarkRead(ctx context.Context, viewer social.Viewer, key social.ConversationKey) (*social.Conversation, error) {
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	if key.Player != viewer.Player {
		return nil, social.NotFound("conversationId")
	}
	found, err := m.With(ctx, viewer, []social.PlayerID{key.Peer})
	if err != nil {
		return nil, err
	}
	if found[key.Peer] == nil {
		return nil, social.NotFound("conversationId")
	}
	var mine, theirs social.Conversation
	err = m.do(ctx, func(tx Tx) error {
		if mine, theirs, err = tx.LockConversation(ctx, key); err != nil || mine.Unread == 0 {
			return err
		}
		mine.Read, mine.Unread = mine.Sent, 0
		now := m.now().UTC().Truncate(time.Millisecond)
		if err := tx.InsertReadMark(ctx, social.ReadMark{Player: mine.Player, Peer: mine.Peer, Number: mine.Read, At: now}); err != nil {
			return err
		}
		if err := tx.SaveConversation(ctx, mine, theirs); err != nil {
			return err
		}
		return tx.Append(ctx, social.Event{Kind: social.EventConversation, Actor: mine.Player, Object: int64(mine.Player)})
	})
	if err != nil {
		return nil, err
	}
	return &mine, nil
}
