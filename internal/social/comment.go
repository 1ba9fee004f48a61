package social

import "time"

// MaxCommentLength is how many characters a comment has at most.
const MaxCommentLength = 2000

// Comment is a comment on a feed, which stands at the head of a thread, or an answer in such a thread.
type Comment struct {
	ID     CommentID
	FeedID FeedID
	// AuthorID is 0 once the author is erased.
	AuthorID PlayerID
	// RootID is the comment at the head of the thread, ReplyToID the one that is answered; both are 0
	// for a head.
	RootID, ReplyToID CommentID
	// Content is empty for a deleted comment.
	Content string
	// Deleted marks a tombstone. One that is Listed is shown without its content.
	Deleted bool
	// ReplyCount counts the answers in the thread of a head, without deleted ones.
	ReplyCount int
	// Version grows with each change, also of ReplyCount.
	Version int64
}

// CreatedAt says when the comment was made.
func (c *Comment) CreatedAt() time.Time { return c.ID.Time() }

// Head says that the comment is on the feed itself.
func (c *Comment) Head() bool { return c.RootID == 0 }

// Listed says that the comment stands in its list: a head does even when it is deleted, as long as
// answers hang on it.
func (c *Comment) Listed() bool { return !c.Deleted || c.Head() && c.ReplyCount > 0 }

// Thread names a list of comments, oldest first: the answers below Head, or the heads of a feed when
// Head is 0.
type Thread struct {
	Feed FeedID
	Head CommentID
}

// ThreadAsk asks a store for at most Limit comments of a list, from behind the id After.
type ThreadAsk struct {
	Thread
	After int64
	Limit int
}
