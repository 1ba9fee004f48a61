package service

import (
	"cmp"
	"context"
	"strings"
	"unicode/utf8"

	"circle/internal/social"
)

// NewComment is what a comment is made of.
type NewComment struct {
	Feed social.FeedID
	// ReplyTo is the comment that it answers, 0 for a comment on the feed.
	ReplyTo social.CommentID
	Content string
	// Key is the idempotency key, nil without one.
	Key *string
}

// Create comments on a feed that the viewer may see, or answers a comment on it. Errors: REQUIRED and
// TOO_LONG at content and at idempotencyKey, NOT_FOUND at feedId and at replyToId, IDEMPOTENCY_CONFLICT,
// and NOT_FOUND for a repeated request whose comment was deleted.
func (c *Comments) Create(ctx context.Context, viewer social.Viewer, in NewComment) (*social.Comment, error) {
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	if err := checkComment(in.Content); err != nil {
		return nil, err
	}
	if err := checkKey(in.Key); err != nil {
		return nil, err
	}
	visible, err := c.feeds.Visible(ctx, viewer, []social.FeedID{in.Feed})
	if err != nil {
		return nil, err
	}
	if visible[in.Feed] == nil {
		return nil, social.NotFound("feedId")
	}
	answered, err := c.answered(ctx, viewer, in)
	if err != nil {
		return nil, err
	}
	return create(
		func() (*social.Comment, social.CommentID, error) { return c.insert(ctx, viewer, in, answered) },
		func(id social.CommentID) (*social.Comment, error) { return c.repeated(ctx, viewer, id) },
	)
}

// answered reads the comment that is to be answered; nil when there is none.
func (c *Comments) answered(ctx context.Context, viewer social.Viewer, in NewComment) (*social.Comment, error) {
	if in.ReplyTo == 0 {
		return nil, nil
	}
	answered, err := c.standing(ctx, viewer, in.ReplyTo)
	if err != nil || answered == nil || answered.FeedID != in.Feed {
		return nil, err
	}
	return answered, nil
}

// standing reads a comment on a feed that the viewer sees from the relational store; nil where it is not there for
// the viewer, or emptied.
func (c *Comments) standing(ctx context.Context, viewer social.Viewer, id social.CommentID) (*social.Comment, error) {
	found, err := c.comments.truth.Load(ctx, []social.CommentID{id})
	if err != nil {
		return nil, err
	}
	heads, err := c.comments.truth.Load(ctx, headsOf(found))
	if err != nil {
		return nil, err
	}
	if _, err := c.hide(ctx, viewer, found, heads); err != nil {
		return nil, err
	}
	if comment := found[id]; comment != nil && !comment.Deleted {
		return comment, nil
	}
	return nil, nil
}

// insert writes a comment, or tells which one an earlier request with the same key wrote. The rows that
// many want at once, those of the head and of the feed's counters, are locked last.
func (c *Comments) insert(ctx context.Context, viewer social.Viewer, in NewComment, answered *social.Comment) (comment *social.Comment, repeated social.CommentID, err error) {
	id, err := nextID(ctx, c.ids)
	if err != nil {
		return nil, 0, err
	}
	comment = &social.Comment{
		ID: social.CommentID(id), FeedID: in.Feed, AuthorID: viewer.Player, ReplyToID: in.ReplyTo, Content: in.Content, Version: id,
	}
	if answered != nil {
		comment.RootID = cmp.Or(answered.RootID, answered.ID)
	}
	err = c.do(ctx, func(tx Tx) error {
		noted, err := recall(ctx, tx, in.Key, Remembered{
			Player: viewer.Player, Operation: "createComment", Hash: in.hash(), Result: id, At: c.now(),
		})
		if repeated = social.CommentID(noted); err != nil || noted != 0 {
			return err
		}
		if in.ReplyTo != 0 && answered == nil {
			return social.NotFound("replyToId")
		}
		if err := tx.InsertComment(ctx, *comment); err != nil {
			return err
		}
		if err := c.wrote(ctx, tx, viewer, comment); err != nil {
			return err
		}
		return c.add(ctx, tx, comment)
	})
	return comment, repeated, err
}

