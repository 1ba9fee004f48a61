package fanout

import (
	"context"
	"fmt"
	"slices"

	"circle/internal/social"
)

// Comments reads comments on the primary; unknown ones are absent.
type Comments interface {
	Load(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error)
}

// CommentFar is the far stage of the events of comments: whoever listens to a feed is told what became of
// the comment. It is for logs alone, so a replay does nothing.
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
	return announce(ctx, f.Logs, social.FeedID(event.Subject), entry)
}

// announce writes an entry into the log of a feed if somebody listens to it.
func announce(ctx context.Context, logs Logs, feed social.FeedID, entry social.LiveEntry) error {
	if _, err := logs.Append(ctx, []social.LogID{{Kind: social.LogFeed, Of: int64(feed)}}, entry); err != nil {
		return fmt.Errorf("tell of a feed: %w", err)
	}
	return nil
}

// tellCounters tells whoever listens to the feeds of new likes and comments that their counters have changed. That
// is a part of the near stage, and not of the far one like all else that is told: there a like would be
// claimed and marked once more, two writes, mostly for nobody.
func (n *Near) tellCounters(ctx context.Context, events []social.Event) error {
	var logs []social.LogID
	for _, e := range events {
		log := social.LogID{Kind: social.LogFeed, Of: e.Subject}
		if (e.Kind == social.EventLike || e.Kind == social.EventComment) && !e.Replay && !slices.Contains(logs, log) {
			logs = append(logs, log)
		}
	}
	if len(logs) == 0 {
		return nil
	}
	if _, err := n.Logs.Append(ctx, logs, social.LiveEntry{Kind: social.LiveCounters}); err != nil {
		return fmt.Errorf("tell of counters: %w", err)
	}
	return nil
}
