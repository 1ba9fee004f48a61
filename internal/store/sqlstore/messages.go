package sqlstore

import (
	"context"
	"fmt"
	"time"

	"circle/internal/social"
	"circle/internal/store/compress"
)

// Messages reads private messages, also those that their recipients have deleted.
func (s *Store) Messages() Truth[social.MessageID, *social.Message] {
	return Truth[social.MessageID, *social.Message]{
		store: s, name: "messages",
		rows: "SELECT " + messageHead + ", codec, content FROM messages WHERE id",
		scan: func(scan scanner) (social.MessageID, *social.Message, error) {
			var m social.Message
			var codec uint8
			var data []byte
			err := scan(&m.ID, &m.Sender, &m.Recipient, &m.Number, &m.Hidden, &codec, &data)
			if err == nil {
				m.Content, err = compress.Open(codec, data)
			}
			return m.ID, &m, err
		},
	}
}

// messageHead is all but the text.
const messageHead = "id, sender_id, recipient_id, number, hidden"

// InsertMessage writes a message. When the id is taken the error is social.ErrIDTaken.
func (tx *Tx) InsertMessage(ctx context.Context, m social.Message) error {
	codec, content := compress.Text(m.Content)
	low, high := inOrder(m.Sender, m.Recipient)
	err := tx.with(ctx).Exec("INSERT INTO messages ("+messageHead+", low_id, high_id, codec, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		m.ID, m.Sender, m.Recipient, m.Number, m.Hidden, low, high, codec, content).Error
	if isDuplicate(err) {
		err = fmt.Errorf("%w: %w", social.ErrIDTaken, err)
	}
	return wrap(err, "insert a message")
}

// MessageHead reads a message without its text; nil when there is none. The caller has locked the
// conversation that it belongs to.
func (tx *Tx) MessageHead(ctx context.Context, id social.MessageID) (*social.Message, error) {
	found, err := tx.messageHeads(ctx, "id = ?", id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// OldestMessages reads at most limit messages of two players with ids below before, the oldest first,
// without their texts. The caller has locked the conversation.
func (tx *Tx) OldestMessages(ctx context.Context, key social.ConversationKey, before social.MessageID, limit int) ([]*social.Message, error) {
	low, high := inOrder(key.Player, key.Peer)
	return tx.messageHeads(ctx, "low_id = ? AND high_id = ? AND id < ? ORDER BY id LIMIT ?", low, high, before, limit)
}

func (tx *Tx) messageHeads(ctx context.Context, where string, args ...any) ([]*social.Message, error) {
	var found []*social.Message
	err := query(tx.with(ctx), "SELECT "+messageHead+" FROM messages WHERE "+where, args, func(scan scanner) error {
		var m social.Message
		err := scan(&m.ID, &m.Sender, &m.Recipient, &m.Number, &m.Hidden)
		found = append(found, &m)
		return err
	})
	return found, wrap(err, "read heads of messages")
}

// HideMessage makes a message invisible to its recipient.
func (tx *Tx) HideMessage(ctx context.Context, id social.MessageID, how social.Hiding) error {
	return wrap(tx.with(ctx).Exec("UPDATE messages SET hidden = ? WHERE id = ?", how, id).Error, "hide a message")
}

// DeleteMessages removes messages.
func (tx *Tx) DeleteMessages(ctx context.Context, ids []social.MessageID) error {
	for piece := range chunks(ids) {
		if err := tx.with(ctx).Exec("DELETE FROM messages WHERE id IN ?", piece).Error; err != nil {
			return wrap(err, "delete messages")
		}
	}
	return nil
}

// pairMessages is what a player sees of the messages with a peer.
const pairMessages = "messages WHERE low_id = ? AND high_id = ? AND id < ? AND id >= ? AND (hidden = 0 OR recipient_id <> ?)"

// NewestMessage is the newest message of a conversation that the player sees, 0 when there is none.
func (tx *Tx) NewestMessage(ctx context.Context, key social.ConversationKey) (newest social.MessageID, err error) {
	low, high := inOrder(key.Player, key.Peer)
	const sql = "SELECT id FROM " + pairMessages + " ORDER BY id DESC LIMIT 1"
	err = query(tx.with(ctx), sql, []any{low, high, social.MaxID + 1, 0, key.Player}, func(scan scanner) error { return scan(&newest) })
	return newest, wrap(err, "find the newest message")
}

// ConversationMessages reads a piece of several conversations, newest first, in the order asked.
func (s *Store) ConversationMessages(ctx context.Context, asks []social.ConversationAsk) ([][]social.MessageID, error) {
	q := listQuery{term: "id AS member, id AS place FROM " + pairMessages + " ORDER BY id DESC LIMIT ?"}
	terms := make([][]any, len(asks))
	for i, ask := range asks {
		low, high := inOrder(ask.Key.Player, ask.Key.Peer)
		terms[i] = []any{low, high, ask.Below, ask.From, ask.Key.Player, max(ask.Limit, 0)}
	}
	found, err := q.read(ctx, s, terms)
	if err != nil {
		return nil, wrap(err, "read conversations' messages")
	}
	return convertLists(found, func(e listEntry) social.MessageID { return social.MessageID(e.member) }), nil
}

// ReceivedMessages lists at most limit messages that a player received and has not deleted, with ids
// below below and from from on, newest first; only with all set also those of players who block him or whom he
// blocks.
func (s *Store) ReceivedMessages(ctx context.Context, player social.PlayerID, below, from social.MessageID, limit int, all bool) ([]social.MessageID, error) {
	var ids []social.MessageID
	sql := "SELECT m.id FROM messages m WHERE m.recipient_id = ? AND m.hidden = 0 AND m.id < ? AND m.id >= ?"
	if !all {
		sql += together("m.recipient_id", "m.sender_id")
	}
	sql += " ORDER BY m.id DESC LIMIT ?"
	err := query(s.reader(ctx), sql, []any{player, below, from, limit}, func(scan scanner) error {
		var id social.MessageID
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, wrap(err, "read received messages")
}

// ReadTimes tells when messages were read, in the order asked; the zero time for those that were not.
func (s *Store) ReadTimes(ctx context.Context, messages []*social.Message) ([]time.Time, error) {
	q := listQuery{term: "number AS member, at_ms AS place FROM read_marks WHERE player_id = ? AND peer_id = ? AND number >= ? ORDER BY number LIMIT ?"}
	terms := make([][]any, len(messages))
	for i, m := range messages {
		terms[i] = []any{m.Recipient, m.Sender, m.Number, 1}
	}
	found, err := q.read(ctx, s, terms)
	if err != nil {
		return nil, wrap(err, "read times of reading")
	}
	times := make([]time.Time, len(messages))
	for i, marks := range found {
		if len(marks) > 0 {
			times[i] = time.UnixMilli(marks[0].place).UTC()
		}
	}
	return times, nil
}

// OldConversations names conversations that hold one of the limit oldest messages with ids below before,
// each once.
func (s *Store) OldConversations(ctx context.Context, before social.MessageID, limit int) ([]social.ConversationKey, error) {
	var keys []social.ConversationKey
	const sql = "SELECT DISTINCT low_id, high_id FROM (SELECT low_id, high_id FROM messages WHERE id < ? ORDER BY id LIMIT ?) u"
	err := query(s.reader(ctx), sql, []any{before, limit}, func(scan scanner) error {
		var key social.ConversationKey
		err := scan(&key.Player, &key.Peer)
		keys = append(keys, key)
		return err
	})
	return keys, wrap(err, "find old messages")
}

// inOrder are two players in the order of their ids.
func inOrder(a, b social.PlayerID) (low, high social.PlayerID) { return min(a, b), max(a, b) }
