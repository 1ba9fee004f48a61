package graph

import (
	"context"

	"circle/graph/loader"
	"circle/graph/model"
	"circle/internal/service"
	"circle/internal/social"
)

type viewerResolver struct{ *Resolver }

func (viewerResolver) Player(ctx context.Context, obj *social.Viewer) (*social.Player, error) {
	return loader.From(ctx).Players.Load(ctx, obj.Player)
}

func (r viewerResolver) LikedFeeds(ctx context.Context, obj *social.Viewer, first int, after *string) (*model.FeedConnection, error) {
	l := list{kind: listLikedFeeds, owner: int64(obj.Player)}
	args, err := r.page(ctx, l, first, after)
	if err != nil {
		return nil, err
	}
	page, err := r.Services.Likes.LikedFeeds(ctx, *obj, args)
	if err != nil {
		return nil, err
	}
	entries := make([]service.FeedEntry, len(page.Items))
	for i, item := range page.Items {
		entries[i] = item.FeedEntry
	}
	c := r.feedConnection(ctx, l, args, social.Page[service.FeedEntry]{Items: entries, HasNext: page.HasNext})
	for i, item := range page.Items {
		c.Edges[i].Cursor = r.Cursors.encode(l, social.Position{Key: int64(item.Like)})
	}
	c.PageInfo = pageInfo(args, page.HasNext, len(c.Edges), func(i int) string { return c.Edges[i].Cursor })
	return c, nil
}

func (r viewerResolver) BlockedPlayers(ctx context.Context, obj *social.Viewer, first int, after *string) (*model.PlayerConnection, error) {
	return r.players(ctx, &social.Player{ID: obj.Player}, listBlocked, social.ListBlocked, first, after)
}

func (r viewerResolver) MutedPlayers(ctx context.Context, obj *social.Viewer, first int, after *string) (*model.PlayerConnection, error) {
	return r.players(ctx, &social.Player{ID: obj.Player}, listMuted, social.ListMuted, first, after)
}
