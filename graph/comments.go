package graph

import (
	"context"

	"circle/graph/loader"
	"circle/graph/model"
	"circle/internal/service"
	"circle/internal/social"
)

type commentResolver struct{ *Resolver }

func (commentResolver) Feed(ctx context.Context, obj *social.Comment) (*social.Feed, error) {
	return loader.From(ctx).Feeds.Load(ctx, obj.FeedID)
}

func (commentResolver) Author(ctx context.Context, obj *social.Comment) (*social.Player, error) {
	if obj.AuthorID == 0 {
		return nil, nil
	}
	return loader.From(ctx).Players.Load(ctx, obj.AuthorID)
}

func (commentResolver) Root(ctx context.Context, obj *social.Comment) (*social.Comment, error) {
	if obj.Head() {
		return nil, nil
	}
	return loader.From(ctx).Comments.Load(ctx, obj.RootID)
}

func (commentResolver) ReplyTo(ctx context.Context, obj *social.Comment) (*social.Comment, error) {
	if obj.ReplyToID == 0 {
		return nil, nil
	}
	return loader.From(ctx).Comments.Load(ctx, obj.ReplyToID)
}

func (r commentResolver) Replies(ctx context.Context, obj *social.Comment, first int, after *string) (*model.CommentConnection, error) {
	l := list{kind: listReplies, owner: int64(obj.ID)}
	args, err := r.page(ctx, l, first, after)
	if err != nil {
		return nil, err
	}
	if obj.ReplyCount == 0 {
		return r.commentConnection(ctx, l, args, social.Page[*social.Comment]{}, obj.FeedID, obj), nil
	}
	page, err := thread(ctx, social.Thread{Feed: obj.FeedID, Head: obj.ID}, args)
	if err != nil {
		return nil, err
	}
	return r.commentConnection(ctx, l, args, page, obj.FeedID, obj), nil
}

func (r feedResolver) Comments(ctx context.Context, obj *social.Feed, first int, after *string) (*model.CommentConnection, error) {
	l := list{kind: listComments, owner: int64(obj.ID)}
	args, err := r.page(ctx, l, first, after)
	if err != nil {
		return nil, err
	}
	page, err := thread(ctx, social.Thread{Feed: obj.ID}, args)
	if err != nil {
		return nil, err
	}
	loader.From(ctx).Feeds.Prime(ctx, obj.ID, obj)
	return r.commentConnection(ctx, l, args, page, obj.ID, nil), nil
}

func thread(ctx context.Context, of social.Thread, args social.PageArgs) (social.Page[*social.Comment], error) {
	return loader.From(ctx).Threads.Load(ctx, service.CommentsAsk{Thread: of, First: args.First, After: args.Behind()})
}

func (r *Resolver) commentConnection(ctx context.Context, l list, args social.PageArgs, page social.Page[*social.Comment], feed social.FeedID, head *social.Comment) *model.CommentConnection {
	c := &model.CommentConnection{Feed: feed, Head: head, Nodes: page.Items, Edges: make([]*model.CommentEdge, len(page.Items))}
	for i, comment := range page.Items {
		loader.From(ctx).Comments.Prime(ctx, comment.ID, comment)
		c.Edges[i] = &model.CommentEdge{Cursor: r.Cursors.encode(l, social.Position{Key: int64(comment.ID)}), Node: comment}
	}
	c.PageInfo = pageInfo(args, page.HasNext, len(c.Edges), func(i int) string { return c.Edges[i].Cursor })
	return c
}

type commentConnectionResolver struct{}

func (commentConnectionResolver) TotalCount(ctx context.Context, obj *model.CommentConnection) (int, error) {
	if obj.Head != nil {
		return obj.Head.ReplyCount, nil
	}
	return counter(ctx, &social.Feed{ID: obj.Feed}, func(c *social.FeedCounters) int { return c.Heads })
}

func (r mutationResolver) CreateComment(ctx context.Context, input model.CreateCommentInput) (*model.CommentPayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	in := service.NewComment{Content: input.Content, Key: input.IdempotencyKey}
	var err error
	if in.Feed, err = social.ParseFeedID(input.FeedID); err != nil {
		return commentPayload(nil, social.At(err, "feedId"))
	}
	if input.ReplyToID != nil {
		if in.ReplyTo, err = social.ParseCommentID(*input.ReplyToID); err != nil {
			return commentPayload(nil, social.At(err, "replyToId"))
		}
	}
	return commentPayload(r.Services.Comments.Create(ctx, viewer, in))
}

func commentPayload(comment *social.Comment, err error) (*model.CommentPayload, error) {
	userErrors, err := split(err)
	if err != nil {
		return nil, err
	}
	return &model.CommentPayload{Comment: comment, UserErrors: userErrors}, nil
}

func (r mutationResolver) DeleteComment(ctx context.Context, input model.CommentInput) (*model.DeleteCommentPayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	var left *social.Comment
	id, err := social.ParseCommentID(input.CommentID)
	if err == nil {
		left, err = r.Services.Comments.Delete(ctx, viewer, id)
	}
	userErrors, err := split(social.At(err, "commentId"))
	if err != nil {
		return nil, err
	}
	payload := &model.DeleteCommentPayload{Comment: left, UserErrors: userErrors}
	if len(userErrors) == 0 {
		deleted := id.String()
		payload.DeletedCommentID = &deleted
	}
	return payload, nil
}
