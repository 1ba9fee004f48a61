package service

import (
	"context"
	"time"

	"circle/internal/social"
)

// Comments reads comments; commentpages.go reads lists of them, commentwrites.go writes them.
type Comments struct {
	*writer
	store    CommentStore
	feeds    *Feeds
	lists    *lists
	comments *Entity[social.CommentID, *social.Comment]
	now      func() time.Time
}

// ByIDs reads the comments that are there and that the viewer may see; others are absent.
func (c *Comments) ByIDs(ctx context.Context, viewer social.Viewer, ids []social.CommentID) (map[social.CommentID]*social.Comment, error) {
	found, err := c.comments.Get(ctx, ids)
	if err != nil {
		return nil, err
	}
	feeds := make([]social.FeedID, 0, len(found))
	for _, comment := range found {
		feeds = append(feeds, comment.FeedID)
	}
	visible, err := c.feeds.Visible(ctx, viewer, unique(feeds))
	if err != nil {
		return nil, err
	}
	for id, comment := range found {
		if visible[comment.FeedID] == nil {
			delete(found, id)
		}
	}
	return found, c.hide(ctx, viewer, found)
}

// hide takes out what the viewer may not see of comments on feeds that he sees. Nothing else decides
// who sees a comment.
func (c *Comments) hide(_ context.Context, _ social.Viewer, found map[social.CommentID]*social.Comment) error {
	for id, comment := range found {
		if !comment.Listed() {
			delete(found, id)
		}
	}
	return nil
}

// Refresh makes sure that Redis says nothing older of the comments, and of the heads of their threads,
// than the relational store says now.
func (c *Comments) Refresh(ctx context.Context, ids []social.CommentID) error {
	rows, err := c.comments.truth.Load(ctx, ids)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if !row.Head() {
			ids = append(ids, row.RootID)
		}
	}
	return c.comments.Refresh(ctx, ids)
}
