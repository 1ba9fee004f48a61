package fanout

import (
	"context"
	"fmt"

	"circle/internal/social"
)

// Comments reads comments on the primary; unknown ones are absent.
type Comments interface {
	Load(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error)
}

// LikeFar is the far stage of the events of likes: whoever listens to a feed is told that its counters have
// changed. It is for logs alone, so a replay does nothing.
type LikeFar struct{ Logs Logs }

// Far runs the stage.
func (f *LikeFar) Far(ctx context.Context, event social.Event, _ []byte, _ func(context.Context, []byte) error) error {
	if event.Replay {
		return nil
	}
	return announce(ctx, f.Logs, social.FeedID(event.Subject), countersOf(event))
}

// CommentFar is the far stage of the events of comments: whoever listens to a feed is told what became of
// the comment and that the feed's counters have changed. It is for logs alone, so a replay does nothing.
type CommentFar struct {
	Comments Comments
	Logs     Logs
}

// Far runs the stage. The entry is the same however often the event runs: a comment is made and deleted
// once.
func (f *CommentFar) Far(ctx context.Context, event social.Event, _ []byte, _ func(context.Context, []byte) error) error {
	if event.Replay {
		return nil
	}
	id := social.CommentID(event.Object)
	found, err := f.Comments.Load(ctx, []social.CommentID{id})
	if err != nil {
		return fmt.Errorf("read a comment: %w", err)
	}
	entry := social.LiveEntry{Kind: social.LiveCommentAdded, ID: event.Object, Version: event.Object}
	if comment := found[id]; comment == nil || comment.Deleted {
		entry.Kind = social.LiveCommentRemoved
	}
	return announce(ctx, f.Logs, social.FeedID(event.Subject), entry, countersOf(event))
}

func countersOf(event social.Event) social.LiveEntry {
	return social.LiveEntry{Kind: social.LiveCounters, ID: event.Subject}
}

// announce writes entries into the log of a feed if somebody listens to it.
func announce(ctx context.Context, logs Logs, feed social.FeedID, entries ...social.LiveEntry) error {
	for _, entry := range entries {
		listening, err := logs.Append(ctx, []social.LogID{{Kind: social.LogFeed, Of: int64(feed)}}, entry)
		if err != nil {
			return fmt.Errorf("tell of a feed: %w", err)
		}
		if len(listening) == 0 {
			return nil
		}
	}
	return nil
}
