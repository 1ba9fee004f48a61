package social

import (
	"io"
	"time"
)

// Like is one player's like of one feed.
type Like struct {
	Key LikeKey
	// Order is the like's place in lists, the newest highest. A like taken back and given again
	// has a new one.
	Order LikeID
	// Friend says that the liker is the viewer's friend.
	Friend bool
}

// LikedAt says when the like was made.
func (l *Like) LikedAt() time.Time { return l.Order.Time() }

// LikeOrder says in which order likers are listed.
type LikeOrder uint8

// The orders of likers.
const (
	// FriendsFirst lists the viewer's friends first, newest first within each part.
	FriendsFirst LikeOrder = iota
	// Newest lists the newest like first.
	Newest
)

var likeOrderNames = [...]string{"FRIENDS_FIRST", "NEWEST"}

// MarshalGQL writes the order as an enum value.
func (o LikeOrder) MarshalGQL(w io.Writer) { writeQuoted(w, likeOrderNames[o]) }

// UnmarshalGQL reads an order.
func (o *LikeOrder) UnmarshalGQL(in any) error {
	s, _ := in.(string)
	for i, name := range likeOrderNames {
		if name == s {
			*o = LikeOrder(i)
			return nil
		}
	}
	return Fail(CodeBadUserInput, "There is no such order.")
}
