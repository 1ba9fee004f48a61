package service

import (
	"context"

	"circle/internal/social"
)

const (
	// expiryChunk bounds the messages of one deletion.
	expiryChunk = 500
	// expiryRounds bounds the deletions of a call.
	expiryRounds = 100
)

// Expire deletes messages older than social.MessageLife, which nobody sees any more, at most 50,000 in a
// call, and takes them out of what is counted as unread. Several servers may do it at once.
func (m *Messages) Expire(ctx context.Context) error {
	before := m.oldest()
	for range expiryRounds {
		keys, err := m.store.OldConversations(ctx, before, expiryChunk)
		if err != nil || len(keys) == 0 {
			return err
		}
		for _, key := range keys {
			if err := m.expire(ctx, key, before); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Messages) expire(ctx context.Context, key social.ConversationKey, before social.MessageID) error {
	var ids []social.MessageID
	err := m.do(ctx, func(tx Tx) error {
		ids = nil
		mine, theirs, err := tx.LockConversation(ctx, key)
		if err != nil {
			return err
		}
		old, err := tx.OldestMessages(ctx, key, before, expiryChunk)
		if err != nil || len(old) == 0 {
			return err
		}
		for _, message := range old {
			ids = append(ids, message.ID)
			if message.Recipient == mine.Player {
				lose(&mine, message)
			} else {
				lose(&theirs, message)
			}
		}
		if err := tx.DeleteMessages(ctx, ids); err != nil {
			return err
		}
		return tx.SaveConversation(ctx, mine, theirs)
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	// Readers look at the clock; this is so that texts don't outlive their rows in Redis.
	if err := m.messages.cache.Remove(ctx, ids); err != nil {
		m.log.DebugContext(ctx, "expired messages not removed from redis", "error", err)
	}
	return nil
}
