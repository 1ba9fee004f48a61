package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/sync/errgroup"

	"circle/graph/loader"
	"circle/internal/service"
	"circle/internal/social"
)

// prime notes what was read along with a list of feeds.
func prime(ctx context.Context, entries []service.FeedEntry) {
	l := loader.From(ctx)
	for _, e := range entries {
		l.Feeds.Prime(ctx, e.Feed.ID, e.Feed)
		if e.Counters != nil {
			l.Counters.Prime(ctx, e.Feed.ID, e.Counters)
		}
	}
}

// ahead reads what the selection below a list of feeds asks for in one bulk read a kind, before
// the fields ask one by one. It is for lists that stand once in an answer: of nested ones the loaders
// gather more.
func ahead(ctx context.Context, entries []service.FeedEntry) error {
	if len(entries) == 0 {
		return nil
	}
	prime(ctx, entries)
	ids := make([]social.FeedID, len(entries))
	authors := make([]social.PlayerID, len(entries))
	for i, e := range entries {
		ids[i], authors[i] = e.Feed.ID, e.Feed.AuthorID
	}
	l, asked := loader.From(ctx), feedSelection(ctx)
	group, reading := errgroup.WithContext(ctx)
	if asked.liked {
		group.Go(func() error { return l.Liked.Ahead(reading, ids) })
	}
	if asked.author {
		group.Go(func() error { return l.Players.Ahead(reading, authors) })
	}
	if asked.relation {
		group.Go(func() error { return l.Relations.Ahead(reading, authors) })
	}
	return group.Wait()
}

// feedFields says what a selection asks of the feeds of a list.
type feedFields struct{ liked, author, relation bool }

func feedSelection(ctx context.Context) feedFields {
	var asked feedFields
	op := graphql.GetOperationContext(ctx)
	for _, field := range graphql.CollectFieldsCtx(ctx, nil) {
		switch field.Name {
		case "nodes":
			asked.add(op, field.Selections)
		case "edges":
			for _, edge := range graphql.CollectFields(op, field.Selections, nil) {
				if edge.Name == "node" {
					asked.add(op, edge.Selections)
				}
			}
		}
	}
	return asked
}

func (f *feedFields) add(op *graphql.OperationContext, feed ast.SelectionSet) {
	for _, field := range graphql.CollectFields(op, feed, []string{"Feed", "Node"}) {
		switch field.Name {
		case "hasLiked":
			f.liked = true
		case "author":
			f.author = true
			for _, of := range graphql.CollectFields(op, field.Selections, []string{"Player", "Node"}) {
				switch of.Name {
				case "isFollowing", "isFan", "isFriend":
					f.relation = true
				}
			}
		}
	}
}
