package social

import (
	"errors"
	"io"
)

// Code names what went wrong, for programs. It is part of the public contract.
type Code string

// Codes of business failures: a mutation's userErrors.
const (
	CodeAlreadyLiked        Code = "ALREADY_LIKED"
	CodeNotLiked            Code = "NOT_LIKED"
	CodeAlreadyFollowing    Code = "ALREADY_FOLLOWING"
	CodeNotFollowing        Code = "NOT_FOLLOWING"
	CodeFollowLimitReached  Code = "FOLLOW_LIMIT_REACHED"
	CodeSelfReference       Code = "SELF_REFERENCE"
	CodeBlocked             Code = "BLOCKED"
	CodeNotFound            Code = "NOT_FOUND"
	CodeNameTaken           Code = "NAME_TAKEN"
	CodeBadCredentials      Code = "BAD_CREDENTIALS"
	CodeSuspended           Code = "SUSPENDED"
	CodeSessionExpired      Code = "SESSION_EXPIRED"
	CodeRequired            Code = "REQUIRED"
	CodeTooShort            Code = "TOO_SHORT"
	CodeTooLong             Code = "TOO_LONG"
	CodeInvalid             Code = "INVALID"
	CodeIdempotencyConflict Code = "IDEMPOTENCY_CONFLICT"
)

// Codes of faults of the request itself: top-level errors with extensions.code.
const (
	CodeBadUserInput    Code = "BAD_USER_INPUT"
	CodeUnauthenticated Code = "UNAUTHENTICATED"
	CodeForbidden       Code = "FORBIDDEN"
	CodeLimitExceeded   Code = "LIMIT_EXCEEDED"
	CodeRateLimited     Code = "RATE_LIMITED"
	CodeUnavailable     Code = "UNAVAILABLE"
	CodeInternal        Code = "INTERNAL"
	// CodeSlowConsumer ends a subscription whose client does not take its events.
	CodeSlowConsumer Code = "SLOW_CONSUMER"
)

// TopLevel says whether the code belongs to the request rather than to a mutation's userErrors.
func (c Code) TopLevel() bool {
	switch c {
	case CodeBadUserInput, CodeUnauthenticated, CodeForbidden, CodeLimitExceeded, CodeRateLimited, CodeUnavailable, CodeInternal,
		CodeSlowConsumer:
		return true
	}
	return false
}

// MarshalGQL writes the code as an enum value.
func (c Code) MarshalGQL(w io.Writer) { writeQuoted(w, string(c)) }

// UnmarshalGQL is there because enums are bound both ways; no input holds a code.
func (c *Code) UnmarshalGQL(any) error {
	return &Error{Code: CodeBadUserInput, Message: "An error code can't be an input."}
}

// Error is a failure that a client may be told of. Message is a sentence for people, without
// internals; Err is the cause for the log and is never shown.
type Error struct {
	Code    Code
	Message string
	// Field is the path into a mutation's input, nil when no one field is at fault.
	Field []string
	Err   error
}

// Error joins message and cause, for logs.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Fail makes an Error without a cause. The message is shown to clients as it stands.
func Fail(code Code, message string, field ...string) *Error {
	return &Error{Code: code, Message: message, Field: field}
}

// Unavailable says that a store is away or too busy; the cause goes to the log.
func Unavailable(cause error) *Error {
	return &Error{Code: CodeUnavailable, Message: "The service is busy or partly away. Try again.", Err: cause}
}

// NotFound is the one answer to what is unknown and to what may not be seen.
func NotFound(field ...string) *Error { return Fail(CodeNotFound, "There is no such thing.", field...) }

// At returns err with the path set, if it is an Error without one; other errors pass through.
func At(err error, field ...string) error {
	var e *Error
	if !errors.As(err, &e) || e.Field != nil {
		return err
	}
	withField := *e
	withField.Field = field
	return &withField
}

// CodeOf is the code of the first Error in err's chain; INTERNAL for any other error, empty for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// ErrIDTaken says that a fresh identifier is in use already: draw another and try again.
var ErrIDTaken = errors.New("the identifier is taken")
