package social

import "time"

// ListAsk asks a store for at most Limit entries of the list of Of, from below the key Below.
type ListAsk[K comparable] struct {
	Of    K
	Below int64
	Limit int
}

// AuthorFeedsAsk asks a store for feeds of an author that have one of the visibilities; for hidden ones too if
// Hidden is set.
type AuthorFeedsAsk struct {
	ListAsk[PlayerID]
	Visibilities []Visibility
	Hidden       bool
}

// LikerPart chooses among the likers of a feed.
type LikerPart uint8

// The parts of a like list.
const (
	AllLikers LikerPart = iota
	// FriendLikers are the viewer's friends.
	FriendLikers
	// OtherLikers are all but the viewer's friends.
	OtherLikers
)

// Remembered is the result of an operation under an idempotency key.
type Remembered struct {
	Player    PlayerID
	Operation string
	Key       string
	// Hash is the SHA-256 of the operation's normalised input.
	Hash   [32]byte
	Result int64
	At     time.Time
}
