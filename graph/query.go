package graph

import (
	"context"

	"golang.org/x/sync/errgroup"

	"circle/graph/loader"
	"circle/graph/model"
	"circle/internal/social"
)

const (
	maxNodes        = 100
	maxFeedCounters = 500
)

type queryResolver struct{ *Resolver }

func (r queryResolver) Node(ctx context.Context, id string) (model.Node, error) {
	load, err := nodeLoad(id)
	if err != nil {
		return nil, badArgument(ctx, err, "id")
	}
	return load(ctx, loader.From(ctx))
}

func (r queryResolver) Nodes(ctx context.Context, ids []string) ([]model.Node, error) {
	if len(ids) > maxNodes {
		return nil, badArgument(ctx, social.Fail(social.CodeBadUserInput, "At most 100 ids can be asked for at once."), "ids")
	}
	loads := make([]nodeLoader, len(ids))
	for i, id := range ids {
		load, err := nodeLoad(id)
		if err != nil {
			return nil, badArgument(ctx, err, "ids")
		}
		loads[i] = load
	}
	nodes := make([]model.Node, len(ids))
	group, loading := errgroup.WithContext(ctx)
	for i, load := range loads {
		group.Go(func() (err error) {
			nodes[i], err = load(loading, loader.From(ctx))
			return err
		})
	}
	return nodes, group.Wait()
}

// nodeLoader reads one node; nil when unknown or not visible.
type nodeLoader func(ctx context.Context, l *loader.Loaders) (model.Node, error)

func nodeLoad(id string) (nodeLoader, error) {
	switch social.KindOf(id) {
	case social.KindPlayer:
		key, err := social.ParsePlayerID(id)
		return func(ctx context.Context, l *loader.Loaders) (model.Node, error) {
			return node(l.Known.Load(ctx, key))
		}, err
	case social.KindFeed:
		key, err := social.ParseFeedID(id)
		return func(ctx context.Context, l *loader.Loaders) (model.Node, error) { return node(l.Feeds.Load(ctx, key)) }, err
	case social.KindComment:
		key, err := social.ParseCommentID(id)
		return func(ctx context.Context, l *loader.Loaders) (model.Node, error) {
			return node(l.Comments.Load(ctx, key))
		}, err
	case social.KindReport:
		key, err := social.ParseReportID(id)
		return func(ctx context.Context, l *loader.Loaders) (model.Node, error) {
			return node(l.Reports.Load(ctx, key))
		}, err
	case social.KindLike:
		key, err := social.ParseLikeKey(id)
		return func(ctx context.Context, l *loader.Loaders) (model.Node, error) { return node(l.Likes.Load(ctx, key)) }, err
	case social.KindMessage:
		key, err := social.ParseMessageID(id)
		return func(ctx context.Context, l *loader.Loaders) (model.Node, error) {
			return node(l.Messages.Load(ctx, key))
		}, err
	case social.KindConversation:
		key, err := social.ParseConversationKey(id)
		return func(ctx context.Context, l *loader.Loaders) (model.Node, error) {
			if key.Player != social.ViewerFrom(ctx).Player {
				return nil, nil
			}
			return node(l.Conversations.Load(ctx, key.Peer))
		}, err
	}
	return nil, social.Fail(social.CodeBadUserInput, "This is not an id.")
}

// node keeps a nil pointer from becoming a node.
func node[T any](v *T, err error) (model.Node, error) {
	if v == nil || err != nil {
		return nil, err
	}
	return v, nil
}

func (r queryResolver) Viewer(ctx context.Context) (*social.Viewer, error) {
	viewer := social.ViewerFrom(ctx)
	if viewer.Anonymous() {
		return nil, nil
	}
	return &viewer, nil
}

func (r queryResolver) Player(ctx context.Context, name string) (*social.Player, error) {
	id, err := r.Services.Players.IDByName(ctx, name)
	if id == 0 || err != nil {
		return nil, err
	}
	return loader.From(ctx).Known.Load(ctx, id)
}

func (r queryResolver) HomeFeed(ctx context.Context, first int, after *string) (*model.FeedConnection, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	l := list{kind: listHome, owner: int64(viewer.Player)}
	args, err := r.page(ctx, l, first, after)
	if err != nil {
		return nil, err
	}
	page, err := r.Services.Home.Page(ctx, viewer, args)
	if err != nil {
		return nil, err
	}
	return r.feedConnection(ctx, l, args, page), nil
}

func (r queryResolver) FeedCounters(ctx context.Context, feedIds []string) ([]*social.FeedCounters, error) {
	if len(feedIds) > maxFeedCounters {
		return nil, badArgument(ctx, social.Fail(social.CodeBadUserInput, "At most 500 feeds can be asked for at once."), "feedIds")
	}
	ids := make([]social.FeedID, len(feedIds))
	for i, s := range feedIds {
		id, err := social.ParseFeedID(s)
		if err != nil {
			return nil, badArgument(ctx, err, "feedIds")
		}
		ids[i] = id
	}
	found, err := r.Services.Feeds.VisibleCounters(ctx, social.ViewerFrom(ctx), ids)
	if err != nil {
		return nil, err
	}
	counters := make([]*social.FeedCounters, len(ids))
	for i, id := range ids {
		counters[i] = found[id]
	}
	return counters, nil
}
