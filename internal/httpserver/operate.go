package httpserver

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"circle/internal/social"
)

// operate runs one operation of a stream and gives next each response, until next says no. What it
// returns ended the operation in the place of a response; nothing, when the operation came to its
// end or ctx to its own.
func (s *Server) operate(
	ctx context.Context, exec graphql.GraphExecutor, params *graphql.RawParams, next func(*graphql.Response) bool,
) (ended gqlerror.List) {
	defer func() {
		if caught := recover(); caught != nil {
			ended = gqlerror.List{s.present(ctx, s.deps.Recover(ctx, caught))}
		}
		s.note(ctx, ended)
	}()
	op, errs := exec.CreateOperationContext(ctx, params)
	if op.Operation != nil {
		outcomeFrom(ctx).operation = string(op.Operation.Operation)
	}
	switch {
	case errs != nil:
		return exec.DispatchError(graphql.WithOperationContext(ctx, op), errs).Errors
	case op.Operation.Operation == ast.Subscription:
		return s.subscription(ctx, exec, op, next)
	}
	return s.single(ctx, exec, op, next)
}

// single answers a query or a mutation, within the time that a request has.
func (s *Server) single(
	ctx context.Context, exec graphql.GraphExecutor, op *graphql.OperationContext, next func(*graphql.Response) bool,
) gqlerror.List {
	timed, cancel := context.WithTimeout(ctx, s.post.timeout)
	defer cancel()
	handle, timed := exec.DispatchOperation(timed, op)
	response := handle(timed)
	switch {
	case response != nil:
		s.note(ctx, response.Errors)
		next(response)
	case ctx.Err() == nil: // the deadline came first
		return gqlerror.List{s.present(ctx, social.Unavailable(context.Cause(timed)))}
	}
	return nil
}

// subscription has no deadline: it goes on until its source or ctx ends.
func (s *Server) subscription(
	ctx context.Context, exec graphql.GraphExecutor, op *graphql.OperationContext, next func(*graphql.Response) bool,
) gqlerror.List {
	defer s.metrics.subscribed()()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx, endedWith := social.WithStreamEnd(ctx)
	handle, events := exec.DispatchOperation(ctx, op)
	for response := handle(events); response != nil; response = handle(events) {
		s.note(ctx, response.Errors)
		if !next(response) {
			return nil
		}
	}
	if err := endedWith(); err != nil && ctx.Err() == nil {
		return gqlerror.List{s.present(ctx, err)}
	}
	return nil
}

// note keeps the first error for the metrics.
func (s *Server) note(ctx context.Context, errs gqlerror.List) {
	code := codeOf(errs)
	if code == social.CodeSlowConsumer {
		s.metrics.slowConsumers.Inc()
	}
	if result := outcomeFrom(ctx); result.code == "" {
		result.code = code
	}
}
