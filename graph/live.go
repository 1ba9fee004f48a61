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
	return stream[model.HomeFeedEvent]{
		cursors: r.Cursors,
		list:    list{kind: listHomeLive, owner: int64(viewer.Player)},
		event:   homeEvents{r.Resolver, viewer}.event,
	}.open(ctx, r.Live, social.LogID{Kind: social.LogHome, Of: int64(viewer.Player)}, since)
}

// stream makes the items of a live log into a subscription's events. E is a union that StreamStarted and
// StreamGap are of.
type stream[E any] struct {
	cursors Cursors
	// list is what the cursors of the stream belong to.
	list list
	// event is what the client is told of an entry, with the cursor behind it; no event for nothing. It
	// checks rights as they are now. An error ends the stream, since the client would miss the event
	// otherwise: with the last cursor it comes again.
	event func(ctx context.Context, cursor string, entry social.LiveEntry) (E, error)
	// last says that nothing follows an event; nil for a stream without an end.
	last func(event E) bool
}

// open begins to listen to a log.
func (s stream[E]) open(ctx context.Context, live Live, log social.LogID, since *string) (<-chan E, error) {
	var place *social.LogPlace
	if since != nil {
		var err error
		if place, err = s.cursors.decodeLive(s.list, *since); err != nil {
			return nil, badArgument(ctx, err, "since")
		}
	}
	next, err := live.Subscribe(ctx, log, place)
	if err != nil {
		return nil, err
	}
	events := make(chan E)
	go s.run(ctx, (&calm{next: next}).item, events)
	return events, nil
}

// run ends with ctx or with what next gives, and says why. It looks at an item only when the event before
// it has been sent: what a client that stalls is told in the end is as of then.
func (s stream[E]) run(ctx context.Context, next func(context.Context) (social.LiveItem, error), events chan<- E) {
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
		event, err := s.of(ctx, item)
		if err != nil {
			social.EndStream(ctx, err)
			return
		}
		if awaited = any(event) == nil; awaited {
			continue
		}
		select {
		case events <- event:
		case <-ctx.Done():
			return
		}
		if s.last != nil && s.last(event) {
			return
		}
	}
}

// of is what the client is told of an item; no event for nothing.
func (s stream[E]) of(ctx context.Context, item social.LiveItem) (E, error) {
	cursor := s.cursors.encodeLive(s.list, item.Place)
	switch item.Kind {
	case social.LiveStarted:
		return any(&model.StreamStarted{Cursor: cursor}).(E), nil
	case social.LiveGap:
		return any(&model.StreamGap{Cursor: cursor}).(E), nil
	}
	return s.event(ctx, cursor, item.Entry)
}

// homeEvents is what a viewer is told of feeds on the home page.
type homeEvents struct {
	*Resolver
	viewer social.Viewer
}

func (h homeEvents) event(ctx context.Context, cursor string, entry social.LiveEntry) (model.HomeFeedEvent, error) {
	id := social.FeedID(entry.ID)
	entries, err := h.Services.Home.Live(ctx, h.viewer, []social.FeedID{id})
	if err != nil {
		return nil, err
	}
	found, ok := entries[id]
	if !ok {
		return nil, nil
	}
	switch removed := found.Feed.GoneFor(h.viewer); {
	case entry.Kind == social.LiveFeedRemoved && removed:
		return &model.FeedRemoved{Cursor: cursor, FeedID: id.String()}, nil
	case entry.Kind == social.LiveFeedAdded && !removed:
		edge := h.feedEdge(list{kind: listHome, owner: int64(h.viewer.Player)}, found)
		return &model.FeedAdded{Cursor: cursor, Edge: edge}, nil
	case entry.Kind != social.LiveFeedAdded && !removed:
		return &model.FeedEdited{Cursor: cursor, Feed: found.Feed}, nil
	}
	return nil, nil
}
