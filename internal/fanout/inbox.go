package fanout

import (
	"context"
	"fmt"

	"circle/internal/social"
)

// Messages reads messages on the primary; unknown ones are absent.
type Messages interface {
	Load(ctx context.Context, ids []social.MessageID) (map[social.MessageID]*social.Message, error)
}

// Logs are the live logs. Append writes an entry into those that somebody listens to, once, and returns them.
type Logs interface {
	Append(ctx context.Context, logs []social.LogID, entry social.LiveEntry) ([]social.LogID, error)
}

// InboxFar is the far stage of the events of conversations: it tells the two players who listen what became
// of a message, and that what one of them has not read may be another number now.
type InboxFar struct {
	Messages Messages
	Logs     Logs
}

// Far runs the stage. It is for logs alone, so a replay does nothing.
func (f *InboxFar) Far(ctx context.Context, event social.Event, _ []byte, _ func(context.Context, []byte) error) error {
	if event.Replay {
		return nil
	}
	recipient := social.LogID{Kind: social.LogInbox, Of: event.Object}
	if event.Subject != 0 {
		if err := f.message(ctx, event, recipient); err != nil {
			return err
		}
	}
	unread := social.LiveEntry{Kind: social.LiveUnreadChanged, ID: event.Object, Version: int64(event.ID)}
	return f.append(ctx, unread, recipient)
}

// message says what became of a message. The recipient's deletion is the recipient's alone to hear of.
func (f *InboxFar) message(ctx context.Context, event social.Event, recipient social.LogID) error {
	id := social.MessageID(event.Subject)
	found, err := f.Messages.Load(ctx, []social.MessageID{id})
	if err != nil {
		return fmt.Errorf("read a message: %w", err)
	}
	entry := social.LiveEntry{Kind: social.LiveMessageRemoved, ID: event.Subject, Version: event.Subject}
	switch message := found[id]; {
	case message == nil && int64(event.Actor) != event.Object:
		return f.append(ctx, entry, recipient, social.LogID{Kind: social.LogInbox, Of: int64(event.Actor)})
	case message != nil && message.Hidden == social.Shown:
		entry.Kind = social.LiveMessageReceived
	}
	return f.append(ctx, entry, recipient)
}

func (f *InboxFar) append(ctx context.Context, entry social.LiveEntry, logs ...social.LogID) error {
	if _, err := f.Logs.Append(ctx, logs, entry); err != nil {
		return fmt.Errorf("tell of a conversation: %w", err)
	}
	return nil
}
