package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"circle/graph/loader"
	"circle/graph/model"
	"circle/internal/service"
	"circle/internal/social"
)

// page reads the arguments of a connection; what can't be meant is BAD_USER_INPUT.
func (r *Resolver) page(ctx context.Context, l list, first int, after *string) (social.PageArgs, error) {
	if first < 1 || first > social.MaxPage {
		return social.PageArgs{}, badArgument(ctx, social.Fail(social.CodeBadUserInput, "first is between 1 and 100."), "first")
	}
	if after == nil {
		return social.PageArgs{First: first}, nil
	}
	position, err := r.Cursors.decode(l, *after)
	if err != nil {
		return social.PageArgs{}, badArgument(ctx, err, "after")
	}
	return social.PageArgs{First: first, After: position}, nil
}

// pageInfo describes a page by the cursors of its entries.
func pageInfo(args social.PageArgs, hasNext bool, cursors int, cursor func(i int) string) *model.PageInfo {
	info := &model.PageInfo{HasNextPage: hasNext, HasPreviousPage: args.After != nil}
	if cursors > 0 {
		start, end := cursor(0), cursor(cursors-1)
		info.StartCursor, info.EndCursor = &start, &end
	}
	return info
}

// selects says whether a field is wanted, by its path below the one that is being resolved.
func selects(ctx context.Context, path ...string) bool {
	operation := graphql.GetOperationContext(ctx)
	fields := graphql.CollectFieldsCtx(ctx, nil)
	for depth, name := range path {
		var below ast.SelectionSet
		found := false
		for _, field := range fields {
			if field.Name == name {
				found, below = true, append(below, field.Selections...)
			}
		}
		if !found || depth == len(path)-1 {
			return found
		}
		fields = graphql.CollectFields(operation, below, nil)
	}
	return false
}

// prime notes what was read along with a list of feeds, so that no field reads it again.
func prime(ctx context.Context, entries []service.FeedEntry) {
	l := loader.From(ctx)
	for _, e := range entries {
		l.Feeds.Prime(ctx, e.Feed.ID, e.Feed)
		l.Liked.Prime(ctx, e.Feed.ID, e.Liked)
		l.Relations.Prime(ctx, e.Feed.AuthorID, e.Relation)
		if e.Counters != nil {
			l.Counters.Prime(ctx, e.Feed.ID, e.Counters)
		}
		if e.Author != nil {
			l.Players.Prime(ctx, e.Feed.AuthorID, e.Author)
		}
	}
}

func (r *Resolver) feedConnection(ctx context.Context, l list, args social.PageArgs, page social.Page[service.FeedEntry]) *model.FeedConnection {
	prime(ctx, page.Items)
	c := &model.FeedConnection{
		Edges: make([]*model.FeedEdge, len(page.Items)),
		Nodes: make([]*social.Feed, len(page.Items)),
	}
	for i, entry := range page.Items {
		c.Nodes[i], c.Edges[i] = entry.Feed, r.feedEdge(l, entry)
	}
	c.PageInfo = pageInfo(args, page.HasNext, len(c.Edges), func(i int) string { return c.Edges[i].Cursor })
	return c
}

func (r *Resolver) feedEdge(l list, entry service.FeedEntry) *model.FeedEdge {
	return &model.FeedEdge{
		Cursor: r.Cursors.encode(l, social.Position{Key: int64(entry.Feed.ID)}),
		Node:   entry.Feed,
		Reason: entry.Reason,
	}
}

func (r *Resolver) playerConnection(l list, args social.PageArgs, ask service.PlayerListAsk, page social.Page[social.PlayerEdge]) *model.PlayerConnection {
	c := &model.PlayerConnection{Owner: ask.Owner, List: ask.List, Edges: make([]*model.PlayerEdge, len(page.Items))}
	for i, edge := range page.Items {
		c.Edges[i] = &model.PlayerEdge{
			Cursor: r.Cursors.encode(l, social.Position{Key: int64(edge.Edge)}),
			Player: edge.Player,
			Since:  edge.Since(),
		}
	}
	c.PageInfo = pageInfo(args, page.HasNext, len(c.Edges), func(i int) string { return c.Edges[i].Cursor })
	return c
}

func (r *Resolver) likeConnection(l list, args social.PageArgs, ask service.LikersAsk, page social.Page[social.Like]) *model.LikeConnection {
	c := &model.LikeConnection{
		Feed:  ask.Feed,
		Edges: make([]*model.LikeEdge, len(page.Items)),
		Nodes: make([]*social.Like, len(page.Items)),
	}
	for i := range page.Items {
		like := &page.Items[i]
		c.Nodes[i] = like
		c.Edges[i] = &model.LikeEdge{Cursor: r.Cursors.encode(l, service.PositionOf(ask.Order, like)), Node: like}
	}
	c.PageInfo = pageInfo(args, page.HasNext, len(c.Edges), func(i int) string { return c.Edges[i].Cursor })
	return c
}
