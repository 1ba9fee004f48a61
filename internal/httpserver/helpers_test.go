package httpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"go.uber.org/goleak"

	"circle/internal/social"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// contract is the real schema.
var contract = sync.OnceValue(func() *ast.Schema {
	text, err := os.ReadFile("../../schema.graphqls")
	if err != nil {
		panic(err)
	}
	return gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphqls", Input: string(text)})
})

// stub is an executable schema that answers what answer says.
type stub struct {
	answer func(ctx context.Context) *graphql.Response
}

func (s stub) Schema() *ast.Schema { return contract() }

func (s stub) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

func (s stub) Exec(context.Context) graphql.ResponseHandler {
	answered := false
	return func(ctx context.Context) *graphql.Response {
		if answered {
			return nil
		}
		answered = true
		return s.answer(ctx)
	}
}

// fixture is a running server and what its tests turn.
type fixture struct {
	*Server
	t      *testing.T
	url    string
	logs   *syncBuffer
	clock  *clock
	client *http.Client
}

// options change a fixture before it starts.
type options struct {
	config Config
	answer func(ctx context.Context) *graphql.Response
	change func(*Deps)
	before func(*Server)
}

func start(t *testing.T, o options) *fixture {
	t.Helper()
	logs, clock := &syncBuffer{}, &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if o.answer == nil {
		o.answer = func(context.Context) *graphql.Response {
			return &graphql.Response{Data: []byte(`{"__typename":"Query"}`)}
		}
	}
	deps := Deps{
		Schema:       stub{o.answer},
		Authenticate: authenticate,
		Ready:        func(context.Context) error { return nil },
		Present:      present,
		Recover: func(context.Context, any) error {
			return social.Fail(social.CodeInternal, "Something went wrong.")
		},
		Metrics: prometheus.NewRegistry(),
		Log:     slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:     clock.now,
	}
	if o.change != nil {
		o.change(&deps)
	}
	server := New(o.config, deps)
	if o.before != nil {
		o.before(server)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(ctx)
		require.NoError(t, <-served)
	})
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &fixture{server, t, "http://" + ln.Addr().String(), logs, clock, client}
}

// authenticate knows "Bearer N" for player N, and a store that is away.
func authenticate(_ context.Context, header string) (social.Viewer, error) {
	var id social.PlayerID
	if header == "Bearer away" {
		return social.Viewer{}, social.Unavailable(errors.New("secret cause"))
	}
	if _, err := fmt.Sscanf(header, "Bearer %d", &id); err != nil {
		return social.Viewer{}, social.Fail(social.CodeUnauthenticated, "The token does not hold.")
	}
	return social.Viewer{Player: id}, nil
}

// present is a small error table.
func present(_ context.Context, err error) *gqlerror.Error {
	var own *social.Error
	var shown *gqlerror.Error
	out := &gqlerror.Error{Message: "Something went wrong.", Extensions: map[string]any{"code": "INTERNAL"}}
	if errors.As(err, &own) {
		out.Message, out.Extensions["code"] = own.Message, string(own.Code)
	}
	if errors.As(err, &shown) {
		out.Locations = shown.Locations
	}
	return out
}

// reply is an answer, read.
type reply struct {
	status int
	header http.Header
	body   string
	Errors []struct {
		Message    string
		Path       []any
		Extensions struct{ Code, RequestID string }
	}
	Data json.RawMessage
}

func (r reply) code() string {
	if len(r.Errors) == 0 {
		return ""
	}
	return r.Errors[0].Extensions.Code
}

// send makes a request; headers are "Name: value".
func (f *fixture) send(method, path string, body io.Reader, headers ...string) reply {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, body)
	require.NoError(f.t, err)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Set(name, value)
	}
	res, err := f.client.Do(req)
	require.NoError(f.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(f.t, err)
	r := reply{status: res.StatusCode, header: res.Header, body: string(text)}
	if strings.Contains(res.Header.Get("Content-Type"), "json") {
		require.NoError(f.t, json.Unmarshal(text, &r), string(text))
	}
	return r
}

// query sends a document with variables.
func (f *fixture) query(document string, variables map[string]any, headers ...string) reply {
	f.t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	require.NoError(f.t, err)
	return f.send(http.MethodPost, "/graphql", bytes.NewReader(body), append([]string{"Content-Type: application/json"}, headers...)...)
}

// clock stands still until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
