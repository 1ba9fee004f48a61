package social

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Identifiers of things that happen (feeds, likes, edges, events) are 53 bits wide, so that they
// are exact in a Redis score and in JavaScript: 41 bits of milliseconds since Epoch, 5 bits of
// node and 7 bits of sequence. The id is the order of the lists that hold the thing.
const (
	// MaxID is the largest identifier.
	MaxID = 1<<53 - 1

	timeShift = 12
	nodeShift = 7
	// MaxNode is the largest node number of an IDSource.
	MaxNode = 31
	maxSeq  = 1<<nodeShift - 1
)

// Epoch is the instant at which identifiers begin.
var Epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// PlayerID identifies a player. Unlike other ids it is dense: the first player is 1, the next
// about 2, so that it serves as the player's place in bitmaps and buckets too.
type PlayerID int64

// FeedID identifies a feed; later feeds have larger ids.
type FeedID int64

// CommentID identifies a comment; later comments have larger ids.
type CommentID int64

// MessageID identifies a private message; later messages have larger ids.
type MessageID int64

// LikeID orders the likes of a feed, and the likes of a player, by when they were made.
type LikeID int64

// EdgeID orders the edges between players by when they were made.
type EdgeID int64

// SessionID identifies a login; its refresh tokens are one family.
type SessionID int64

// EventID identifies an event of the outbox.
type EventID int64

// Time says when the feed was made, to the millisecond.
func (id FeedID) Time() time.Time { return idTime(int64(id)) }

// Time says when the comment was made, to the millisecond.
func (id CommentID) Time() time.Time { return idTime(int64(id)) }

// Time says when the message was sent, to the millisecond.
func (id MessageID) Time() time.Time { return idTime(int64(id)) }

// Time says when the like was made, to the millisecond.
func (id LikeID) Time() time.Time { return idTime(int64(id)) }

// Time says when the edge was made, to the millisecond.
func (id EdgeID) Time() time.Time { return idTime(int64(id)) }

func idTime(id int64) time.Time {
	return Epoch.Add(time.Duration(id>>timeShift) * time.Millisecond)
}

// IDAt is the smallest identifier of the given instant; 0 for instants before Epoch.
func IDAt(t time.Time) int64 {
	ms := t.Sub(Epoch).Milliseconds()
	if ms < 0 {
		return 0
	}
	return ms << timeShift
}

// IDSpan is how far identifiers are apart that were drawn d apart.
func IDSpan(d time.Duration) int64 { return d.Milliseconds() << timeShift }

// The kinds of global identifiers, as they stand before the underscore.
const (
	KindPlayer       = "player"
	KindFeed         = "feed"
	KindComment      = "comment"
	KindLike         = "like"
	KindMessage      = "message"
	KindReport       = "report"
	KindConversation = "conversation"
)

// LikeKey identifies a like for the outside: there is one like per feed and player.
type LikeKey struct {
	Feed   FeedID
	Player PlayerID
}

// ConversationKey identifies a conversation for the outside, as the first of its two players sees it.
type ConversationKey struct {
	Player PlayerID
	Peer   PlayerID
}

// String is the global id, e.g. player_0123456789a.
func (id PlayerID) String() string { return KindPlayer + "_" + encodeID(int64(id)) }

// String is the global id, e.g. feed_0123456789a.
func (id FeedID) String() string { return KindFeed + "_" + encodeID(int64(id)) }

// String is the global id, e.g. comment_0123456789a.
func (id CommentID) String() string { return KindComment + "_" + encodeID(int64(id)) }

// String is the global id, e.g. message_0123456789a.
func (id MessageID) String() string { return KindMessage + "_" + encodeID(int64(id)) }

// String is the global id: like_, the feed's part, the player's part.
func (k LikeKey) String() string {
	return KindLike + "_" + encodeID(int64(k.Feed)) + encodeID(int64(k.Player))
}

// String is the global id: conversation_, the player's part, the peer's part.
func (k ConversationKey) String() string {
	return KindConversation + "_" + encodeID(int64(k.Player)) + encodeID(int64(k.Peer))
}

// MarshalGQL writes the global id.
func (id PlayerID) MarshalGQL(w io.Writer) { writeQuoted(w, id.String()) }

// MarshalGQL writes the global id.
func (id FeedID) MarshalGQL(w io.Writer) { writeQuoted(w, id.String()) }

// MarshalGQL writes the global id.
func (id CommentID) MarshalGQL(w io.Writer) { writeQuoted(w, id.String()) }

// MarshalGQL writes the global id.
func (id MessageID) MarshalGQL(w io.Writer) { writeQuoted(w, id.String()) }

// MarshalGQL writes the global id.
func (k ConversationKey) MarshalGQL(w io.Writer) { writeQuoted(w, k.String()) }

// MarshalGQL writes the global id.
func (k LikeKey) MarshalGQL(w io.Writer) { writeQuoted(w, k.String()) }

