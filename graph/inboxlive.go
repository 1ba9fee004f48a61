package graph

import (
	"context"

	"circle/graph/model"
	"circle/internal/social"
)

func (r subscriptionResolver) InboxUpdated(ctx context.Context, since *string) (<-chan model.InboxEvent, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	return stream[model.InboxEvent]{
		cursors: r.Cursors,
		list:    list{kind: listInboxLive, owner: int64(viewer.Player)},
		event:   (&inboxEvents{Resolver: r.Resolver, viewer: viewer}).event,
	}.open(ctx, r.Live, social.LogID{Kind: social.LogInbox, Of: int64(viewer.Player)}, since)
}

// inboxEvents is what a viewer is told of messages.
type inboxEvents struct {
	*Resolver
	viewer social.Viewer
	// unread is what the viewer was told last, nil at first.
	unread *social.UnreadCounts
}

func (i *inboxEvents) event(ctx context.Context, cursor string, entry social.LiveEntry) (model.InboxEvent, error) {
	switch id := social.MessageID(entry.ID); entry.Kind {
	case social.LiveMessageReceived:
		found, _, err := i.Services.Messages.Visible(ctx, i.viewer, []social.MessageID{id})
		if err != nil || found[id] == nil {
			return nil, err
		}
		return &model.MessageReceived{Cursor: cursor, Message: found[id]}, nil
	case social.LiveMessageRemoved:
		return &model.MessageRemoved{Cursor: cursor, MessageID: id.String()}, nil
	case social.LiveUnreadChanged:
		return i.counts(ctx, cursor)
	}
	return nil, nil
}

// counts tells what is unread now. An entry says no more than that it may have changed.
func (i *inboxEvents) counts(ctx context.Context, cursor string) (model.InboxEvent, error) {
	unread, err := i.Services.Messages.Unread(ctx, i.viewer)
	if err != nil || i.unread != nil && *i.unread == unread {
		return nil, err
	}
	i.unread = &unread
	return &model.UnreadCountsChanged{Cursor: cursor, UnreadCounts: &unread}, nil
}
