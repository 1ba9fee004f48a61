package lease

import (
	"context"
	"errors"
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

var begin = time.UnixMilli(1_800_000_000_000)

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

// fixture is a database and a clock.
type fixture struct {
	*clock
	store *sqlstore.Store
}

func each(t *testing.T, fn func(t *testing.T, f *fixture)) {
	freshdb.Each(t, func(t *testing.T, url string) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		s, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: url})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		require.NoError(t, s.Migrate(t.Context()))
		fn(t, &fixture{clock: &clock{at: begin}, store: s})
	})
}

func (f *fixture) try(nodes Nodes) (*Holder, error) {
	return Acquire(context.Background(), Config{Store: f.store, Nodes: nodes, Now: f.now, Log: slog.New(slog.DiscardHandler)})
}

func (f *fixture) acquire(t *testing.T, nodes Nodes) *Holder {
	t.Helper()
	h, err := f.try(nodes)
	require.NoError(t, err)
	return h
}

// die ends a holder as a crash does: nothing is given back.
func die(h *Holder) {
	h.stop()
	<-h.stopped
}

func next(t *testing.T, h *Holder) int64 {
	t.Helper()
	id, err := h.Next(t.Context())
	require.NoError(t, err)
	return id
}

// one is a single node, so that every holder meets the last one's traces.
var one = Nodes{First: 5, Last: 5}

func TestServersAtOnceGetNodesOfTheirOwn(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var running sync.WaitGroup
		holders, errs := make([]*Holder, 29), make([]error, 29)
		for i := range holders {
			running.Go(func() { holders[i], errs[i] = f.try(Servers) })
		}
		running.Wait()
		nodes, failed := map[int]bool{}, 0
		for i, h := range holders {
			if errs[i] != nil {
				failed++
				require.ErrorIs(t, errs[i], ErrNoNode)
				require.ErrorContains(t, errs[i], "all 28 are held, the first lease ends in 30s")
				continue
			}
			nodes[h.Node()] = true
			require.LessOrEqual(t, h.Node(), Servers.Last)
		}
		require.Equal(t, 1, failed)
		require.Len(t, nodes, 28)

		command := f.acquire(t, Commands)
		require.GreaterOrEqual(t, command.Node(), 28)
		require.NoError(t, command.Stop(t.Context()))
		for _, h := range holders {
			if h != nil {
				require.NoError(t, h.Stop(t.Context()))
			}
		}
	})
}

func TestADeadHoldersNodeIsFreeWhenItsLeaseEnds(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		first := f.acquire(t, one)
		die(first)
		f.add(Duration - time.Millisecond)
		_, err := f.try(one)
		require.ErrorIs(t, err, ErrNoNode)
		last := next(t, first)
		f.add(time.Millisecond)
		_, err = first.Next(t.Context())
		require.ErrorIs(t, err, social.ErrNoIDs, "the dead one's ids end with its lease")

		second := f.acquire(t, one)
		f.add(time.Millisecond)
		require.Greater(t, next(t, second), last)
		require.NoError(t, second.Stop(t.Context()))
	})
}

func TestWaitingForANode(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		holder := f.acquire(t, one)
		logged := make(chan struct{}, 1)
		waiting := Config{Store: f.store, Nodes: one, Wait: time.Minute, Now: f.now, Log: slog.New(slog.NewTextHandler(onWrite(logged), nil))}
		got := make(chan error, 1)
		var second *Holder
		go func() {
			var err error
			second, err = Acquire(context.Background(), waiting)
			got <- err
		}()
		<-logged
		require.NoError(t, holder.Stop(t.Context()))
		require.NoError(t, <-got)
		require.Equal(t, one.First, second.Node())

		waiting.Wait = time.Millisecond
		_, err := Acquire(t.Context(), waiting)
		require.ErrorIs(t, err, ErrNoNode, "the time is over")
		ended, end := context.WithCancel(t.Context())
		end()
		waiting.Wait = time.Minute
		_, err = Acquire(ended, waiting)
		require.Error(t, err)
		require.NoError(t, second.Stop(t.Context()))
	})
}

