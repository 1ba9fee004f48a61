package auth

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
	"circle/internal/testkit/freshdb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const password = "correct horse battery"

// How long, and how often, tests look for what goroutines do.
const (
	eventually = 10 * time.Second
	tick       = time.Millisecond
)

var secret = []byte("a secret for tests, of more than 32 bytes")

// clock is a clock that stands until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// near remembers the events that were to be run.
type near struct {
	mu     sync.Mutex
	events []social.Event
}

func (n *near) RunInline(_ context.Context, events []social.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, events...)
}

// process is what one server has of accounts.
type process struct {
	*Accounts
	near *near
}

func newProcess(store *sqlstore.Store, clock *clock, node int) process {
	n := &near{}
	// Identifiers have a clock of their own, as they wait for it.
	ids := social.NewIDSource(node, time.Now, time.Now(), time.Now().Add(time.Hour))
	changes := NewChanges(store, clock.Now, slog.New(slog.DiscardHandler))
	return process{near: n, Accounts: &Accounts{
		Store: store, Tokens: NewTokens(secret, changes, clock.Now), Changes: changes, Passwords: NewPasswords(64),
		IDs: ids, Near: n, Now: clock.Now, Log: slog.New(slog.DiscardHandler),
	}}
}

// each runs fn on each kind of database with two processes on it.
func each(t *testing.T, fn func(t *testing.T, here, there process, clock *clock)) {
	freshdb.Each(t, func(t *testing.T, url string) {
		store, clock := openStore(t, url)
		fn(t, newProcess(store, clock, 1), newProcess(store, clock, 2), clock)
	})
}

// alone is a process on an SQLite file, for what is the same on all databases.
func alone(t *testing.T) (process, *clock) {
	store, clock := openStore(t, freshdb.SQLite(t))
	return newProcess(store, clock, 1), clock
}

func openStore(t *testing.T, url string) (*sqlstore.Store, *clock) {
	clock := newClock()
	store, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: url, Owner: 1, Now: clock.Now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	require.NoError(t, store.Migrate(t.Context()))
	return store, clock
}

func requireCode(t *testing.T, want social.Code, err error, field ...string) {
	t.Helper()
	require.Equal(t, want, social.CodeOf(err), "%v", err)
	if field != nil {
		var e *social.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, field, e.Field)
	}
}

// together calls fn n times at once and returns the errors.
func together(n int, fn func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	done.Wait()
	return errs
}
