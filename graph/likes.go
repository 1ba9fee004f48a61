package graph

import (
	"context"

	"circle/graph/loader"
	"circle/graph/model"
	"circle/internal/service"
	"circle/internal/social"
)

type likeResolver struct{}

func (likeResolver) Player(ctx context.Context, obj *social.Like) (*social.Player, error) {
	return loader.From(ctx).Players.Load(ctx, obj.Key.Player)
}

func (likeResolver) Feed(ctx context.Context, obj *social.Like) (*social.Feed, error) {
	return loader.From(ctx).Feeds.Load(ctx, obj.Key.Feed)
}

type likeConnectionResolver struct{}

func (likeConnectionResolver) TotalCount(ctx context.Context, obj *model.LikeConnection) (int, error) {
	return counter(ctx, &social.Feed{ID: obj.Feed}, func(c *social.FeedCounters) int { return c.Likes })
}

func (likeConnectionResolver) FriendCount(ctx context.Context, obj *model.LikeConnection) (int, error) {
	return loader.From(ctx).LikeFriend.Load(ctx, obj.Feed)
}

func (r mutationResolver) LikeFeed(ctx context.Context, input model.FeedInput) (*model.FeedPayload, error) {
	return r.onLike(ctx, input, r.Services.Likes.Like)
}

func (r mutationResolver) UnlikeFeed(ctx context.Context, input model.FeedInput) (*model.FeedPayload, error) {
	return r.onLike(ctx, input, r.Services.Likes.Unlike)
}

// onLike likes or unlikes; the payload's counters and hasLiked are those of the transaction.
func (r mutationResolver) onLike(ctx context.Context, input model.FeedInput, do func(context.Context, social.Viewer, social.FeedID) (*service.LikeResult, error)) (*model.FeedPayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	id, err := social.ParseFeedID(input.FeedID)
	if err != nil {
		return feedPayload(nil, social.At(err, "feedId"))
	}
	result, err := do(ctx, viewer, id)
	if result == nil {
		return feedPayload(nil, err)
	}
	l := loader.From(ctx)
	l.Counters.Prime(ctx, id, result.Counters)
	l.Liked.Prime(ctx, id, result.Liked)
	return feedPayload(result.Feed, err)
}