// onWrite tells of writes as far as anybody listens.
type onWrite chan struct{}

func (w onWrite) Write(b []byte) (int, error) {
	select {
	case w <- struct{}{}:
	default:
	}
	return len(b), nil
}

func TestRenewalKeepsTheNode(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		h := f.acquire(t, one)
		for range 10 {
			f.add(Duration - time.Second)
			require.NoError(t, h.renew(t.Context()))
			next(t, h)
		}
		_, err := f.try(one)
		require.ErrorIs(t, err, ErrNoNode)
		require.NoError(t, h.Stop(t.Context()))
	})
}

func TestANodeGivenBackIsFreeAtOnceAndRepeatsNothing(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		last := int64(0)
		for range 5 { // in one millisecond of the fake clock, but for the wait
			h := f.acquire(t, one)
			waiting := make(chan int64)
			go func() {
				id, _ := h.Next(context.Background())
				waiting <- id
			}()
			f.add(time.Millisecond)
			id := <-waiting
			require.Greater(t, id, last)
			last = id
			require.NoError(t, h.Stop(t.Context()))
			_, err := h.Next(t.Context())
			require.ErrorIs(t, err, social.ErrNoIDs)
		}
	})
}

func TestAClockThatWentBack(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		h := f.acquire(t, one)
		last := next(t, h)
		f.add(-time.Hour)
		_, err := h.Next(t.Context())
		require.ErrorIs(t, err, social.ErrNoIDs)
		require.NoError(t, h.renew(t.Context()), "the node is kept until the clock is right again")
		require.NoError(t, h.Stop(t.Context()))

		_, err = f.try(one)
		require.ErrorIs(t, err, ErrNoNode)
		require.ErrorContains(t, err, "clock stands at least 1h0m0s behind")
		f.add(time.Hour - maxBehind)
		h = f.acquire(t, one)
		f.add(maxBehind + time.Millisecond)
		require.Greater(t, next(t, h), last)
		require.NoError(t, h.Stop(t.Context()))

		f.add(-time.Hour)
		h = f.acquire(t, Nodes{First: 5, Last: 6})
		require.Equal(t, 6, h.Node(), "a node that was never used needs no waiting")
		next(t, h)
		require.NoError(t, h.Stop(t.Context()))
	})
}

func TestALeaseTakenByAnotherIsReplaced(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		asleep := f.acquire(t, one)
		asleep.cfg.Nodes = Nodes{First: 5, Last: 6}
		f.add(Duration)
		thief := f.acquire(t, one)
		require.NoError(t, asleep.renew(t.Context()))
		require.Equal(t, 6, asleep.Node())
		f.add(time.Millisecond)
		require.NotEqual(t, next(t, thief), next(t, asleep))
		require.NoError(t, asleep.Stop(t.Context()))
		require.NoError(t, thief.Stop(t.Context()))
	})
}

// doubtful makes one change without telling that it was made.
type doubtful struct {
	Store
	fail bool
}

var errAnswer = errors.New("the answer was lost")

func (d *doubtful) ReplaceNodeLease(ctx context.Context, was, now social.NodeLease) (bool, error) {
	ok, err := d.Store.ReplaceNodeLease(ctx, was, now)
	if d.fail {
		d.fail = false
		return false, errAnswer
	}
	return ok, err
}

func TestARenewalWhoseAnswerIsLostLosesNothing(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		h := f.acquire(t, one)
		h.cfg.Store = &doubtful{Store: f.store, fail: true}
		f.add(Duration / 2)
		require.ErrorIs(t, h.renew(t.Context()), errAnswer)
		require.NoError(t, h.renew(t.Context()))
		f.add(Duration - time.Second)
		next(t, h)
		require.NoError(t, h.Stop(t.Context()))
	})
}
