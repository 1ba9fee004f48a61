package graph

import (
	"context"

	"circle/graph/model"
	"circle/internal/social"
)

func (r subscriptionResolver) FeedUpdated(ctx context.Context, feedID string) (<-chan model.FeedEvent, error) {
	id, err := social.ParseFeedID(feedID)
	if err != nil {
		return nil, badArgument(ctx, err, "feedId")
	}
	f := &feedEvents{Resolver: r.Resolver, viewer: social.ViewerFrom(ctx), id: id}
	feed, err := f.Services.Feeds.Live(ctx, f.viewer, id)
	if err != nil {
		return nil, err
	}
	if feed == nil || feed.GoneFor(f.viewer) {
		return nil, social.NotFound()
	}
	return stream[model.FeedEvent]{
		cursors: r.Cursors,
		list:    list{kind: listFeedLive, owner: int64(id)},
		event:   f.event,
		last: func(event model.FeedEvent) bool {
			_, removed := event.(*model.FeedRemoved)
			return removed
		},
	}.open(ctx, r.Live, social.LogID{Kind: social.LogFeed, Of: int64(id)}, nil)
}

// feedEvents is what a viewer is told of a feed. It is for one stream.
type feedEvents struct {
	*Resolver
	viewer social.Viewer
	id     social.FeedID
	// told is the version of the counters that were told last.
	told int64
}

// event fails when the viewer may not see the feed any more, which ends the stream.
func (f *feedEvents) event(ctx context.Context, cursor string, entry social.LiveEntry) (model.FeedEvent, error) {
	feed, err := f.Services.Feeds.Live(ctx, f.viewer, f.id)
	if err != nil {
		return nil, err
	}
	if feed == nil {
		return nil, social.NotFound()
	}
	switch gone := feed.GoneFor(f.viewer); {
	case entry.Kind == social.LiveFeedRemoved && gone:
		return &model.FeedRemoved{Cursor: cursor, FeedID: f.id.String()}, nil
	case gone:
		return nil, nil
	case entry.Kind == social.LiveFeedEdited || entry.Kind == social.LiveFeedRemoved:
		return &model.FeedEdited{Cursor: cursor, Feed: feed}, nil
	case entry.Kind == social.LiveCounters:
		return f.counters(ctx, cursor)
	case entry.Kind == social.LiveCommentAdded:
		return f.comment(ctx, cursor, social.CommentID(entry.ID))
	case entry.Kind == social.LiveCommentRemoved:
		return &model.CommentRemoved{Cursor: cursor, CommentID: social.CommentID(entry.ID).String()}, nil
	}
	return nil, nil
}

func (f *feedEvents) counters(ctx context.Context, cursor string) (model.FeedEvent, error) {
	found, err := f.Services.Feeds.Counters(ctx, []social.FeedID{f.id})
	if err != nil || found[f.id] == nil || found[f.id].Version == f.told {
		return nil, err
	}
	f.told = found[f.id].Version
	return &model.FeedCountersChanged{Cursor: cursor, Counters: found[f.id]}, nil
}

// comment tells of a comment unless it has been deleted since.
func (f *feedEvents) comment(ctx context.Context, cursor string, id social.CommentID) (model.FeedEvent, error) {
	found, _, err := f.Services.Comments.ByIDs(ctx, f.viewer, []social.CommentID{id})
	if err != nil || found[id] == nil || found[id].Deleted {
		return nil, err
	}
	return &model.CommentAdded{Cursor: cursor, Comment: found[id]}, nil
}
