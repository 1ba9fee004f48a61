package httpserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"circle/internal/social"
)

// maxMessageBytes bounds messages that quote the request.
const maxMessageBytes = 300

// fault makes a top-level error that carries its code both ways: wrapped, for whoever presents
// errors, and in the extensions.
func fault(code social.Code, message string) *gqlerror.Error {
	return &gqlerror.Error{
		Err:        social.Fail(code, message),
		Message:    message,
		Extensions: map[string]any{"code": string(code)},
	}
}

// tooSoon is RATE_LIMITED with the time to wait.
type tooSoon struct {
	cause      *social.Error
	retryAfter time.Duration
}

// Error tells when to come back.
func (e *tooSoon) Error() string { return e.cause.Message + " Free again in " + e.retryAfter.String() }

// Unwrap gives the error that clients are told of.
func (e *tooSoon) Unwrap() error { return e.cause }

func rateLimited(retryAfter time.Duration) *gqlerror.Error {
	g := fault(social.CodeRateLimited, "Too many requests. Slow down.")
	g.Err = &tooSoon{social.Fail(social.CodeRateLimited, g.Message), retryAfter}
	return g
}

// presenter gives every error the form of the contract: what gqlgen says of a document or of
// variables becomes BAD_USER_INPUT, next is asked for the rest, and the request's id is added.
func presenter(next graphql.ErrorPresenterFunc) graphql.ErrorPresenterFunc {
	return func(ctx context.Context, err error) *gqlerror.Error {
		presented := next(ctx, badInput(err))
		if presented == nil {
			return nil
		}
		if presented.Extensions == nil {
			presented.Extensions = map[string]any{}
		}
		if _, ok := presented.Extensions["code"]; !ok {
			presented.Extensions["code"] = string(social.CodeInternal)
		}
		if id := social.RequestIDFrom(ctx); id != "" {
			presented.Extensions["requestId"] = id
		}
		return presented
	}
}

// badInput rewrites gqlgen's own errors about the request; others pass through. A path that leads
// into the variables is no path of the answer, so it moves into the message.
func badInput(err error) error {
	var g *gqlerror.Error
	if !errors.As(err, &g) {
		return err
	}
	switch g.Extensions["code"] {
	case errcode.ParseFailed, errcode.ValidationFailed:
	default:
		return err
	}
	message := g.Message
	if len(g.Path) > 0 {
		message = g.Path.String() + ": " + message
	}
	bad := fault(social.CodeBadUserInput, shorten(message))
	bad.Locations = g.Locations
	return bad
}

func shorten(message string) string {
	if len(message) <= maxMessageBytes {
		return message
	}
	cut := maxMessageBytes
	for !utf8.RuneStart(message[cut]) {
		cut--
	}
	return message[:cut] + "..."
}

// codeOf reads the code of a presented error.
func codeOf(errs gqlerror.List) social.Code {
	if len(errs) == 0 {
		return ""
	}
	code, _ := errs[0].Extensions["code"].(string)
	return social.Code(code)
}

// statusOf is the HTTP status of a refused request. To a client that reads application/json,
// whatever GraphQL itself found wrong is a 200, as GraphQL over HTTP has it.
func statusOf(code social.Code, mediaType string) int {
	switch code {
	case social.CodeUnauthenticated:
		return http.StatusUnauthorized
	case social.CodeRateLimited:
		return http.StatusTooManyRequests
	case social.CodeUnavailable:
		return http.StatusServiceUnavailable
	case social.CodeInternal:
		return http.StatusInternalServerError
	}
	if strings.HasPrefix(mediaType, mediaJSON) {
		return http.StatusOK
	}
	return http.StatusBadRequest
}
