package graph

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"

	"circle/internal/social"
)

// listKind says of which kind of list a cursor is. The numbers are in cursors that clients hold.
type listKind uint8

const (
	listHome listKind = iota + 1
	listProfile
	listFollowing
	listFans
	listFriends
	listLikesFriendsFirst
	listLikesNewest
	listHomeLive
	listComments
	listReplies
	listInbox
	listConversations
	listMessages
	listInboxLive
	listFeedLive
	listBlocked
	listMuted
	listLikedFeeds
	listReports
)

// list names one list: its kind, whose it is, and, where the order is the viewer's own, for whom.
type list struct {
	kind   listKind
	owner  int64
	viewer social.PlayerID
}

// A cursor is version, kind, a place of a length that goes with the kind, and the first bytes of an
// HMAC over these and the list. The place in a connection is part and key, in a live stream the log's
// epoch and the sequence.
const (
	cursorVersion = 1
	cursorHead    = 2
	cursorMAC     = 8
)

// Cursors writes and reads cursors.
type Cursors struct{ key []byte }

// NewCursors makes cursors that hold under the given secret key only.
func NewCursors(key []byte) Cursors { return Cursors{key: key} }

func (c Cursors) encode(l list, p social.Position) string {
	return c.seal(l, binary.BigEndian.AppendUint64([]byte{p.Part}, uint64(p.Key)))
}

func (c Cursors) encodeLive(l list, p social.LogPlace) string {
	return c.seal(l, binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, p.Epoch), uint64(p.Seq)))
}

// decode reads a cursor of the given list; one of another list, or a changed one, is BAD_USER_INPUT.
func (c Cursors) decode(l list, cursor string) (*social.Position, error) {
	place, err := c.open(l, cursor, 9)
	if err != nil {
		return nil, err
	}
	return &social.Position{Part: place[0], Key: int64(binary.BigEndian.Uint64(place[1:]))}, nil
}

// decodeLive is decode for live streams.
func (c Cursors) decodeLive(l list, cursor string) (*social.LogPlace, error) {
	place, err := c.open(l, cursor, 16)
	if err != nil {
		return nil, err
	}
	return &social.LogPlace{Epoch: binary.BigEndian.Uint64(place), Seq: int64(binary.BigEndian.Uint64(place[8:]))}, nil
}

func (c Cursors) seal(l list, place []byte) string {
	head := append([]byte{cursorVersion, byte(l.kind)}, place...)
	return base64.RawURLEncoding.EncodeToString(append(head, c.mac(head, l)...))
}

// open gives the place, of the given length.
func (c Cursors) open(l list, cursor string, length int) ([]byte, error) {
	end := cursorHead + length
	if len(cursor) != base64.RawURLEncoding.EncodedLen(end+cursorMAC) {
		return nil, errCursor()
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || b[0] != cursorVersion || b[1] != byte(l.kind) || subtle.ConstantTimeCompare(b[end:], c.mac(b[:end], l)) == 0 {
		return nil, errCursor()
	}
	return b[cursorHead:end], nil
}

func (c Cursors) mac(head []byte, l list) []byte {
	var whose [16]byte
	binary.BigEndian.PutUint64(whose[:], uint64(l.owner))
	binary.BigEndian.PutUint64(whose[8:], uint64(l.viewer))
	h := hmac.New(sha256.New, c.key)
	h.Write(head)
	h.Write(whose[:])
	return h.Sum(nil)[:cursorMAC]
}

func errCursor() error {
	return social.Fail(social.CodeBadUserInput, "This is not a cursor of this list.")
}
