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

// ByIDs reads the comments that are there and that the viewer may see, with their authors; others are absent.
func (c *Comments) ByIDs(ctx context.Context, viewer social.Viewer, ids []social.CommentID) (map[social.CommentID]*social.Comment, social.People, error) {
	found, err := c.comments.Get(ctx, ids)
	if err != nil {
		return nil, social.People{}, err
	}
	feeds := make([]social.FeedID, 0, len(found))
	for _, comment := range found {
		feeds = append(feeds, comment.FeedID)
	}
	visible, err := c.feeds.Visible(ctx, viewer, unique(feeds))
	if err != nil {
		return nil, social.People{}, err
	}
	for id, comment := range found {
		if visible[comment.FeedID] == nil {
			delete(found, id)
		}
	}
	heads, err := c.comments.Get(ctx, absent(headsOf(found), found))
	if err != nil {
		return nil, social.People{}, err
	}
	people, err := c.hide(ctx, viewer, found, heads)
	return found, people, err
}

// headsOf names the heads of the threads that answers are in.
func headsOf(found map[social.CommentID]*social.Comment) []social.CommentID {
	var heads []social.CommentID
	for _, comment := range found {
		if !comment.Head() {
			heads = append(heads, comment.RootID)
		}
	}
	return heads
}

// hide takes out what the viewer may not see of comments on feeds that he sees: those of players who block him or
// whom he blocks, and the answers in the threads of such, which nobody would find their way to. Heads are the heads
// of answers' threads as far as it is not known that the viewer sees them. Nothing else decides who sees a comment.
// Who wrote them is read along.
func (c *Comments) hide(ctx context.Context, viewer social.Viewer, found, heads map[social.CommentID]*social.Comment) (social.People, error) {
	authors := make([]social.PlayerID, 0, len(found))
	for _, some := range []map[social.CommentID]*social.Comment{found, heads} {
		for _, comment := range some {
			if comment.AuthorID != 0 {
				authors = append(authors, comment.AuthorID)
			}
		}
	}
	people, err := c.feeds.relations.People(ctx, viewer, unique(authors))
	if err != nil {
		return people, err
	}
	apart := func(of *social.Comment) bool { return of != nil && people.Relations[of.AuthorID].Apart() }
	var gone []social.CommentID
	for id, comment := range found {
		if !comment.Listed() || apart(comment) || apart(heads[comment.RootID]) || apart(found[comment.RootID]) {
			gone = append(gone, id)
		}
	}
	for _, id := range gone {
		delete(found, id)
	}
	return people, nil
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
