package outbox

import (
	"context"
	"log/slog"
	"strings"
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

var _ Store = (*sqlstore.Store)(nil)

// clock is set by hand.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// each runs fn on each kind of database, migrated, with a store of owner 1.
func each(t *testing.T, fn func(t *testing.T, b *bench)) {
	freshdb.Each(t, func(t *testing.T, url string) {
		b := &bench{url: url, clock: &clock{at: time.UnixMilli(1_800_000_000_000)}}
		b.store = b.open(t, 1)
		require.NoError(t, b.store.Migrate(t.Context()))
		fn(t, b)
	})
}

// bench is a database, a store on it and a clock.
type bench struct {
	*clock
	url   string
	store *sqlstore.Store
}

// embedded says that one process alone serves from the database.
func (b *bench) embedded() bool { return strings.HasPrefix(b.url, "sqlite:") }

func (b *bench) open(t *testing.T, owner int64) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: b.url, Owner: owner, Now: b.now, MaxConns: 8})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// runner makes a runner on the store whose clock is the bench's.
func (b *bench) runner(store Store, near NearHandler, far FarHandler) *Runner {
	cfg := Config{Store: store, Near: near, Now: b.now, Log: slog.New(slog.DiscardHandler), Poll: 10 * time.Millisecond}
	if far != nil {
		cfg.Far = map[social.EventKind]FarHandler{social.EventLike: far}
	}
	return New(cfg)
}

// add appends events of the store's owner.
func add(t *testing.T, s *sqlstore.Store, events ...social.Event) {
	t.Helper()
	require.NoError(t, s.InTx(t.Context(), func(tx *sqlstore.Tx) error {
		for _, e := range events {
			if err := tx.Append(t.Context(), e); err != nil {
				return err
			}
		}
		return nil
	}))
}

func like(id, actor int64) social.Event {
	return social.Event{ID: social.EventID(id), Kind: social.EventLike, Actor: social.PlayerID(actor), Subject: id, Object: actor, Epoch: 1}
}

func (b *bench) stats(t *testing.T) social.OutboxStats {
	t.Helper()
	stats, err := b.store.OutboxStats(t.Context())
	require.NoError(t, err)
	return stats
}

// stopped stops a runner at the test's end.
func stopped(t *testing.T, r *Runner) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	require.NoError(t, r.Stop(ctx))
}

// nearFunc and farFunc are handlers.
type (
	nearFunc func(ctx context.Context, events []social.Event) error
	farFunc  func(ctx context.Context, e social.Event, place []byte, save SavePlace) error
)

func (f nearFunc) Near(ctx context.Context, events []social.Event) error { return f(ctx, events) }

func (f farFunc) Far(ctx context.Context, e social.Event, place []byte, save SavePlace) error {
	return f(ctx, e, place, save)
}

var nothing = nearFunc(func(context.Context, []social.Event) error { return nil })

// runs counts how often each event was run.
type runs struct {
	mu    sync.Mutex
	times map[social.EventID]int
	total int
}

func (r *runs) note(events ...social.Event) (total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.times == nil {
		r.times = map[social.EventID]int{}
	}
	for _, e := range events {
		r.times[e.ID]++
		r.total++
	}
	return r.total
}

func (r *runs) of(id int64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.times[social.EventID(id)]
}

// await receives from a channel, soon.
func await[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(20 * time.Second):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

// watched is a store that tells what is marked, and may hold it up.
type watched struct {
	*sqlstore.Store
	near    chan []social.Event
	far     chan social.Event
	renewed chan struct{}
	// asked tells the size of each group to be marked, which then waits for gate.
	asked chan int
	gate  chan struct{}
}

func (w *watched) FinishNear(ctx context.Context, now time.Time, events []social.Event, far []social.EventKind) error {
	if w.asked != nil {
		w.asked <- len(events)
		<-w.gate
	}
	err := w.Store.FinishNear(ctx, now, events, far)
	if w.near != nil {
		w.near <- events
	}
	return err
}

func (w *watched) FinishFar(ctx context.Context, now time.Time, e social.Event) error {
	err := w.Store.FinishFar(ctx, now, e)
	if w.far != nil {
		w.far <- e
	}
	return err
}

func (w *watched) RenewClaim(ctx context.Context, e social.Event, until time.Time) (bool, error) {
	held, err := w.Store.RenewClaim(ctx, e, until)
	if w.renewed != nil {
		w.renewed <- struct{}{}
	}
	return held, err
}
