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
)

// list names one list: its kind, whose it is, and, where the order is the viewer's own, for whom.
type list struct {
	kind   listKind
	owner  int64
	viewer social.PlayerID
}

// A cursor is version, kind, part, key and the first bytes of an HMAC over these and the list.
const (
	cursorVersion = 1
	cursorHead    = 3 + 8
	cursorMAC     = 8
	cursorSize    = cursorHead + cursorMAC
)

// Cursors writes and reads cursors.
type Cursors struct{ key []byte }

// NewCursors makes cursors that hold under the given secret key only.
func NewCursors(key []byte) Cursors { return Cursors{key: key} }

func (c Cursors) encode(l list, p social.Position) string {
	var b [cursorSize]byte
	b[0], b[1], b[2] = cursorVersion, byte(l.kind), p.Part
	binary.BigEndian.PutUint64(b[3:], uint64(p.Key))
	copy(b[cursorHead:], c.mac(b[:cursorHead], l))
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// decode reads a cursor of the given list; one of another list, or a changed one, is BAD_USER_INPUT.
func (c Cursors) decode(l list, cursor string) (*social.Position, error) {
	var b [cursorSize]byte
	if len(cursor) != base64.RawURLEncoding.EncodedLen(cursorSize) {
		return nil, errCursor()
	}
	if _, err := base64.RawURLEncoding.Strict().Decode(b[:], []byte(cursor)); err != nil {
		return nil, errCursor()
	}
	if b[0] != cursorVersion || b[1] != byte(l.kind) ||
		subtle.ConstantTimeCompare(b[cursorHead:], c.mac(b[:cursorHead], l)) == 0 {
		return nil, errCursor()
	}
	return &social.Position{Part: b[2], Key: int64(binary.BigEndian.Uint64(b[3:]))}, nil
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
