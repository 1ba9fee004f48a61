// Package scalar writes and reads the contract's own scalars.
package scalar

import (
	"io"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"circle/internal/social"
)

// timeLayout is RFC 3339 with milliseconds; all instants are written in UTC.
const timeLayout = "2006-01-02T15:04:05.000Z"

// MarshalTime writes an instant.
func MarshalTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		var b [len(timeLayout) + 2]byte
		out := append(b[:0], '"')
		out = t.UTC().AppendFormat(out, timeLayout)
		_, _ = w.Write(append(out, '"'))
	})
}

// UnmarshalTime reads an instant.
func UnmarshalTime(v any) (time.Time, error) {
	s, _ := v.(string)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, social.Fail(social.CodeBadUserInput, "An instant is written after RFC 3339.")
	}
	return t.UTC(), nil
}

// MarshalCursor writes a cursor.
func MarshalCursor(c string) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = io.WriteString(w, strconv.Quote(c)) })
}

// UnmarshalCursor reads a cursor without looking into it.
func UnmarshalCursor(v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", social.Fail(social.CodeBadUserInput, "A cursor is a string.")
	}
	return s, nil
}
