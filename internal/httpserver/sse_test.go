package httpserver

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

func TestEvents(t *testing.T) {
	feed := make(chan string, 3)
	seen := make(chan context.Context, 1)
	f := startLive(t, func(ctx context.Context) graphql.ResponseHandler {
		seen <- ctx
		return source(feed)(ctx)
	})
	res, lines := f.stream(t.Context(), "subscription{events}", "Authorization: Bearer 7", "X-Request-Id: mine")
	assert.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	ctx := <-seen
	assert.EqualValues(t, 7, playerOf(ctx))
	assert.Equal(t, "mine", social.RequestIDFrom(ctx))
	_, limited := ctx.Deadline()
	assert.False(t, limited)
	for _, event := range []string{`{"events":1}`, "{\n\"events\":2}"} {
		feed <- event
		name, data, _ := nextEvent(lines)
		assert.Equal(t, "next", name)
		assert.JSONEq(t, `{"data":`+event+`}`, data)
	}
	close(feed)
	name, data, _ := nextEvent(lines)
	assert.Equal(t, "complete", name)
	assert.Empty(t, data)
	_, _, more := nextEvent(lines)
	assert.False(t, more)
}

func TestEventsOfOtherOperations(t *testing.T) {
	f := startLive(t, answer(`{"a":1}`))
	for document, want := range map[string]string{
		"{a}":             `{"data":{"a":1}}`,
		"mutation{touch}": `{"data":{"a":1}}`,
		"{":               `"code":"BAD_USER_INPUT"`,
		"{" + strings.Repeat("a ", MaxTokens) + "}": `"code":"LIMIT_EXCEEDED"`,
	} {
		res, lines := f.stream(t.Context(), document)
		assert.Equal(t, 200, res.StatusCode)
		name, data, _ := nextEvent(lines)
		assert.Equal(t, "next", name)
		assert.Contains(t, data, want)
		name, _, _ = nextEvent(lines)
		assert.Equal(t, "complete", name)
	}
}

func TestEventsOrJSON(t *testing.T) {
	f := startLive(t, answer(`{"a":1}`))
	for accept, want := range map[string]string{
		"text/event-stream":                                          "text/event-stream",
		"text/event-stream, application/json":                        "text/event-stream",
		"*/*, text/event-stream;q=0.5":                               "text/event-stream",
		"application/json, text/event-stream":                        "application/json; charset=utf-8",
		"application/graphql-response+json, text/event-stream":       "application/graphql-response+json; charset=utf-8",
		"text/event-streams":                                         "application/json; charset=utf-8",
		"multipart/mixed, application/json;q=0.9, text/event-stream": "application/json; charset=utf-8",
	} {
		res, _ := f.stream(t.Context(), "{a}", "Accept: "+accept)
		assert.Equal(t, want, res.Header.Get("Content-Type"), accept)
	}
	r := f.query("subscription{events}", nil)
	assert.Equal(t, 200, r.status)
	assert.Equal(t, "BAD_USER_INPUT", r.code(), "a subscription can't be answered once")
	r = f.query("subscription{events}", nil, "Accept: application/graphql-response+json")
	assert.Equal(t, 400, r.status)
}

func TestRefusedEventsEchoNothing(t *testing.T) {
	f := startLive(t, answer(`{}`))
	for name, tc := range map[string]struct {
		body, authorization string
		status              int
		code                string
	}{
		"broken off":  {`{"query":"secret`, "", 400, "BAD_USER_INPUT"},
		"a batch":     {`[{"query":"{secret}"}]`, "", 400, "BAD_USER_INPUT"},
		"a bad token": {`{"query":"{a}"}`, "Bearer secret", 401, "UNAUTHENTICATED"},
	} {
		t.Run(name, func(t *testing.T) {
			headers := []string{"Content-Type: application/json", "Accept: text/event-stream"}
			if tc.authorization != "" {
				headers = append(headers, "Authorization: "+tc.authorization)
			}
			r := f.send(http.MethodPost, "/graphql", strings.NewReader(tc.body), headers...)
			assert.Equal(t, tc.status, r.status)
			assert.Equal(t, tc.code, r.code())
			assert.NotContains(t, r.body, "secret")
			assert.NotContains(t, f.logs.String(), "secret")
		})
	}
}

