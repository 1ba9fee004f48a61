package service

import (
	"context"
	"maps"
	"strings"
	"unicode/utf8"

	"circle/internal/social"
)

// Moderation takes reports, and lets moderators deal with them and hide feeds.
type Moderation struct {
	*writer
	store    ReportStore
	feeds    *Feeds
	comments *Comments
	messages *Messages
}

// Report tells moderators of something that the viewer sees. While an earlier report of the same thing by the same
// player is open, nothing is added. Errors: NOT_FOUND and SELF_REFERENCE at id, REQUIRED and TOO_LONG at reason.
func (m *Moderation) Report(ctx context.Context, viewer social.Viewer, target social.Target, reason string) error {
	if err := viewer.Require(); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(reason) == "":
		return social.Fail(social.CodeRequired, "A report needs a reason.", "reason")
	case utf8.RuneCountInString(reason) > social.MaxReasonLength:
		return social.Fail(social.CodeTooLong, "A reason has at most 1,000 characters.", "reason")
	case target == social.Target{Kind: social.TargetPlayer, ID: int64(viewer.Player)}:
		return social.Fail(social.CodeSelfReference, "That is yourself.", "id")
	}
	seen, err := m.sees(ctx, viewer, target)
	if err != nil {
		return err
	}
	if !seen {
		return social.NotFound("id")
	}
	id, err := nextID(ctx, m.ids)
	if err != nil {
		return err
	}
	return m.do(ctx, func(tx Tx) error {
		return tx.InsertReport(ctx, social.Report{ID: social.ReportID(id), Reporter: viewer.Player, Target: target, Reason: reason})
	})
}

// sees says whether the viewer sees a thing.
func (m *Moderation) sees(ctx context.Context, viewer social.Viewer, t social.Target) (bool, error) {
	switch t.Kind {
	case social.TargetFeed:
		found, err := m.feeds.Visible(ctx, viewer, []social.FeedID{social.FeedID(t.ID)})
		return len(found) > 0, err
	case social.TargetComment:
		found, _, err := m.comments.ByIDs(ctx, viewer, []social.CommentID{social.CommentID(t.ID)})
		comment := found[social.CommentID(t.ID)]
		return comment != nil && !comment.Deleted, err
	case social.TargetMessage:
		found, _, err := m.messages.Visible(ctx, viewer, []social.MessageID{social.MessageID(t.ID)})
		return len(found) > 0, err
	}
	found, err := m.feeds.relations.Known(ctx, viewer, []social.PlayerID{social.PlayerID(t.ID)})
	return len(found.Players) > 0, err
}

// Reports reads a piece of all reports, newest first. Error: FORBIDDEN for all but moderators.
func (m *Moderation) Reports(ctx context.Context, viewer social.Viewer, args social.PageArgs) (social.Page[*social.Report], error) {
	if err := viewer.RequireRole(social.RoleModerator); err != nil {
		return social.Page[*social.Report]{}, err
	}
	found, err := m.store.Reports(ctx, args.Below(), args.First+1)
	return social.Cut(found, args.First), err
}

// ByIDs reads reports; for all but moderators there are none.
func (m *Moderation) ByIDs(ctx context.Context, viewer social.Viewer, ids []social.ReportID) (map[social.ReportID]*social.Report, error) {
	if viewer.RequireRole(social.RoleModerator) != nil {
		return nil, nil
	}
	return m.store.ReportsByIDs(ctx, ids)
}

// Resolve closes a report; to close one that is closed changes nothing. Errors: NOT_FOUND, and FORBIDDEN for all but
// moderators.
func (m *Moderation) Resolve(ctx context.Context, viewer social.Viewer, id social.ReportID) (*social.Report, error) {
	if err := viewer.RequireRole(social.RoleModerator); err != nil {
		return nil, err
	}
	if err := m.do(ctx, func(tx Tx) error { return tx.CloseReport(ctx, id, viewer.Player) }); err != nil {
		return nil, err
	}
	found, err := m.store.ReportsByIDs(ctx, []social.ReportID{id})
	if err == nil && found[id] == nil {
		err = social.NotFound("reportId")
	}
	return found[id], err
}

