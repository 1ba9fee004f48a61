package fence_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"circle/internal/fence"
	"circle/internal/social"
	"circle/internal/store/sqlstore"
	"circle/internal/testkit/freshdb"
)

type fences = map[social.FenceKey]social.Fence

// primaries stand for Redis: each role is on a server of its own.
type primaries struct {
	mu    sync.Mutex
	says  fences
	away  map[string]bool
	raise func() // called before each raise
}

func (p *primaries) RaiseFences(_ context.Context, noted fences, at int64) (fences, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.raise != nil {
		p.raise()
	}
	found, err := fences{}, error(nil)
	for key, f := range p.says {
		if p.away[key.Role] {
			err = errors.New("away")
			continue
		}
		found[key] = f
		if n := noted[key]; f.At >= n.At && f.Server == n.Server && at > f.At {
			f.At = at
			p.says[key] = f
		}
	}
	return found, err
}

func (p *primaries) set(key social.FenceKey, f social.Fence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.says[key] = f
}

func (p *primaries) get(key social.FenceKey) social.Fence {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.says[key]
}

var (
	feed   = social.FenceKey{Role: "feed"}
	detail = social.FenceKey{Role: "detail"}
	begin  = time.UnixMilli(1_800_000_000_000)
)

// bench is a real store, primaries, a clock and servers that guard them.
type bench struct {
	t       *testing.T
	store   *sqlstore.Store
	redis   *primaries
	now     time.Time
	started map[string]uint32
}

func each(t *testing.T, fn func(b *bench)) {
	freshdb.Each(t, func(t *testing.T, url string) {
		b := &bench{t: t, now: begin, redis: &primaries{away: map[string]bool{}, says: fences{
			feed: {Server: "a"}, {Role: "feed", Number: 1}: {Server: "b"}, detail: {Server: "c"},
		}}}
		var err error
		b.store, err = sqlstore.Open(t.Context(), sqlstore.Config{URL: url, Owner: 1, Now: func() time.Time { return b.now }})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.store.Close()) })
		require.NoError(t, b.store.Migrate(t.Context()))
		// The first run of all notes the fences.
		b.run(b.guard())
		b.pass(10 * time.Second)
		b.run(b.guard())
		b.started, err = b.store.Epochs(t.Context())
		require.NoError(t, err)
		fn(b)
	})
}

type guard struct {
	*fence.Guard
	metrics *prometheus.Registry
}

func (b *bench) guard() guard {
	metrics := prometheus.NewRegistry()
	return guard{metrics: metrics, Guard: fence.New(fence.Config{
		Redis: b.redis, Store: b.store, Metrics: metrics, Now: func() time.Time { return b.now }, Log: slog.New(slog.NewTextHandler(b.t.Output(), nil)),
	})}
}

func (b *bench) run(guards ...guard) {
	b.t.Helper()
	for _, g := range guards {
		require.NoError(b.t, g.RunOnce(b.t.Context()))
	}
}

func (b *bench) pass(d time.Duration) { b.now = b.now.Add(d) }

// event makes an event that is done now.
func (b *bench) event(id int64) {
	b.t.Helper()
	e := social.Event{ID: social.EventID(id), Kind: social.EventLike, Actor: 1, Subject: id, Object: 1, Epoch: 1}
	require.NoError(b.t, b.store.InTx(b.t.Context(), func(tx *sqlstore.Tx) error { return tx.Append(b.t.Context(), e) }))
	require.NoError(b.t, b.store.FinishNear(b.t.Context(), b.now, []social.Event{e}, nil))
}

// waiting takes and ends the events that are to run again.
func (b *bench) waiting() []int64 {
	b.t.Helper()
	claimed, err := b.store.ClaimNear(b.t.Context(), b.now, b.now.Add(time.Minute), 1000)
	require.NoError(b.t, err)
	ids, events := []int64{}, []social.Event{}
	for _, c := range claimed {
		require.True(b.t, c.Replay)
		ids, events = append(ids, int64(c.ID)), append(events, c.Event)
	}
	require.NoError(b.t, b.store.FinishNear(b.t.Context(), b.now, events, nil))
	slices.Sort(ids)
	return ids
}

// ended is how often the live logs have ended since the start.
func (b *bench) ended() int {
	b.t.Helper()
	now, err := b.store.Epochs(b.t.Context())
	require.NoError(b.t, err)
	return int(now["log"] - b.started["log"])
}

// raised lists the roles whose epochs rose since the start, a role as often as it did.
func (b *bench) raised() []string {
	b.t.Helper()
	now, err := b.store.Epochs(b.t.Context())
	require.NoError(b.t, err)
	roles := []string{}
	for _, role := range slices.Sorted(maps.Keys(now)) {
		for range now[role] - b.started[role] {
			if role != "log" {
				roles = append(roles, role)
			}
		}
	}
	return roles
}