func TestEventsCut(t *testing.T) {
	began, ended := make(chan context.Context, 1), make(chan struct{}, 1)
	f := startLive(t, endless(began, ended))
	t.Run("by the client", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f.stream(ctx, "subscription{events}")
		<-began
		cancel()
		<-ended
	})
	t.Run("by a stop", func(t *testing.T) {
		_, lines := f.stream(t.Context(), "subscription{events}")
		<-began
		require.NoError(t, f.Shutdown(t.Context()))
		<-ended
		_, _, ok := nextEvent(lines)
		assert.False(t, ok, "no complete, so the client comes again")
	})
}

func TestEventsTokenEnds(t *testing.T) {
	began, ended := make(chan context.Context, 1), make(chan struct{}, 1)
	var over atomic.Bool
	f := startLive(t, endless(began, ended), func(s *Server) {
		s.times.check = 2 * time.Millisecond
		s.deps.Authenticate = func(context.Context, string) (social.Viewer, error) {
			if over.Load() {
				return social.Viewer{}, social.Fail(social.CodeUnauthenticated, "The token is not valid.")
			}
			return social.Viewer{Player: 7}, nil
		}
	})
	_, lines := f.stream(t.Context(), "subscription{events}", "Authorization: Bearer 7")
	<-began
	over.Store(true)
	<-ended
	name, data, _ := nextEvent(lines)
	assert.Equal(t, "next", name)
	assert.Contains(t, data, `"code":"UNAUTHENTICATED"`)
	name, _, _ = nextEvent(lines)
	assert.Equal(t, "complete", name)
}

func TestEventsSlowConsumer(t *testing.T) {
	f := startLive(t, func(ctx context.Context) graphql.ResponseHandler {
		return func(context.Context) *graphql.Response {
			social.EndStream(ctx, social.Fail(social.CodeSlowConsumer, "You do not keep up."))
			return nil
		}
	})
	_, lines := f.stream(t.Context(), "subscription{events}")
	name, data, _ := nextEvent(lines)
	assert.Equal(t, "next", name)
	assert.Contains(t, data, `"code":"SLOW_CONSUMER"`)
	name, _, _ = nextEvent(lines)
	assert.Equal(t, "complete", name)
}

// Comments go on long after the times within which a request must be read and answered.
func TestEventsOutlastRequests(t *testing.T) {
	feed := make(chan string)
	f := startLive(t, source(feed), func(s *Server) {
		s.times.comment = 10 * time.Millisecond
		s.http.ReadTimeout, s.http.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	})
	_, lines := f.stream(t.Context(), "subscription{events}")
	for comments := 0; comments < 20; {
		require.True(t, lines.Scan(), "the stream ended after %d comments: %v", comments, lines.Err())
		if lines.Text() == ":" {
			comments++
		}
	}
	feed <- `{"events":1}`
	_, data, _ := nextEvent(lines)
	assert.JSONEq(t, `{"data":{"events":1}}`, data)
	close(feed)
}

func TestEventsStalledReader(t *testing.T) {
	ended := make(chan struct{})
	large := []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	f := startLive(t, func(ctx context.Context) graphql.ResponseHandler {
		context.AfterFunc(ctx, func() { close(ended) })
		return func(context.Context) *graphql.Response { return &graphql.Response{Data: large} }
	}, times(func(s *streamTimes) { s.write = 100 * time.Millisecond }))
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	body := `{"query":"subscription{events}"}`
	_, err = conn.Write([]byte("POST /graphql HTTP/1.1\r\nHost: circle\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: 32\r\n\r\n" + body))
	require.NoError(t, err)
	<-ended
	require.NoError(t, f.Shutdown(t.Context()))
}
