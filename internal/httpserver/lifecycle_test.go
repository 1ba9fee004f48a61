package httpserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

func TestShutdownDrains(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	f := start(t, options{answer: func(context.Context) *graphql.Response {
		close(entered)
		<-leave
		return &graphql.Response{Data: []byte(`{"done":true}`)}
	}})
	answered := make(chan reply, 1)
	go func() { answered <- f.query("{__typename}", nil) }()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- f.Shutdown(context.Background()) }()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, 5*time.Second, time.Millisecond, "no new connections")
	select {
	case <-stopped:
		t.Fatal("Shutdown did not wait for the running request")
	default:
	}
	close(leave)
	require.NoError(t, <-stopped)
	assert.JSONEq(t, `{"data":{"done":true}}`, (<-answered).body)
}

func TestShutdownCutsOffWhatOutlastsIt(t *testing.T) {
	entered, ended := make(chan struct{}), make(chan struct{})
	f := start(t, options{answer: func(ctx context.Context) *graphql.Response {
		close(entered)
		<-ctx.Done()
		close(ended)
		return &graphql.Response{Data: []byte(`{}`)}
	}})
	client := make(chan error, 1)
	go func() {
		res, err := f.client.Post(f.url+"/graphql", "application/json", strings.NewReader(typename))
		if err == nil {
			_ = res.Body.Close()
		}
		client <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, f.Shutdown(ctx), context.Canceled)
	<-ended
	require.Error(t, <-client)
}

func TestDrainingIsNotReady(t *testing.T) {
	f := start(t, options{})
	f.draining.Store(true)
	r := f.send(http.MethodGet, "/readyz", nil)
	assert.Equal(t, 503, r.status)
	assert.Equal(t, "stopping\n", r.body)
}

func TestSlowBody(t *testing.T) {
	f := start(t, options{before: func(s *Server) { s.http.ReadTimeout = 100 * time.Millisecond }})
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: circle\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusRequestTimeout, res.StatusCode)
	assert.Contains(t, string(body), "BAD_USER_INPUT")
	assert.True(t, res.Close, "the connection ends")
}

func TestSlowHeaders(t *testing.T) {
	f := start(t, options{before: func(s *Server) { s.http.ReadHeaderTimeout = 50 * time.Millisecond }})
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost:")
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, err = io.ReadAll(conn)
	require.NoError(t, err, "the server hangs up")
}

func TestHugeHeaders(t *testing.T) {
	f := start(t, options{})
	r := f.query("{__typename}", nil, "X-Much: "+strings.Repeat("x", 64<<10))
	assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, r.status)
}

func TestDeadline(t *testing.T) {
	shorten := func(timeout time.Duration) func(*Server) {
		return func(s *Server) {
			s.post.timeout = timeout
			s.http.Handler = s.routes() // routes copy the transport
		}
	}
	t.Run("within resolvers", func(t *testing.T) {
		f := start(t, options{before: shorten(50 * time.Millisecond), answer: func(ctx context.Context) *graphql.Response {
			<-ctx.Done()
			graphql.AddError(ctx, social.Unavailable(ctx.Err()))
			return &graphql.Response{Data: []byte(`null`)}
		}})
		r := f.query("{__typename}", nil)
		assert.Equal(t, 200, r.status)
		assert.Equal(t, "UNAVAILABLE", r.code())
	})
	t.Run("before any", func(t *testing.T) {
		f := start(t, options{before: shorten(0)})
		r := f.query("{__typename}", nil)
		assert.Equal(t, 503, r.status)
		assert.Equal(t, "UNAVAILABLE", r.code())
	})
}

func TestOperatorsEndpoints(t *testing.T) {
	var notReady error
	f := start(t, options{change: func(d *Deps) {
		d.Ready = func(ctx context.Context) error {
			_, bounded := ctx.Deadline()
			assert.True(t, bounded)
			return notReady
		}
	}})
	for name, tc := range map[string]struct {
		method, path string
		status       int
		body         string
	}{
		"alive":           {"GET", "/healthz", 200, "alive\n"},
		"ready":           {"GET", "/readyz", 200, "ready\n"},
		"root":            {"GET", "/", 200, "Circle. The API is at /graphql.\n"},
		"unknown":         {"GET", "/nothing", 404, "404 page not found\n"},
		"no playground":   {"GET", "/playground", 404, "404 page not found\n"},
		"another method":  {"POST", "/healthz", 405, "Method Not Allowed\n"},
		"posting to root": {"POST", "/", 405, "Method Not Allowed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.send(tc.method, tc.path, nil)
			assert.Equal(t, tc.status, r.status)
			assert.Equal(t, tc.body, r.body)
		})
	}
	notReady = errors.New("secret cause")
	r := f.send(http.MethodGet, "/readyz", nil)
	assert.Equal(t, 503, r.status)
	assert.Equal(t, "not ready\n", r.body)
	assert.Contains(t, f.logs.String(), "secret cause")
}

func TestPlayground(t *testing.T) {
	files := fstest.MapFS{"index.html": {Data: []byte("<html>page")}, "playground.js": {Data: []byte("code")}}
	config := options{change: func(d *Deps) { d.Playground = files }}
	r := start(t, config).send(http.MethodGet, "/playground", nil)
	assert.Equal(t, 503, r.status)
	assert.Contains(t, r.body, "make assets")

	for _, name := range []string{"graphiql.min.js", "graphiql.min.css", "react.production.min.js", "react-dom.production.min.js"} {
		files["vendor/"+name] = &fstest.MapFile{Data: []byte("x")}
	}
	f := start(t, config)
	r = f.send(http.MethodGet, "/playground", nil)
	assert.Equal(t, 200, r.status)
	assert.Equal(t, "<html>page", r.body)
	assert.Contains(t, r.header.Get("Content-Security-Policy"), "script-src 'self';")
	assert.Equal(t, "text/javascript; charset=utf-8", f.send(http.MethodGet, "/playground/playground.js", nil).header.Get("Content-Type"))
	assert.Equal(t, "/playground", f.send(http.MethodGet, "/", nil).header.Get("Location"))
	for _, path := range []string{"/playground/", "/playground/vendor", "/playground/vendor/", "/playground/none", "/playground/index.html", "/playground/%2e%2e/go.mod"} {
		assert.Equal(t, 404, f.send(http.MethodGet, path, nil).status, path)
	}

	config.config.Production = true
	assert.Equal(t, 404, start(t, config).send(http.MethodGet, "/playground", nil).status)
}

func TestMetrics(t *testing.T) {
	f := start(t, options{})
	f.query("{__typename}", nil)
	f.query("mutation Name{logOut{userErrors{code}}}", nil)
	f.query("{", nil)
	f.query("{__typename}", nil, "Authorization: Bearer x")
	body := f.send(http.MethodGet, "/metrics", nil).body
	for _, line := range []string{
		`circle_http_requests_total{code="OK",operation="query"} 1`,
		`circle_http_requests_total{code="OK",operation="mutation"} 1`,
		`circle_http_requests_total{code="BAD_USER_INPUT",operation="none"} 1`,
		`circle_http_requests_total{code="UNAUTHENTICATED",operation="none"} 1`,
		`circle_http_request_duration_seconds_count{operation="query"} 1`,
		"circle_http_requests_in_flight 0",
		"go_goroutines ", "process_open_fds ",
	} {
		assert.Contains(t, body, line)
	}
	assert.NotContains(t, body, "Name")
}
