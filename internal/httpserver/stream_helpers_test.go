package httpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"circle/internal/social"
)

// liveSchema is executable, has a subscription, and does what run says.
type liveSchema struct {
	stub
	run func(ctx context.Context) graphql.ResponseHandler
}

var live = gqlparser.MustLoadSchema(&ast.Source{Name: "live.graphqls", Input: `
	type Query { a: Int }
	type Mutation { touch: Int }
	type Subscription { events: Int }`})

func (s liveSchema) Schema() *ast.Schema { return live }

func (s liveSchema) Exec(ctx context.Context) graphql.ResponseHandler { return s.run(ctx) }

// startLive starts a server whose operations are run by run, and whose streams take no part in the
// passing of time but for what change sets.
func startLive(t *testing.T, run func(ctx context.Context) graphql.ResponseHandler, change ...func(*Server)) *fixture {
	t.Helper()
	return start(t, options{
		change: func(d *Deps) { d.Schema = liveSchema{run: run} },
		before: func(s *Server) {
			s.times = streamTimes{init: time.Minute, write: time.Minute, ping: time.Minute, silence: time.Minute,
				comment: time.Minute, check: time.Minute, goodbye: 100 * time.Millisecond}
			for _, c := range change {
				c(s)
			}
		},
	})
}

// times changes the times of streams.
func times(change func(*streamTimes)) func(*Server) {
	return func(s *Server) { change(&s.times) }
}

// source streams what comes through the channel, as data.
func source(events <-chan string) func(context.Context) graphql.ResponseHandler {
	return func(context.Context) graphql.ResponseHandler {
		return func(ctx context.Context) *graphql.Response {
			select {
			case event, ok := <-events:
				if ok {
					return &graphql.Response{Data: []byte(event)}
				}
			case <-ctx.Done():
			}
			return nil
		}
	}
}

// endless gives no event, and says when an operation begins and ends.
func endless(began chan<- context.Context, ended chan<- struct{}) func(context.Context) graphql.ResponseHandler {
	return func(resolver context.Context) graphql.ResponseHandler {
		return func(ctx context.Context) *graphql.Response {
			began <- resolver
			<-ctx.Done()
			ended <- struct{}{}
			return nil
		}
	}
}

// answer answers once.
func answer(data string) func(context.Context) graphql.ResponseHandler {
	return func(context.Context) graphql.ResponseHandler {
		return graphql.OneShot(&graphql.Response{Data: []byte(data)})
	}
}

// wire is a client's end of a socket.
type wire struct {
	t    *testing.T
	conn *websocket.Conn
}

// dial opens a socket; headers are "Name: value".
func (f *fixture) dial(headers ...string) *wire {
	f.t.Helper()
	conn, res, err := f.tryDial(headers...)
	require.NoError(f.t, err)
	require.NotEmpty(f.t, res.Header.Get(headerRequestID))
	f.t.Cleanup(func() { _ = conn.Close() })
	return &wire{f.t, conn}
}

func (f *fixture) tryDial(headers ...string) (*websocket.Conn, *http.Response, error) {
	header := http.Header{}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		header.Add(name, value)
	}
	if header.Get("Sec-WebSocket-Protocol") == "" {
		header.Set("Sec-WebSocket-Protocol", subprotocol)
	}
	return websocket.DefaultDialer.DialContext(f.t.Context(), "ws"+strings.TrimPrefix(f.url, "http")+"/graphql", header)
}

// open opens a socket and introduces player 7.
func (f *fixture) open() *wire {
	f.t.Helper()
	w := f.dial()
	w.send(`{"type":"connection_init","payload":{"Authorization":"Bearer 7"}}`)
	w.expect(`{"type":"connection_ack"}`)
	return w
}

func (w *wire) send(text string) {
	w.t.Helper()
	require.NoError(w.t, w.conn.WriteMessage(websocket.TextMessage, []byte(text)))
}

func (w *wire) subscribe(id, query string) {
	w.t.Helper()
	w.send(fmt.Sprintf(`{"id":%q,"type":"subscribe","payload":{"query":%q}}`, id, query))
}

func (w *wire) receive() string {
	w.t.Helper()
	_, text, err := w.conn.ReadMessage()
	require.NoError(w.t, err)
	return string(text)
}

func (w *wire) expect(message string) {
	w.t.Helper()
	require.JSONEq(w.t, message, w.receive())
}

// expectError takes an error message of the operation and gives its first code.
func (w *wire) expectError(id string) (code string) {
	w.t.Helper()
	var m struct {
		ID, Type string
		Payload  []struct {
			Extensions struct{ Code, RequestID string }
		}
	}
	text := w.receive()
	require.NoError(w.t, json.Unmarshal([]byte(text), &m), text)
	require.Equal(w.t, typeError, m.Type, text)
	require.Equal(w.t, id, m.ID, text)
	require.NotEmpty(w.t, m.Payload[0].Extensions.RequestID)
	return m.Payload[0].Extensions.Code
}

// closed waits for the end of the socket and gives its code, 1006 where there is none.
func (w *wire) closed() (code int, reason string) {
	w.t.Helper()
	for {
		_, _, err := w.conn.ReadMessage()
		var closed *websocket.CloseError
		if errors.As(err, &closed) {
			return closed.Code, closed.Text
		}
		if err != nil {
			return websocket.CloseAbnormalClosure, err.Error()
		}
	}
}

// stream posts an operation and gives the lines of the answer.
func (f *fixture) stream(ctx context.Context, query string, headers ...string) (*http.Response, *bufio.Scanner) {
	f.t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	require.NoError(f.t, err)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url+"/graphql", strings.NewReader(string(body)))
	require.NoError(f.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := f.client.Do(req)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = res.Body.Close() })
	return res, bufio.NewScanner(res.Body)
}

// nextEvent reads up to the next event: its name and data.
func nextEvent(lines *bufio.Scanner) (event, data string, ok bool) {
	for lines.Scan() {
		switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
		case "event":
			event = value
		case "data":
			data = value
		case "":
			if event != "" {
				return event, data, true
			}
		}
	}
	return "", "", false
}

func playerOf(ctx context.Context) social.PlayerID { return social.ViewerFrom(ctx).Player }
