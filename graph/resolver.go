// Package graph answers the contract's fields: it decodes arguments, calls one use case or loader
// and builds the answer. A file per section of the schema.
package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"circle/graph/generated"
	"circle/graph/loader"
	"circle/internal/auth"
	"circle/internal/service"
	"circle/internal/social"
)

// Accounts are the use cases of logging in.
type Accounts interface {
	SignUp(ctx context.Context, name, password string) (auth.Login, error)
	LogIn(ctx context.Context, name, password string) (auth.Login, error)
	Refresh(ctx context.Context, refreshToken string) (auth.Login, error)
	LogOut(ctx context.Context, viewer social.Viewer) error
	Suspend(ctx context.Context, viewer social.Viewer, player social.PlayerID) error
	Reinstate(ctx context.Context, viewer social.Viewer, player social.PlayerID) error
}

// Live is the live delivery of events.
type Live interface {
	// Subscribe listens to a log until ctx ends: from since on, or from now on. Next waits for the next
	// item, the first of which says where the subscription begins; its errors end the subscription.
	Subscribe(ctx context.Context, log social.LogID, since *social.LogPlace) (
		next func(context.Context) (social.LiveItem, error), err error)
}

// Resolver is the root of all resolvers.
type Resolver struct {
	Services *service.Services
	Accounts Accounts
	Live     Live
	Cursors  Cursors
}

var _ generated.ResolverRoot = (*Resolver)(nil)

// NewSchema makes the executable schema.
func NewSchema(r *Resolver) graphql.ExecutableSchema {
	return generated.NewExecutableSchema(generated.Config{Resolvers: r})
}

// Feed implements generated.ResolverRoot.
func (r *Resolver) Feed() generated.FeedResolver { return feedResolver{r} }

// Comment implements generated.ResolverRoot.
func (r *Resolver) Comment() generated.CommentResolver { return commentResolver{r} }

// CommentConnection implements generated.ResolverRoot.
func (r *Resolver) CommentConnection() generated.CommentConnectionResolver {
	return commentConnectionResolver{}
}

// Like implements generated.ResolverRoot.
func (r *Resolver) Like() generated.LikeResolver { return likeResolver{} }

// LikeConnection implements generated.ResolverRoot.
func (r *Resolver) LikeConnection() generated.LikeConnectionResolver { return likeConnectionResolver{} }

// Mutation implements generated.ResolverRoot.
func (r *Resolver) Mutation() generated.MutationResolver { return mutationResolver{r} }

// Message implements generated.ResolverRoot.
func (r *Resolver) Message() generated.MessageResolver { return messageResolver{} }

// Conversation implements generated.ResolverRoot.
func (r *Resolver) Conversation() generated.ConversationResolver { return conversationResolver{r} }

// Player implements generated.ResolverRoot.
func (r *Resolver) Player() generated.PlayerResolver { return playerResolver{r} }

// PlayerConnection implements generated.ResolverRoot.
func (r *Resolver) PlayerConnection() generated.PlayerConnectionResolver {
	return playerConnectionResolver{r}
}

// PlayerEdge implements generated.ResolverRoot.
func (r *Resolver) PlayerEdge() generated.PlayerEdgeResolver { return playerEdgeResolver{} }

// Query implements generated.ResolverRoot.
func (r *Resolver) Query() generated.QueryResolver { return queryResolver{r} }

// Report implements generated.ResolverRoot.
func (r *Resolver) Report() generated.ReportResolver { return reportResolver{} }

// Session implements generated.ResolverRoot.
func (r *Resolver) Session() generated.SessionResolver { return sessionResolver{} }

// Subscription implements generated.ResolverRoot.
func (r *Resolver) Subscription() generated.SubscriptionResolver { return subscriptionResolver{r} }

// Viewer implements generated.ResolverRoot.
func (r *Resolver) Viewer() generated.ViewerResolver { return viewerResolver{r} }

// Loading gives every answer, and every mutation within one, loaders of its own. An event of a subscription
// is an answer; what feeds it takes turns with what sends it.
type Loading struct{ Services *service.Services }

var _ interface {
	graphql.HandlerExtension
	graphql.OperationInterceptor
	graphql.ResponseInterceptor
	graphql.RootFieldInterceptor
} = Loading{}

// ExtensionName implements graphql.HandlerExtension.
func (Loading) ExtensionName() string { return "Loading" }

// Validate implements graphql.HandlerExtension.
func (Loading) Validate(graphql.ExecutableSchema) error { return nil }

type turnKey struct{}

// InterceptOperation makes the turns of a subscription.
func (Loading) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Subscription {
		ctx = context.WithValue(ctx, turnKey{}, make(chan struct{}, 1))
	}
	return next(ctx)
}

// InterceptResponse makes the loaders of an answer. For a subscription it is called when the event before has
// been sent, and waits for the next one.
func (l Loading) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	if turns, ok := ctx.Value(turnKey{}).(chan struct{}); ok {
		select {
		case turns <- struct{}{}:
		default: // the subscription has ended without taking its last turn
		}
	}
	return next(l.with(ctx))
}

// turn waits until the next event of the subscription is waited for. It is called once for each event.
func turn(ctx context.Context) error {
	select {
	case <-ctx.Value(turnKey{}).(chan struct{}):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// InterceptRootField makes new loaders for each mutation, so that none sees what was read before the
// one ahead of it wrote.
func (l Loading) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if op := graphql.GetOperationContext(ctx).Operation; op != nil && op.Operation == ast.Mutation {
		ctx = l.with(ctx)
	}
	return next(ctx)
}

func (l Loading) with(ctx context.Context) context.Context {
	return loader.With(ctx, loader.New(l.Services, social.ViewerFrom(ctx)))
}
