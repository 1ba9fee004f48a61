package social

import "time"

const (
	// MaxMessageLength is the length of a message in characters.
	MaxMessageLength = 5_000
	// MessageLife is how long messages are kept.
	MessageLife = 30 * 24 * time.Hour
)

// Hiding says whether the recipient of a message has deleted it. The numbers are stored.
type Hiding uint8

// What a recipient can have done.
const (
	Shown Hiding = iota
	// HiddenRead: deleted after reading.
	HiddenRead
	// HiddenUnread: deleted without having read it, so it never will be.
	HiddenUnread
)

// Message is a private message. It does not change, but for Hidden.
type Message struct {
	ID        MessageID
	Sender    PlayerID
	Recipient PlayerID
	// Number counts through the messages of the two players, from 1 on, in the order in which they
	// were committed.
	Number int64
	// Hidden says whether the recipient has deleted the message: then only the sender still sees it.
	Hidden  Hiding
	Content string
}

// SentAt says when the message was sent.
func (m *Message) SentAt() time.Time { return m.ID.Time() }

// Version grows with each change.
func (m *Message) Version() int64 {
	if m.Hidden != Shown {
		return int64(m.ID) + 1
	}
	return int64(m.ID)
}

// VisibleTo says whether the player sees the message.
func (m *Message) VisibleTo(player PlayerID) bool {
	return player != 0 && (player == m.Sender || player == m.Recipient && m.Hidden == Shown)
}

// OldestMessage is the smallest id that a message which is still kept can have.
func OldestMessage(now time.Time) MessageID { return MessageID(IDAt(now.Add(-MessageLife))) }

// Conversation is what one of two players sees of the messages between them.
type Conversation struct {
	Player PlayerID
	Peer   PlayerID
	// Last is the newest message that the player sees; when there is none, 0 or one that is too old.
	Last MessageID
	// Unread counts the messages to the player that the player sees and has not read.
	Unread int
	// Sent and Read are the numbers of the last message of the two players and of the last one that
	// the player has read. They never fall.
	Sent, Read int64
}

// Key identifies the conversation for the outside.
func (c *Conversation) Key() ConversationKey { return ConversationKey{Player: c.Player, Peer: c.Peer} }

// ReadMark says that the player has read all messages of the peer up to a number.
type ReadMark struct {
	Player PlayerID
	Peer   PlayerID
	Number int64
	At     time.Time
}

// ConversationAsk asks a store for at most Limit messages of a conversation that the player sees, with
// ids below Below and from From on.
type ConversationAsk struct {
	Key         ConversationKey
	Below, From MessageID
	Limit       int
}

// UnreadCounts are a player's unread notifications by kind, and unread messages.
type UnreadCounts struct {
	Like, Comment, Reply, Follow, Message, Gift, System int
}

// Total is the sum of all.
func (u UnreadCounts) Total() int {
	return u.Like + u.Comment + u.Reply + u.Follow + u.Message + u.Gift + u.System
}
