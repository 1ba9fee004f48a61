package sqlstore

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"circle/internal/social"
)

// conversationRow is one of the two mirrored rows of a pair of players.
type conversationRow struct {
	PlayerID   social.PlayerID  `gorm:"column:player_id;primaryKey;autoIncrement:false"`
	PeerID     social.PlayerID  `gorm:"column:peer_id;primaryKey;autoIncrement:false"`
	LastID     social.MessageID `gorm:"column:last_id"`
	Unread     int              `gorm:"column:unread"`
	SentNumber int64            `gorm:"column:sent_number"`
	ReadNumber int64            `gorm:"column:read_number"`
}

// TableName names the row's table.
func (conversationRow) TableName() string { return "conversations" }

// conversationRows are both rows of a pair in id order.
func conversationRows(mine, theirs social.Conversation) []conversationRow {
	if mine.Player > theirs.Player {
		mine, theirs = theirs, mine
	}
	rows := make([]conversationRow, 0, 2)
	for _, c := range []social.Conversation{mine, theirs} {
		rows = append(rows, conversationRow{
			PlayerID: c.Player, PeerID: c.Peer, LastID: c.Last, Unread: c.Unread, SentNumber: c.Sent, ReadNumber: c.Read,
		})
	}
	return rows
}

func (r conversationRow) conversation() social.Conversation {
	return social.Conversation{
		Player: r.PlayerID, Peer: r.PeerID, Last: r.LastID, Unread: r.Unread, Sent: r.SentNumber, Read: r.ReadNumber,
	}
}

// LockConversation makes sure of both rows of a pair of players, locks them in id order and returns the
// player's and the peer's.
func (tx *Tx) LockConversation(ctx context.Context, key social.ConversationKey) (mine, theirs social.Conversation, err error) {
	// The insert locks rows that are there already too, so there is no gap to fall into.
	rows := conversationRows(social.Conversation{Player: key.Player, Peer: key.Peer}, social.Conversation{Player: key.Peer, Peer: key.Player})
	if err := tx.with(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(rows).Error; err != nil {
		return mine, theirs, fmt.Errorf("make a conversation: %w", err)
	}
	for i := range rows {
		r := &rows[i]
		err := tx.with(ctx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("player_id = ? AND peer_id = ?", r.PlayerID, r.PeerID).Take(r).Error
		if err != nil {
			return mine, theirs, fmt.Errorf("lock a conversation: %w", err)
		}
	}
	mine, theirs = rows[0].conversation(), rows[1].conversation()
	if mine.Player != key.Player {
		mine, theirs = theirs, mine
	}
	return mine, theirs, nil
}

// SaveConversation writes both rows of a pair.
func (tx *Tx) SaveConversation(ctx context.Context, mine, theirs social.Conversation) error {
	replace := clause.OnConflict{
		Columns:   []clause.Column{{Name: "player_id"}, {Name: "peer_id"}},
		DoUpdates: clause.AssignmentColumns([]string{"last_id", "unread", "sent_number", "read_number"}),
	}
	rows := conversationRows(mine, theirs)
	return wrap(tx.with(ctx).Clauses(replace).Create(rows).Error, "save a conversation")
}

// InsertReadMark notes that messages were read.
func (tx *Tx) InsertReadMark(ctx context.Context, mark social.ReadMark) error {
	return wrap(tx.with(ctx).Exec("INSERT INTO read_marks (player_id, peer_id, number, at_ms) VALUES (?, ?, ?, ?)",
		mark.Player, mark.Peer, mark.Number, mark.At.UnixMilli()).Error, "mark messages as read")
}

// PurgeReadMarks forgets marks made before the given time, the oldest first, about limit of them: those of
// one millisecond go together. It says how many went; 0 means that none is left.
func (s *Store) PurgeReadMarks(ctx context.Context, before time.Time, limit int) (int, error) {
	const upTo = "SELECT MAX(at_ms) FROM (SELECT at_ms FROM read_marks WHERE at_ms < ? ORDER BY at_ms LIMIT ?) u"
	var last *int64
	err := query(s.reader(ctx), upTo, []any{before.UnixMilli(), limit}, func(scan scanner) error { return scan(&last) })
	if err != nil || last == nil {
		return 0, wrap(err, "purge read marks")
	}
	gone, err := s.exec(ctx, "DELETE FROM read_marks WHERE at_ms <= ?", *last)
	return int(gone), wrap(err, "purge read marks")
}

// conversationColumns leave messages older than the first ? out of the unread ones. There are such only
// until they are cleaned away. Conversations of players who block each other are left out.
var conversationColumns = "SELECT c.player_id, c.peer_id, c.last_id, c.sent_number, c.read_number, c.unread -" +
	" (SELECT COUNT(*) FROM messages m WHERE m.recipient_id = c.player_id AND m.hidden = 0 AND m.id < ?" +
	" AND m.sender_id = c.peer_id AND m.number > c.read_number) AS unread_now FROM conversations c WHERE c.player_id = ?" + together("c.player_id", "c.peer_id")

// Conversations lists at most limit conversations of a player that hold a message from from on, with the
// newest below below, the one with the newest message first.
func (s *Store) Conversations(ctx context.Context, player social.PlayerID, below, from social.MessageID, limit int) ([]social.Conversation, error) {
	return s.conversations(ctx, conversationColumns+" AND c.last_id < ? AND c.last_id >= ? ORDER BY c.last_id DESC LIMIT ?",
		from, player, below, from, limit)
}

// ConversationsWith reads a player's conversations with peers that hold a message from from on; others
// are absent.
func (s *Store) ConversationsWith(
	ctx context.Context, player social.PlayerID, peers []social.PlayerID, from social.MessageID,
) (map[social.PlayerID]*social.Conversation, error) {
	found := make(map[social.PlayerID]*social.Conversation, len(peers))
	for piece := range chunks(peers) {
		some, err := s.conversations(ctx, conversationColumns+" AND c.peer_id IN ? AND c.last_id >= ?", from, player, piece, from)
		if err != nil {
			return nil, err
		}
		for i := range some {
			found[some[i].Peer] = &some[i]
		}
	}
	return found, nil
}

func (s *Store) conversations(ctx context.Context, sql string, args ...any) ([]social.Conversation, error) {
	var found []social.Conversation
	err := query(s.reader(ctx), sql, args, func(scan scanner) error {
		var c social.Conversation
		err := scan(&c.Player, &c.Peer, &c.Last, &c.Sent, &c.Read, &c.Unread)
		found = append(found, c)
		return err
	})
	return found, wrap(err, "read conversations")
}

// UnreadMessages counts the messages from from on that a player has not read, over all conversations.
func (s *Store) UnreadMessages(ctx context.Context, player social.PlayerID, from social.MessageID) (n int, err error) {
	sql := "SELECT (SELECT COALESCE(SUM(c.unread), 0) FROM conversations c WHERE c.player_id = ? AND c.unread > 0" +
		together("c.player_id", "c.peer_id") + ") -" +
		" (SELECT COUNT(*) FROM messages m JOIN conversations c ON c.player_id = m.recipient_id AND c.peer_id = m.sender_id" +
		" WHERE m.recipient_id = ? AND m.hidden = 0 AND m.id < ? AND m.number > c.read_number" + together("c.player_id", "c.peer_id") + ")"
	err = query(s.reader(ctx), sql, []any{player, player, from}, func(scan scanner) error { return scan(&n) })
	return n, wrap(err, "count unread messages")
}
