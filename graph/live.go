package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"circle/graph/model"
	"circle/internal/social"
)

type subscriptionResolver struct{ *Resolver }

func (r subscriptionResolver) HomeFeedUpdated(ctx context.Context, since *string) (<-chan model.HomeFeedEvent, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	s := homeStream{Resolver: r.Resolver, viewer: viewer, list: list{kind: listHomeLive, owner: int64(viewer.Player)}}
	var place *social.LogPlace
	if since != nil {
		var err error
		if place, err = r.Cursors.decodeLive(s.list, *since); err != nil {
			return nil, badArgument(ctx, err, "since")
		}
	}
	next, err := r.Live.Subscribe(ctx, viewer.Player, place)
	if err != nil {
		return nil, err
	}
	events := make(chan model.HomeFeedEvent)
	go s.run(ctx, next, events)
	return events, nil
}

// homeStream makes a viewer's live items into events.
type homeStream struct {
	*Resolver
	viewer social.Viewer
	list   list
}

// run ends with ctx or with what next gives, and says why. It looks at an item only when the event before
// it has been sent: what a client that stalls is told in the end is as of then.
func (s homeStream) run(ctx context.Context, next func(context.Context) (social.LiveItem, error), events chan<- model.HomeFeedEvent) {
	defer close(events)
	defer func() {
		if caught := recover(); caught != nil {
			social.EndStream(ctx, graphql.GetOperationContext(ctx).Recover(ctx, caught))
		}
	}()
	for awaited := false; ; {
		item, err := next(ctx)
		if err != nil {
			social.EndStream(ctx, err)
			return
		}
		if !awaited {
			if err := turn(ctx); err != nil {
				return
			}
		}
		event, err := s.event(ctx, item)
		if err != nil {
			social.EndStream(ctx, err)
			return
		}
		if awaited = event == nil; awaited {
			continue
		}
		select {
		case events <- event:
		case <-ctx.Done():
			return
		}
	}
}

// event is what the viewer is told of an item; nil for nothing.
func (s homeStream) event(ctx context.Context, item social.LiveItem) (model.HomeFeedEvent, error) {
	cursor := s.Cursors.encodeLive(s.list, item.Place)
	switch item.Kind {
	case social.LiveStarted:
		return &model.StreamStarted{Cursor: cursor}, nil
	case social.LiveGap:
		return &model.StreamGap{Cursor: cursor}, nil
	}
	return s.feed(ctx, cursor, item.Entry)
}

// feed checks the viewer's rights as they are now. An event that can't be checked ends the stream, since the
// client would miss it otherwise: with the last cursor it comes again.
func (s homeStream) feed(ctx context.Context, cursor string, entry social.LiveEntry) (model.HomeFeedEvent, error) {
	id := social.FeedID(entry.ID)
	entries, err := s.Services.Home.Live(ctx, s.viewer, []social.FeedID{id})
	if err != nil {
		return nil, err
	}
	found, ok := entries[id]
	if !ok {
		return nil, nil
	}
	switch removed := found.Feed.Deleted; {
	case entry.Kind == social.LiveFeedRemoved:
		return &model.FeedRemoved{Cursor: cursor, FeedID: id.String()}, nil
	case entry.Kind == social.LiveFeedAdded && !removed:
		edge := s.feedEdge(list{kind: listHome, owner: int64(s.viewer.Player)}, found)
		return &model.FeedAdded{Cursor: cursor, Edge: edge}, nil
	case entry.Kind == social.LiveFeedEdited && !removed:
		return &model.FeedEdited{Cursor: cursor, Feed: found.Feed}, nil
	}
	return nil, nil
}
