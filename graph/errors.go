package graph

import (
	"context"
	"errors"
	"log/slog"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"circle/internal/social"
)

// Errors is the one table from errors to what a client is told. Log gets what the client is not
// told.
type Errors struct{ Log *slog.Logger }

// Present turns an error into a top-level error with extensions.code. An error that is not one of
// the domain's is logged and shown as INTERNAL.
func (e Errors) Present(ctx context.Context, err error) *gqlerror.Error {
	shown := e.translate(ctx, err)
	if shown.Path == nil {
		shown.Path = graphql.GetPath(ctx)
	}
	return shown
}

func (e Errors) translate(ctx context.Context, err error) *gqlerror.Error {
	var own *social.Error
	if errors.As(err, &own) {
		code := own.Code
		if !code.TopLevel() && code != social.CodeNotFound {
			// A business failure outside a mutation's payload: the request asked for what can't be. What a
			// subscription is of may be gone, though.
			code = social.CodeBadUserInput
		}
		if own.Err != nil {
			e.Log.WarnContext(ctx, "request failed", "code", code, "error", err, "request", social.RequestIDFrom(ctx))
		}
		return e.shown(err, own.Message, code)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return e.shown(err, "The request took too long.", social.CodeUnavailable)
	}
	var parsed *gqlerror.Error
	if errors.As(err, &parsed) && parsed.Err == nil {
		return e.protocol(parsed)
	}
	e.Log.ErrorContext(ctx, "unexpected error", "error", err, "request", social.RequestIDFrom(ctx))
	return e.shown(err, "Something went wrong.", social.CodeInternal)
}

// protocol keeps what gqlgen says of a request that it could not read, or that a limit refused.
func (e Errors) protocol(err *gqlerror.Error) *gqlerror.Error {
	code := social.CodeBadUserInput
	switch known, _ := err.Extensions["code"].(string); social.Code(known) {
	case social.CodeLimitExceeded, social.CodeUnauthenticated, social.CodeRateLimited, social.CodeUnavailable, social.CodeInternal, social.CodeForbidden:
		code = social.Code(known)
	}
	return &gqlerror.Error{
		Message: err.Message, Path: err.Path, Locations: err.Locations,
		Extensions: map[string]any{"code": string(code)},
	}
}

func (e Errors) shown(err error, message string, code social.Code) *gqlerror.Error {
	out := &gqlerror.Error{Message: message, Extensions: map[string]any{"code": string(code)}}
	var located *gqlerror.Error
	if errors.As(err, &located) {
		out.Path, out.Locations = located.Path, located.Locations
	}
	return out
}

// Recover turns a panic into INTERNAL.
func (e Errors) Recover(ctx context.Context, panicked any) error {
	e.Log.ErrorContext(ctx, "panic", "panic", panicked, "path", graphql.GetPath(ctx).String(), "request", social.RequestIDFrom(ctx))
	return social.Fail(social.CodeInternal, "Something went wrong.")
}

// split sorts what a use case answered into a payload's userErrors and a top-level error.
func split(err error) (userErrors []*social.Error, top error) {
	if err == nil {
		return []*social.Error{}, nil
	}
	var own *social.Error
	if errors.As(err, &own) && !own.Code.TopLevel() {
		return []*social.Error{own}, nil
	}
	return nil, err
}

// badArgument says at which argument of a query something that can't be meant stands.
func badArgument(ctx context.Context, err error, argument string) error {
	var own *social.Error
	if !errors.As(err, &own) {
		return err
	}
	e := gqlerror.WrapPath(append(graphql.GetPath(ctx), ast.PathName(argument)), err)
	e.Err = social.Fail(social.CodeBadUserInput, own.Message)
	return e
}
