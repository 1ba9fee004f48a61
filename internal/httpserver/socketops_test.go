package httpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"circle/internal/social"
)

func TestSocketAnswersOperations(t *testing.T) {
	f := startLive(t, answer(`{"a":1}`))
	w := f.open()
	for _, document := range []string{"{a}", "mutation{touch}", "subscription{events}", "query Q{a}"} {
		w.subscribe("é\"1", document)
		w.expect(`{"id":"é\"1","type":"next","payload":{"data":{"a":1}}}`)
		w.expect(`{"id":"é\"1","type":"complete"}`)
	}
	for document, code := range map[string]string{
		"{":         "BAD_USER_INPUT",
		"{unknown}": "BAD_USER_INPUT",
		"{" + strings.Repeat("a ", MaxTokens) + "}": "LIMIT_EXCEEDED",
	} {
		w.subscribe("2", document)
		assert.Equal(t, code, w.expectError("2"), document)
	}
	w.send(`{"type":"complete","id":"unknown"}`)
	w.send(`{"type":"ping"}`)
	w.expect(`{"type":"pong"}`)
}

func TestSubscriptionEndings(t *testing.T) {
	events := func(next func(ctx context.Context, i int) *graphql.Response) func(context.Context) graphql.ResponseHandler {
		return func(resolver context.Context) graphql.ResponseHandler {
			i := -1
			return func(ctx context.Context) *graphql.Response {
				i++
				if i == 0 {
					return &graphql.Response{Data: []byte(`{"events":0}`)}
				}
				return next(resolver, i)
			}
		}
	}
	slow := social.Fail(social.CodeSlowConsumer, "You do not keep up.")
	for name, tc := range map[string]struct {
		next     func(ctx context.Context, i int) *graphql.Response
		messages []string
		slow     int
	}{
		"by itself": {
			next:     func(context.Context, int) *graphql.Response { return nil },
			messages: []string{`{"id":"1","type":"complete"}`},
		},
		"a slow consumer": {
			next: func(ctx context.Context, _ int) *graphql.Response {
				social.EndStream(ctx, slow)
				social.EndStream(ctx, social.Fail(social.CodeInternal, "Too late."))
				return nil
			},
			messages: []string{`{"id":"1","type":"error","payload":[{"message":"You do not keep up.","extensions":{"code":"SLOW_CONSUMER","requestId":"R.1"}}]}`},
			slow:     1,
		},
		"an error as its last event": {
			next: func(_ context.Context, i int) *graphql.Response {
				if i > 1 {
					return nil
				}
				return &graphql.Response{Errors: gqlerror.List{{Message: "Slow.", Extensions: map[string]any{"code": "SLOW_CONSUMER"}}}}
			},
			messages: []string{`{"id":"1","type":"next","payload":{"errors":[{"message":"Slow.","extensions":{"code":"SLOW_CONSUMER"}}]}}`, `{"id":"1","type":"complete"}`},
			slow:     1,
		},
		"a panic": {
			next:     func(context.Context, int) *graphql.Response { panic("secret") },
			messages: []string{`{"id":"1","type":"error","payload":[{"message":"Something went wrong.","extensions":{"code":"INTERNAL","requestId":"R.1"}}]}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := startLive(t, events(tc.next))
			w := f.dial("X-Request-Id: R")
			w.send(initAnonymous)
			w.expect(`{"type":"connection_ack"}`)
			w.send(subscription)
			w.expect(`{"id":"1","type":"next","payload":{"data":{"events":0}}}`)
			for _, m := range tc.messages {
				w.expect(m)
			}
			w.send(`{"type":"ping"}`)
			w.expect(`{"type":"pong"}`)
			assert.Contains(t, f.send(http.MethodGet, "/metrics", nil).body, fmt.Sprintf("circle_stream_slow_consumers_total %d\n", tc.slow))
		})
	}
}

func TestSocketDeadline(t *testing.T) {
	f := startLive(t, func(context.Context) graphql.ResponseHandler {
		return func(ctx context.Context) *graphql.Response { <-ctx.Done(); return nil }
	}, func(s *Server) { s.post.timeout = 20 * time.Millisecond })
	w := f.open()
	w.subscribe("1", "{a}")
	assert.Equal(t, "UNAVAILABLE", w.expectError("1"))
}

func TestCompleteFreesTheID(t *testing.T) {
	began, ended := make(chan context.Context), make(chan struct{})
	f := startLive(t, endless(began, ended))
	w := f.open()
	for range 3 {
		w.send(subscription)
		<-began
		w.send(`{"id":"1","type":"complete"}`)
		w.send(subscription) // before the first has ended
		<-began
		<-ended
		w.send(`{"id":"1","type":"complete"}`)
		<-ended
	}
	w.send(`{"type":"ping"}`)
	w.expect(`{"type":"pong"}`) // nothing is said of operations that the client is done with
}

func TestTooManyOperations(t *testing.T) {
	began, ended := make(chan context.Context, MaxSocketOperations), make(chan struct{}, MaxSocketOperations+2)
	f := startLive(t, endless(began, ended))
	w := f.open()
	for i := range MaxSocketOperations {
		w.subscribe(fmt.Sprint(i), "subscription{events}")
		<-began
	}
	w.subscribe("more", "{a}")
	assert.Equal(t, "LIMIT_EXCEEDED", w.expectError("more"))
	w.send(`{"id":"0","type":"complete"}`)
	w.subscribe("more", "subscription{events}")
	<-began
	w.subscribe("evenmore", "{a}")
	assert.Equal(t, "LIMIT_EXCEEDED", w.expectError("evenmore"))
}

func TestOperationsThatDoNotEndAreBounded(t *testing.T) {
	began, leave := make(chan struct{}), make(chan struct{})
	f := startLive(t, func(context.Context) graphql.ResponseHandler {
		return func(context.Context) *graphql.Response {
			began <- struct{}{}
			<-leave // whatever its context says
			return nil
		}
	})
	t.Cleanup(func() { close(leave) })
	w := f.open()
	for range maxSocketGoroutines {
		w.send(subscription)
		<-began
		w.send(`{"id":"1","type":"complete"}`)
	}
	w.send(subscription)
	assert.Equal(t, "LIMIT_EXCEEDED", w.expectError("1"))
}

func TestSocketRateLimits(t *testing.T) {
	f := startLive(t, answer(`{"a":1}`), func(s *Server) { s.limits = newRateLimits(s.deps.Now) })
	w := f.open()
	for range RequestBurst - 1 { // the upgrade took one
		w.subscribe("1", "{a}")
		w.receive()
		w.receive()
	}
	w.subscribe("1", "{a}")
	assert.Equal(t, "RATE_LIMITED", w.expectError("1"))
	f.clock.move(time.Second)
	w.subscribe("1", "{a}")
	w.expect(`{"id":"1","type":"next","payload":{"data":{"a":1}}}`)
}

// One of a hundred never reads. The others get all events; it is ended, and nothing of it remains.
func TestStalledReader(t *testing.T) {
	const others, events = 99, 30
	large := `"` + strings.Repeat("x", 1<<20) + `"`
	stalled := make(chan struct{})
	f := startLive(t, func(ctx context.Context) graphql.ResponseHandler {
		if playerOf(ctx) == 7 {
			context.AfterFunc(ctx, func() { close(stalled) })
			return func(ctx context.Context) *graphql.Response { return &graphql.Response{Data: []byte(large)} }
		}
		i := 0
		return func(ctx context.Context) *graphql.Response {
			if i == events/2 {
				<-stalled // half of the events come while it stalls, half when it is gone
			}
			if i++; i > events {
				return nil
			}
			return &graphql.Response{Data: fmt.Append(nil, i)}
		}
	}, times(func(s *streamTimes) { s.write = 300 * time.Millisecond }))
	silent := f.open()
	silent.send(subscription)
	got := make(chan int, others)
	for range others {
		w := f.dial()
		w.send(initAnonymous)
		w.expect(`{"type":"connection_ack"}`)
		w.send(subscription)
		go func() { got <- countNext(w.conn) }()
	}
	for range others {
		assert.Equal(t, events, <-got)
	}
	<-stalled
	require.Eventually(t, func() bool {
		return strings.Contains(f.send(http.MethodGet, "/metrics", nil).body, `circle_streams_open{transport="websocket"} 99`)
	}, 5*time.Second, time.Millisecond)
	assert.Contains(t, f.send(http.MethodGet, "/metrics", nil).body, `circle_stream_closes_total{code="stalled"} 1`)
}

// countNext counts events until the operation completes.
func countNext(conn *websocket.Conn) (n int) {
	for {
		var m struct {
			Type    string
			Payload json.RawMessage
		}
		if conn.ReadJSON(&m) != nil || m.Type != typeNext {
			return n
		}
		n++
	}
}

func TestSocketMetrics(t *testing.T) {
	began, ended := make(chan context.Context, 1), make(chan struct{}, 1)
	f := startLive(t, endless(began, ended))
	w := f.open()
	w.send(subscription)
	<-began
	body := f.send(http.MethodGet, "/metrics", nil).body
	assert.Contains(t, body, `circle_streams_open{transport="websocket"} 1`)
	assert.Contains(t, body, "circle_stream_subscriptions 1\n")
	assert.Contains(t, body, "circle_http_requests_in_flight 0\n")
	w.send(initAnonymous)
	code, _ := w.closed()
	require.Equal(t, 4429, code)
	require.NoError(t, f.Shutdown(t.Context()))
	families, err := f.deps.Metrics.Gather()
	require.NoError(t, err)
	text := fmt.Sprint(families)
	for _, want := range []string{
		`name:"circle_stream_subscriptions" help:"Running subscriptions." type:GAUGE metric:{gauge:{value:0}}`,
		`label:{name:"code" value:"4429"} counter:{value:1`,
		`label:{name:"code" value:"OK"} label:{name:"operation" value:"subscription"} counter:{value:1`,
	} {
		assert.Contains(t, strings.ReplaceAll(text, "  ", " "), want)
	}
	assert.NotContains(t, text, `label:{name:"operation" value:"subscription"} histogram`)
}

func FuzzDecodeMessage(f *testing.F) {
	for _, seed := range []string{
		initAnonymous, subscription, `{"type":"ping","payload":{"a":1}}`, `{"type":"pong","payload":null}`,
		`{"type":"complete","id":"1"}`, `{"id":1}`, "[]", "{", "null", `"x"`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decodeMessage(data)
		if err != nil {
			require.LessOrEqual(t, len(err.Error()), maxCloseReasonLength)
			return
		}
		again, err := decodeMessage(encodeMessage(m.Type, m.ID, m.Payload))
		require.NoError(t, err)
		require.Equal(t, m, again)
		if m.Type == typeInit {
			_, _ = authorizationOf(m.Payload)
		}
	})
}