// UnmarshalGQL reads the global id.
func (id *PlayerID) UnmarshalGQL(v any) (err error) {
	s, _ := v.(string)
	*id, err = ParsePlayerID(s)
	return err
}

// UnmarshalGQL reads the global id.
func (id *FeedID) UnmarshalGQL(v any) (err error) {
	s, _ := v.(string)
	*id, err = ParseFeedID(s)
	return err
}

// UnmarshalGQL reads the global id.
func (id *CommentID) UnmarshalGQL(v any) (err error) {
	s, _ := v.(string)
	*id, err = ParseCommentID(s)
	return err
}

// UnmarshalGQL reads the global id.
func (id *MessageID) UnmarshalGQL(v any) (err error) {
	s, _ := v.(string)
	*id, err = ParseMessageID(s)
	return err
}

// UnmarshalGQL reads the global id.
func (k *ConversationKey) UnmarshalGQL(v any) (err error) {
	s, _ := v.(string)
	*k, err = ParseConversationKey(s)
	return err
}

// UnmarshalGQL reads the global id.
func (k *LikeKey) UnmarshalGQL(v any) (err error) {
	s, _ := v.(string)
	*k, err = ParseLikeKey(s)
	return err
}

func writeQuoted(w io.Writer, s string) { _, _ = io.WriteString(w, strconv.Quote(s)) }

// KindOf tells the kind of a global id by its prefix, whether or not the rest is well formed;
// empty when it has none.
func KindOf(id string) string {
	kind, _, ok := strings.Cut(id, "_")
	if !ok {
		return ""
	}
	return kind
}

// ParsePlayerID reads a player's global id. A malformed one is an error with code INVALID.
func ParsePlayerID(s string) (PlayerID, error) {
	id, err := parseID(KindPlayer, s)
	return PlayerID(id), err
}

// ParseFeedID reads a feed's global id. A malformed one is an error with code INVALID.
func ParseFeedID(s string) (FeedID, error) {
	id, err := parseID(KindFeed, s)
	return FeedID(id), err
}

// ParseCommentID reads a comment's global id. A malformed one is an error with code INVALID.
func ParseCommentID(s string) (CommentID, error) {
	id, err := parseID(KindComment, s)
	return CommentID(id), err
}

// ParseMessageID reads a message's global id. A malformed one is an error with code INVALID.
func ParseMessageID(s string) (MessageID, error) {
	id, err := parseID(KindMessage, s)
	return MessageID(id), err
}

// ParseConversationKey reads a conversation's global id. A malformed one is an error with code INVALID.
func ParseConversationKey(s string) (ConversationKey, error) {
	player, peer, err := parsePair(KindConversation, s)
	return ConversationKey{Player: PlayerID(player), Peer: PlayerID(peer)}, err
}

// ParseLikeKey reads a like's global id. A malformed one is an error with code INVALID.
func ParseLikeKey(s string) (LikeKey, error) {
	feed, player, err := parsePair(KindLike, s)
	return LikeKey{Feed: FeedID(feed), Player: PlayerID(player)}, err
}

// parsePair reads a global id of two parts.
func parsePair(kind, s string) (first, second int64, err error) {
	body, ok := strings.CutPrefix(s, kind+"_")
	if ok && len(body) == 2*idLength {
		first, okFirst := decodeID(body[:idLength])
		second, okSecond := decodeID(body[idLength:])
		if okFirst && okSecond {
			return first, second, nil
		}
	}
	return 0, 0, malformedID(kind)
}

func parseID(kind, s string) (int64, error) {
	if body, ok := strings.CutPrefix(s, kind+"_"); ok {
		if id, ok := decodeID(body); ok {
			return id, nil
		}
	}
	return 0, malformedID(kind)
}

func malformedID(kind string) error {
	return &Error{Code: CodeInvalid, Message: fmt.Sprintf("This is not the id of a %s.", kind)}
}

// Global ids are 11 digits of base 32 over a scrambled number. Scrambling is not secrecy: it keeps
// clients from reading meaning into ids, and the ids of players from being counted through.
const (
	idLength = 11
	idDigits = "0123456789abcdefghjkmnpqrstvwxyz"
	// Two odd factors and their inverses modulo 2^53.
	mulA, invA = 0x073593cc9e2d51, 0x0d13c5dee13bb1
	mulB, invB = 0x1667b19e3779f9, 0x09f4c41d6df849
)

func encodeID(id int64) string {
	x := scramble(uint64(id))
	var b [idLength]byte
	for i := idLength - 1; i >= 0; i-- {
		b[i] = idDigits[x&31]
		x >>= 5
	}
	return string(b[:])
}

func decodeID(s string) (int64, bool) {
	if len(s) != idLength {
		return 0, false
	}
	var x uint64
	for i := range len(s) {
		d := strings.IndexByte(idDigits, s[i])
		if d < 0 {
			return 0, false
		}
		x = x<<5 | uint64(d)
	}
	if x > MaxID {
		return 0, false
	}
	id := unscramble(x)
	return int64(id), id > 0
}
