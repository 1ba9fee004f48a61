package redisstore

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

var quiet = slog.New(slog.DiscardHandler)

// gate passes connections on to a server, or lets them hang.
type gate struct {
	net.Listener
	to string

	mu      sync.Mutex
	hanging bool
	conns   []net.Conn
	mute    *atomic.Bool // of the connections made since the last silence
	group   sync.WaitGroup
}

func newGate(t *testing.T, to string) *gate {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gate{Listener: listener, to: to, hanging: true, mute: new(atomic.Bool)}
	g.group.Go(g.serve)
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		g.hang(true)
		g.group.Wait()
	})
	return g
}

func (g *gate) serve() {
	for {
		conn, err := g.Accept()
		if err != nil {
			return
		}
		g.mu.Lock()
		g.conns = append(g.conns, conn)
		if !g.hanging {
			back, err := net.Dial("tcp", g.to)
			if err == nil {
				g.conns = append(g.conns, back)
				mute := g.mute
				g.group.Go(func() { _, _ = io.Copy(valve{back, mute}, conn); _ = back.Close() })
				g.group.Go(func() { _, _ = io.Copy(valve{conn, mute}, back); _ = conn.Close() })
			}
		}
		g.mu.Unlock()
	}
}

// hang cuts all connections; later ones are accepted and, if hanging, never answered.
func (g *gate) hang(hanging bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hanging = hanging
	for _, conn := range g.conns {
		_ = conn.Close()
	}
	g.conns = nil
}

// silence lets all connections stand with nothing passing; later ones are passed on.
func (g *gate) silence() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mute.Store(true)
	g.mute = new(atomic.Bool)
}

// valve is a writer into which everything vanishes while it is mute.
type valve struct {
	io.Writer
	mute *atomic.Bool
}

func (v valve) Write(p []byte) (int, error) {
	if v.mute.Load() {
		return len(p), nil
	}
	return v.Writer.Write(p)
}

func TestHangingRedisFailsFast(t *testing.T) {
	for name, url := range map[string]func(addr string) string{
		"one server":    func(addr string) string { return "redis://" + addr },
		"cluster":       func(addr string) string { return "redis-cluster://" + addr },
		"with replicas": func(addr string) string { return "redis://" + addr + "?replica=" + addr },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t, "")
			started := time.Now()
			s := open(t, Config{URLs: OneURL(url(g.Addr().String())), Log: quiet})
			assert.Less(t, time.Since(started), ioTimeout/2, "Open waited for Redis")
			failFast(t, s)
		})
	}
}

func TestRefusingRedisFailsFast(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	failFast(t, open(t, Config{URLs: OneURL("redis://" + listener.Addr().String()), Log: quiet}))
}

// failFast calls until the breaker is open and then asserts that calls cost next to nothing, but for
// the few that try the node again.
func failFast(t *testing.T, s *Store) {
	for range tripAfter {
		_, err := s.Players().Get(t.Context(), []social.PlayerID{1})
		require.Equal(t, social.CodeUnavailable, social.CodeOf(err))
	}
	took := make([]time.Duration, 101)
	for i := range took {
		started := time.Now()
		_, err := s.Cards(t.Context(), 0, []social.FeedID{1, 2, 3})
		took[i] = time.Since(started)
		require.Equal(t, social.CodeUnavailable, social.CodeOf(err))
	}
	slices.Sort(took)
	assert.Less(t, took[len(took)/2], time.Millisecond)
	err := put(t.Context(), s.Feeds(), map[social.FeedID]*social.Feed{1: sampleFeed(1, 1)})
	assert.Equal(t, social.CodeUnavailable, social.CodeOf(err))
	assert.Error(t, s.Ping(t.Context()))
}

func TestRedisComesBack(t *testing.T) {
	embedded, err := StartEmbedded(t.Context())
	require.NoError(t, err)
	t.Cleanup(embedded.Close)
	g := newGate(t, embedded.server.Addr())
	g.hang(false)
	f := newFixture(t, Config{URLs: OneURL("redis://:" + embedded.password + "@" + g.Addr().String()), Plain: true, Log: quiet})
	f.mustPut(t, 1, 1)

	g.hang(true)
	failFast(t, f.Store)
	g.hang(false)
	require.Eventually(t, func() bool {
		got, err := f.Players().Get(t.Context(), []social.PlayerID{1})
		return err == nil && got[1] != nil
	}, 10*openFor, openFor/20)
	f.mustPut(t, 1, 2)
	require.NoError(t, f.Ping(t.Context()))
}

func TestWhatTripsTheBreaker(t *testing.T) {
	for name, tc := range map[string]struct {
		err   error
		trips bool
	}{
		"success":      {nil, false},
		"absent":       {redis.Nil, false},
		"no script":    {redis.ErrNoScript, false},
		"a refusal":    {redis.ErrCrossSlot, false},
		"a cut":        {io.EOF, true},
		"a timeout":    {&net.OpError{Op: "read", Err: context.DeadlineExceeded}, true},
		"a long queue": {redis.ErrPoolTimeout, false},
	} {
		t.Run(name, func(t *testing.T) {
			reported := 0
			b := newBreaker("node", quiet, func(context.Context) { reported++ })
			for range tripAfter {
				require.Equal(t, tc.err, b.run(t.Context(), func(context.Context) error { return tc.err }))
			}
			ran := false
			err := b.run(t.Context(), func(context.Context) error { ran = true; return nil })
			assert.Equal(t, tc.trips, errors.Is(err, gobreaker.ErrOpenState))
			assert.Equal(t, !tc.trips, ran)
			assert.Equal(t, tc.trips, reported == tripAfter)
		})
	}
}

func TestCallersWhoGiveUpDontTripTheBreaker(t *testing.T) {
	b := newBreaker("node", quiet, func(context.Context) { t.Error("reported as a failure of the node") })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 * tripAfter {
		require.ErrorIs(t, b.run(ctx, func(ctx context.Context) error { return ctx.Err() }), context.Canceled)
	}
	require.NoError(t, b.run(t.Context(), func(context.Context) error { return nil }))

	everywhere(t, func(t *testing.T, f fixture) {
		f.mustPut(t, 1, 1)
		for range 10 * tripAfter {
			_, err := f.Players().Get(ctx, []social.PlayerID{1})
			require.ErrorIs(t, err, context.Canceled)
		}
		got, err := f.Players().Get(t.Context(), []social.PlayerID{1})
		require.NoError(t, err)
		assert.Len(t, got, 1)
	})
}

// With memory full, writes are refused before they start and reads go on.
func TestFullMemory(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		f.mustPut(t, 1, 1)
		if !f.real {
			return
		}
		limit := func(bytes string) {
			require.NoError(t, f.servers[Feed].each(context.Background(), func(ctx context.Context, node *redis.Client) error {
				return node.ConfigSet(ctx, "maxmemory", bytes).Err()
			}))
		}
		limit("1")
		defer limit("0")
		for range 2 * tripAfter {
			err := put(t.Context(), f.Players(), map[social.PlayerID]*social.Player{1: samplePlayer(1, 2)})
			require.ErrorContains(t, err, "OOM")
		}
		player, counters := f.versions(t, 1)
		assert.EqualValues(t, 1, player)
		assert.EqualValues(t, 1, counters)
	})
}