// Hide hides a feed from all but its author and moderators. To hide a hidden one changes nothing. Errors: NOT_FOUND,
// and FORBIDDEN for all but moderators.
func (m *Moderation) Hide(ctx context.Context, viewer social.Viewer, id social.FeedID) (*social.Feed, error) {
	return m.setHidden(ctx, viewer, id, true)
}

// Unhide shows a hidden feed again to all who may see it. Errors: those of Hide.
func (m *Moderation) Unhide(ctx context.Context, viewer social.Viewer, id social.FeedID) (*social.Feed, error) {
	return m.setHidden(ctx, viewer, id, false)
}

// setHidden tells of the change in the author's name, so that it comes behind what became of the feed before.
func (m *Moderation) setHidden(ctx context.Context, viewer social.Viewer, id social.FeedID, hidden bool) (*social.Feed, error) {
	if err := viewer.RequireRole(social.RoleModerator); err != nil {
		return nil, err
	}
	var feed *social.Feed
	err := m.do(ctx, func(tx Tx) (err error) {
		if feed, err = tx.LockFeed(ctx, id); err != nil {
			return err
		}
		if feed == nil || feed.Deleted {
			return social.NotFound("feedId")
		}
		if feed.Hidden == hidden {
			return nil
		}
		version, err := nextID(ctx, m.ids)
		if err != nil {
			return err
		}
		feed.Hidden, feed.Version = hidden, max(version, feed.Version+1)
		if err := tx.SetHidden(ctx, id, hidden, feed.Version); err != nil {
			return err
		}
		kind := social.EventFeedShown
		if hidden {
			kind = social.EventFeed
		}
		return tx.Append(ctx, social.Event{Kind: kind, Actor: feed.AuthorID, Subject: int64(id), Object: feed.Version})
	})
	if err != nil {
		return nil, err
	}
	return feed, nil
}

// Content is what reports name, with the feeds of comments among the feeds.
type Content struct {
	Feeds    map[social.FeedID]*social.Feed
	Comments map[social.CommentID]*social.Comment
	Messages map[social.MessageID]*social.Message
	Players  map[social.PlayerID]*social.Player
}

// Content reads what was reported, whoever may see it, for moderators must judge it; for others there is none. What is
// gone is absent.
func (m *Moderation) Content(ctx context.Context, viewer social.Viewer, targets []social.Target) (c Content, err error) {
	if viewer.RequireRole(social.RoleModerator) != nil {
		return c, nil
	}
	var feeds []social.FeedID
	var comments []social.CommentID
	var messages []social.MessageID
	var players []social.PlayerID
	for _, t := range targets {
		switch t.Kind {
		case social.TargetFeed:
			feeds = append(feeds, social.FeedID(t.ID))
		case social.TargetComment:
			comments = append(comments, social.CommentID(t.ID))
		case social.TargetMessage:
			messages = append(messages, social.MessageID(t.ID))
		case social.TargetPlayer:
			players = append(players, social.PlayerID(t.ID))
		}
	}
	if c.Comments, err = m.comments.comments.Get(ctx, comments); err != nil {
		return c, err
	}
	maps.DeleteFunc(c.Comments, func(_ social.CommentID, comment *social.Comment) bool { return !comment.Listed() })
	for _, comment := range c.Comments {
		feeds = append(feeds, comment.FeedID)
	}
	if c.Feeds, err = m.feeds.heads.Get(ctx, unique(feeds)); err != nil {
		return c, err
	}
	maps.DeleteFunc(c.Feeds, func(_ social.FeedID, feed *social.Feed) bool { return feed.Deleted })
	if c.Messages, err = m.messages.messages.Get(ctx, messages); err != nil {
		return c, err
	}
	maps.DeleteFunc(c.Messages, func(id social.MessageID, _ *social.Message) bool { return id < m.messages.oldest() })
	c.Players, err = m.feeds.players.Get(ctx, players)
	return c, err
}
