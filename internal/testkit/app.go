package testkit

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"circle/internal/app"
	"circle/internal/config"
)

// App is a server under test, with a client to use it with.
type App struct {
	*app.App
	URL    string
	Stores Stores
	Trips  *Trips
	client *http.Client
	stop   func() error
}

// Start starts a server on the stores; settings are CIRCLE_NAME=value. It stops when the test ends.
func Start(t testing.TB, stores Stores, settings ...string) *App {
	t.Helper()
	a, err := TryStart(t, stores, settings...)
	require.NoError(t, err)
	return a
}

// TryStart is Start for servers that may refuse to.
func TryStart(t testing.TB, stores Stores, settings ...string) (*App, error) {
	t.Helper()
	cfg, err := config.Load(append(stores.Environ(), settings...))
	require.NoError(t, err)
	a := Client("")
	a.Stores, a.Trips = stores, &Trips{}
	a.App, err = app.Open(context.Background(), app.Options{
		Config: cfg, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: time.Now,
		RedisHooks: []redis.Hook{a.Trips}, OnStatement: a.Trips.statement,
		// A busy machine must not make Redis look as if it were away.
		RedisTimeout: 10 * time.Second,
		ListCap:      stores.ListCap,
		// Tests make hundreds of players, who need not be safe.
		PasswordMemory: 64,
	})
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	a.URL = "http://" + ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, ln) }()
	a.stop = sync.OnceValue(func() error {
		a.client.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			return fmt.Errorf("serve: %w", err)
		}
		return a.Close()
	})
	t.Cleanup(func() { require.NoError(t, a.stop()) })
	return a, nil
}

// Client uses a server that runs elsewhere.
func Client(url string) *App {
	return &App{URL: url, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
}

// Ready says whether the server answers requests.
func (a *App) Ready() bool {
	response, err := a.client.Get(a.URL + "/readyz")
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// Quiet waits until all that follows from earlier mutations is done.
func Quiet(t testing.TB, a *App) {
	t.Helper()
	require.Eventually(t, func() bool {
		left, err := a.Outbox(context.Background())
		return err == nil && left.Near+left.Far == 0
	}, 10*time.Second, 5*time.Millisecond)
}

// Stop stops the server in good order.
func (a *App) Stop(t testing.TB) {
	t.Helper()
	require.NoError(t, a.stop())
}

// Trips counts what a server asked of its stores.
type Trips struct{ redis, sql atomic.Int64 }

// Count runs fn and tells how many trips to Redis and SQL statements were made meanwhile, those of
// the server's background loops included.
func (c *Trips) Count(fn func()) (redis, sql int64) {
	r, s := c.redis.Load(), c.sql.Load()
	fn()
	return c.redis.Load() - r, c.sql.Load() - s
}

func (c *Trips) statement() { c.sql.Add(1) }

// DialHook implements redis.Hook.
func (c *Trips) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (c *Trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.redis.Add(1)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (c *Trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.redis.Add(1)
		return next(ctx, cmds)
	}
}
