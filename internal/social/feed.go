package social

import (
	"io"
	"time"
)

// Limits of feeds.
const (
	MaxContentLength     = 100_000
	ExcerptGraphemes     = 140
	MaxExcerptBytes      = 2048
	MaxSummaryLength     = 1000
	MaxIdempotencyLength = 255
)

// Visibility says who may see a feed. It is fixed at creation.
type Visibility uint8

// Visibilities, as they are stored; 0 is none of them.
const (
	Public Visibility = iota + 1
	Fans
	Friends
	Private
)

var visibilityNames = [...]string{"", "PUBLIC", "FANS", "FRIENDS", "PRIVATE"}

// String is the visibility's name in the contract.
func (v Visibility) String() string {
	if int(v) < len(visibilityNames) {
		return visibilityNames[v]
	}
	return ""
}

// MarshalGQL writes the visibility as an enum value.
func (v Visibility) MarshalGQL(w io.Writer) { writeQuoted(w, v.String()) }

// UnmarshalGQL reads a visibility.
func (v *Visibility) UnmarshalGQL(in any) error {
	s, _ := in.(string)
	for i, name := range visibilityNames {
		if i > 0 && name == s {
			*v = Visibility(i)
			return nil
		}
	}
	return Fail(CodeBadUserInput, "There is no such visibility.")
}

// Visibilities lists all of them.
func Visibilities() []Visibility { return []Visibility{Public, Fans, Friends, Private} }

// Guard is what decides who may see a feed that is there.
type Guard struct {
	Author     PlayerID
	Visibility Visibility
	// Hidden says that moderators have hidden it.
	Hidden bool
}

// VisibleTo says whether the feed may be seen by the viewer, who stands to the author as relation says.
func (g Guard) VisibleTo(viewer Viewer, relation Relation) bool {
	switch {
	case viewer.Player != 0 && viewer.Player == g.Author:
		return true
	case relation.Apart() || g.Hidden && !viewer.SeesHidden():
		return false
	}
	switch g.Visibility {
	case Public:
		return true
	case Fans:
		return relation.Following
	case Friends:
		return relation.Friend()
	}
	return false
}

// Feed is the head of a post: all of it but the rest of a long text and the counters.
type Feed struct {
	ID         FeedID
	AuthorID   PlayerID
	Visibility Visibility
	// Excerpt holds the first graphemes of the text: ExcerptGraphemes of them, or fewer where the
	// text ends or MaxExcerptBytes would be passed.
	Excerpt string
	// Whole says that the excerpt is the whole text, so there is no body.
	Whole    bool
	EditedAt *time.Time
	// Deleted marks a tombstone: author and visibility stay, the text is gone.
	Deleted bool
	// Hidden says that moderators have hidden the feed.
	Hidden bool
	// Version grows with each change.
	Version int64
}

// Guard is what decides who may see the feed.
func (f *Feed) Guard() Guard { return Guard{f.AuthorID, f.Visibility, f.Hidden} }

// GuardBefore is what decided who might see the feed before it was deleted or hidden.
func (f *Feed) GuardBefore() Guard { return Guard{Author: f.AuthorID, Visibility: f.Visibility} }

// GoneFor says that the viewer, who might have seen the feed before, can't now: it is deleted, or hidden.
func (f *Feed) GoneFor(viewer Viewer) bool {
	return f.Deleted || f.Hidden && f.AuthorID != viewer.Player && !viewer.SeesHidden()
}

// CreatedAt says when the feed was made.
func (f *Feed) CreatedAt() time.Time { return f.ID.Time() }

// FeedBody is the whole of a long text.
type FeedBody struct {
	ID      FeedID
	Content string
	// Version is the head's version whose text this is.
	Version int64
}

// FeedCounters are a feed's counters, with what is needed to tell who may read them.
type FeedCounters struct {
	FeedID     FeedID
	AuthorID   PlayerID
	Visibility Visibility
	Deleted    bool
	Hidden     bool
	Likes      int
	// Comments counts comments and answers without deleted ones, Heads the comments in the feed's list.
	Comments int
	Heads    int
	Views    int
	// Version grows with each change.
	Version int64
}

// Guard is what decides who may read the counters.
func (c *FeedCounters) Guard() Guard { return Guard{c.AuthorID, c.Visibility, c.Hidden} }

// FeedReason says why a viewer sees a feed in a list.
type FeedReason string

// Reasons.
const (
	ReasonOwn      FeedReason = "OWN"
	ReasonFollowed FeedReason = "FOLLOWED"
	ReasonProfile  FeedReason = "PROFILE"
)

// MarshalGQL writes the reason as an enum value.
func (r FeedReason) MarshalGQL(w io.Writer) { writeQuoted(w, string(r)) }

// UnmarshalGQL is there because enums are bound both ways; no input holds a reason.
func (r *FeedReason) UnmarshalGQL(any) error {
	return Fail(CodeBadUserInput, "A reason can't be an input.")
}