// add counts a new comment. That the answered one is there was read before; that its thread still is, the
// count of its answers tells.
func (c *Comments) add(ctx context.Context, tx Tx, comment *social.Comment) error {
	if comment.Head() {
		return c.count(ctx, tx, comment, 1, 1, "feedId")
	}
	ok, err := tx.AddReply(ctx, comment.RootID, comment.ReplyToID == comment.RootID, comment.Version)
	if err != nil {
		return err
	}
	if !ok {
		return social.NotFound("replyToId")
	}
	return c.count(ctx, tx, comment, 1, 0, "feedId")
}

// count changes the counters of a comment's feed. Field is at fault when the feed is gone.
func (c *Comments) count(ctx context.Context, tx Tx, of *social.Comment, comments, heads int, field string) error {
	ok, err := tx.AddComments(ctx, of.FeedID, comments, heads, of.Version)
	if err == nil && !ok {
		return social.NotFound(field)
	}
	return err
}

func (c *Comments) wrote(ctx context.Context, tx Tx, viewer social.Viewer, comment *social.Comment) error {
	return tx.Append(ctx, social.Event{
		Kind: social.EventComment, Actor: viewer.Player, Subject: int64(comment.FeedID), Object: int64(comment.ID),
	})
}

func (c *Comments) repeated(ctx context.Context, viewer social.Viewer, id social.CommentID) (*social.Comment, error) {
	comment, err := c.standing(ctx, viewer, id)
	if err == nil && comment == nil {
		err = social.NotFound()
	}
	return comment, err
}

func (in NewComment) hash() [32]byte {
	replyTo := ""
	if in.ReplyTo != 0 {
		replyTo = in.ReplyTo.String()
	}
	return inputHash("createComment", in.Feed.String(), replyTo, in.Content)
}

// Delete deletes one of the viewer's comments and gives back what is left of it: a head that has answers
// stays without its content, until the last of them goes; of others nothing is left. Error: NOT_FOUND.
func (c *Comments) Delete(ctx context.Context, viewer social.Viewer, id social.CommentID) (*social.Comment, error) {
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	found, _, err := c.ByIDs(ctx, viewer, []social.CommentID{id})
	if err != nil {
		return nil, err
	}
	if found[id] == nil {
		return nil, social.NotFound("commentId")
	}
	var left *social.Comment
	err = c.do(ctx, func(tx Tx) error {
		comment, err := c.lockOwn(ctx, tx, viewer, id)
		if err != nil {
			return err
		}
		comment.Deleted, comment.Content = true, ""
		if err := c.wrote(ctx, tx, viewer, comment); err != nil {
			return err
		}
		if err := c.remove(ctx, tx, comment); err != nil {
			return err
		}
		if left = nil; comment.Listed() {
			left = comment
		}
		return nil
	})
	return left, err
}

// lockOwn locks one of the viewer's comments and gives it its next version.
func (c *Comments) lockOwn(ctx context.Context, tx Tx, viewer social.Viewer, id social.CommentID) (*social.Comment, error) {
	comment, err := tx.LockComment(ctx, id)
	if err != nil {
		return nil, err
	}
	if comment == nil || comment.Deleted || comment.AuthorID != viewer.Player {
		return nil, social.NotFound("commentId")
	}
	version, err := nextID(ctx, c.ids)
	comment.Version = max(version, comment.Version+1)
	return comment, err
}

// remove writes a comment that has become a tombstone, and counts it out. An emptied head goes with the
// last answer below it.
func (c *Comments) remove(ctx context.Context, tx Tx, comment *social.Comment) error {
	heads := 0
	if comment.Head() && !comment.Listed() {
		heads = -1
	}
	if err := tx.SaveComment(ctx, *comment); err != nil {
		return err
	}
	if !comment.Head() {
		head, err := tx.LockComment(ctx, comment.RootID)
		if err != nil {
			return err
		}
		if head == nil {
			return social.NotFound("commentId")
		}
		head.ReplyCount--
		head.Version = max(comment.Version, head.Version+1)
		if !head.Listed() {
			heads = -1
		}
		if err := tx.SaveComment(ctx, *head); err != nil {
			return err
		}
	}
	return c.count(ctx, tx, comment, -1, heads, "commentId")
}

func checkComment(content string) error {
	if strings.TrimSpace(content) == "" {
		return social.Fail(social.CodeRequired, "A comment needs a text.", "content")
	}
	if utf8.RuneCountInString(content) > social.MaxCommentLength {
		return social.Fail(social.CodeTooLong, "A comment has at most 2,000 characters.", "content")
	}
	return nil
}
