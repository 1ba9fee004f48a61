package graph

import (
	"context"

	"circle/graph/loader"
	"circle/graph/model"
	"circle/internal/service"
	"circle/internal/social"
	"circle/internal/text"
)

type feedResolver struct{ *Resolver }

func (feedResolver) Author(ctx context.Context, obj *social.Feed) (*social.Player, error) {
	return loader.From(ctx).Players.Load(ctx, obj.AuthorID)
}

func (feedResolver) Content(ctx context.Context, obj *social.Feed) (string, error) {
	if obj.Whole {
		return obj.Excerpt, nil
	}
	return loader.From(ctx).Contents.Load(ctx, obj)
}

func (feedResolver) Summary(ctx context.Context, obj *social.Feed, length int) (string, error) {
	if length < 1 || length > social.MaxSummaryLength {
		return "", badArgument(ctx, social.Fail(social.CodeBadUserInput, "length is between 1 and 1,000."), "length")
	}
	if obj.Whole && length >= social.ExcerptGraphemes {
		return obj.Excerpt, nil
	}
	summary, graphemes := text.Summary(obj.Excerpt, length)
	if graphemes == length || obj.Whole {
		return summary, nil
	}
	content, err := loader.From(ctx).Contents.Load(ctx, obj)
	summary, _ = text.Summary(content, length)
	return summary, err
}

func counter(ctx context.Context, obj *social.Feed, field func(*social.FeedCounters) int) (int, error) {
	c, err := loader.From(ctx).Counters.Load(ctx, obj.ID)
	if c == nil {
		return 0, err
	}
	return field(c), err
}

func (feedResolver) LikeCount(ctx context.Context, obj *social.Feed) (int, error) {
	return counter(ctx, obj, func(c *social.FeedCounters) int { return c.Likes })
}

func (feedResolver) CommentCount(ctx context.Context, obj *social.Feed) (int, error) {
	return counter(ctx, obj, func(c *social.FeedCounters) int { return c.Comments })
}

func (feedResolver) ViewCount(ctx context.Context, obj *social.Feed) (int, error) {
	return counter(ctx, obj, func(c *social.FeedCounters) int { return c.Views })
}

func (feedResolver) HasLiked(ctx context.Context, obj *social.Feed) (bool, error) {
	return loader.From(ctx).Liked.Load(ctx, obj.ID)
}

func (r feedResolver) Likes(ctx context.Context, obj *social.Feed, first int, after *string, order social.LikeOrder) (*model.LikeConnection, error) {
	l := list{kind: listLikesNewest, owner: int64(obj.ID)}
	if order == social.FriendsFirst {
		l.kind, l.viewer = listLikesFriendsFirst, social.ViewerFrom(ctx).Player
	}
	args, err := r.page(ctx, l, first, after)
	if err != nil {
		return nil, err
	}
	ask := service.LikersAsk{Feed: obj.ID, Order: order, First: args.First}
	if args.After != nil {
		ask.Begun, ask.After = true, *args.After
	}
	loaders := loader.From(ctx)
	page, err := loaders.Likers.Load(ctx, ask)
	if err != nil {
		return nil, err
	}
	if page.Friends != nil {
		loaders.LikeFriend.Prime(ctx, obj.ID, *page.Friends)
	}
	if selects(ctx, "nodes", "player") || selects(ctx, "edges", "node", "player") {
		// Asked for by each like, they would come in several trips.
		players := make([]social.PlayerID, len(page.Items))
		for i, like := range page.Items {
			players[i] = like.Key.Player
		}
		if _, err := loaders.Players.LoadAll(ctx, players); err != nil {
			return nil, err
		}
	}
	return r.likeConnection(l, args, ask, page.Page), nil
}

func (r mutationResolver) CreateFeed(ctx context.Context, input model.CreateFeedInput) (*model.FeedPayload, error) {
	feed, err := r.Services.Feeds.Create(ctx, social.ViewerFrom(ctx), service.NewFeed{
		Content: input.Content, Visibility: input.Visibility, Key: input.IdempotencyKey,
	})
	return feedPayload(feed, err)
}

func (r mutationResolver) EditFeed(ctx context.Context, input model.EditFeedInput) (*model.FeedPayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	id, err := social.ParseFeedID(input.FeedID)
	if err != nil {
		return feedPayload(nil, social.At(err, "feedId"))
	}
	return feedPayload(r.Services.Feeds.Edit(ctx, viewer, id, input.Content))
}

func (r mutationResolver) DeleteFeed(ctx context.Context, input model.FeedInput) (*model.DeleteFeedPayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	id, err := social.ParseFeedID(input.FeedID)
	if err == nil {
		err = r.Services.Feeds.Delete(ctx, viewer, id)
	}
	userErrors, err := split(social.At(err, "feedId"))
	if err != nil {
		return nil, err
	}
	payload := &model.DeleteFeedPayload{UserErrors: userErrors}
	if len(userErrors) == 0 {
		deleted := id.String()
		payload.DeletedFeedID = &deleted
	}
	return payload, nil
}

func feedPayload(feed *social.Feed, err error) (*model.FeedPayload, error) {
	userErrors, err := split(err)
	if err != nil {
		return nil, err
	}
	return &model.FeedPayload{Feed: feed, UserErrors: userErrors}, nil
}
