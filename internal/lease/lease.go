// Package lease holds a node number for this process, so that no two processes make the same
// identifiers. Uniqueness does not depend on clocks: a lease's end is also the mark after which the
// next holder's identifiers begin. Only the question when a dead process's node is free again does.
package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"circle/internal/social"
)

const (
	// Duration is how long a node stays taken when its holder dies.
	Duration = 30 * time.Second
	// renewEvery leaves several tries before the end.
	renewEvery = 5 * time.Second
	// maxBehind is how far the clock may stand behind the last identifier of a node: the holder
	// waits that long before its first one.
	maxBehind = time.Second
	// askEvery is how often a process that waits for a node looks again.
	askEvery = 100 * time.Millisecond
)

// ErrNoNode says that no node is free.
var ErrNoNode = errors.New("no node is free")

// Nodes is a range of node numbers, both ends included.
type Nodes struct{ First, Last int }

// Servers are the nodes of serving processes, Commands those of short-lived ones.
var (
	Servers  = Nodes{First: 0, Last: 27}
	Commands = Nodes{First: 28, Last: social.MaxNode}
)

// Store keeps the leases.
type Store interface {
	// NodeLeases reads the leases of the nodes first to last.
	NodeLeases(ctx context.Context, first, last int) ([]social.NodeLease, error)
	// ReplaceNodeLease makes a lease another if it still is as it was read.
	ReplaceNodeLease(ctx context.Context, was, now social.NodeLease) (bool, error)
}

// Config says which nodes to choose from.
type Config struct {
	Store Store
	Nodes Nodes
	// Wait is how long to wait for a node when none is free; 0 means not at all.
	Wait time.Duration
	Now  func() time.Time
	Log  *slog.Logger
}

// Holder holds a node and makes identifiers of it. It is safe for use by many goroutines.
type Holder struct {
	cfg    Config
	owner  int64
	source atomic.Pointer[social.IDSource]

	mu    sync.Mutex // guards lease
	lease social.NodeLease

	stop    context.CancelFunc
	stopped chan struct{}
}

// Acquire takes a free node and keeps it until Stop. It fails with ErrNoNode when none is free and
// none becomes free in time.
func Acquire(ctx context.Context, cfg Config) (*Holder, error) {
	h := &Holder{cfg: cfg, owner: rand.Int64N(1<<62) + 1, stopped: make(chan struct{})}
	if err := h.await(ctx); err != nil {
		return nil, err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stop = stop
	go h.keep(run)
	return h, nil
}

// Next makes an identifier, as social.IDSource does.
func (h *Holder) Next(ctx context.Context) (int64, error) { return h.source.Load().Next(ctx) }

// Node is the number of the node that is held.
func (h *Holder) Node() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease.Node
}

// Stop ends the making of identifiers and gives the node back. If that fails, the node is free when
// the lease has run out. It must be called once.
func (h *Holder) Stop(ctx context.Context) error {
	h.stop()
	<-h.stopped
	h.mu.Lock()
	defer h.mu.Unlock()
	free := social.NodeLease{Node: h.lease.Node, Until: h.source.Load().Close()}
	if _, err := h.cfg.Store.ReplaceNodeLease(ctx, h.lease, free); err != nil {
		return fmt.Errorf("give node %d back: %w", h.lease.Node, err)
	}
	return nil
}

// await takes a node, if need be as soon as one is free.
func (h *Holder) await(ctx context.Context) error {
	err := h.acquire(ctx)
	if h.cfg.Wait == 0 || !errors.Is(err, ErrNoNode) {
		return err
	}
	h.cfg.Log.InfoContext(ctx, "waiting for a node", "longest", h.cfg.Wait, "reason", err)
	end, again := time.NewTimer(h.cfg.Wait), time.NewTicker(askEvery)
	defer end.Stop()
	defer again.Stop()
	for errors.Is(err, ErrNoNode) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return err
		case <-again.C:
			err = h.acquire(ctx)
		}
	}
	return err
}

// acquire takes a node. Losing a node to another process means that the other got on, so the loop
// ends.
func (h *Holder) acquire(ctx context.Context) error {
	for {
		leases, err := h.cfg.Store.NodeLeases(ctx, h.cfg.Nodes.First, h.cfg.Nodes.Last)
		if err != nil {
			return fmt.Errorf("acquire a node: %w", err)
		}
		now := h.cfg.Now()
		free := candidates(leases, now)
		if len(free) == 0 {
			return explain(leases, now)
		}
		for _, was := range free {
			mine := social.NodeLease{Node: was.Node, Owner: h.owner, Until: now.Add(Duration).Truncate(time.Millisecond)}
			ok, err := h.cfg.Store.ReplaceNodeLease(ctx, was, mine)
			if err != nil {
				return fmt.Errorf("acquire a node: %w", err)
			}
			if ok {
				h.take(was, mine)
				return nil
			}
		}
	}
}

func (h *Holder) take(was, mine social.NodeLease) {
	h.mu.Lock()
	h.lease = mine
	h.mu.Unlock()
	h.source.Store(social.NewIDSource(mine.Node, h.cfg.Now, was.Until, mine.Until))
}

// candidates are the free leases, those first that were unused for longest, so that a clock that
// went back finds one it need not wait for.
func candidates(leases []social.NodeLease, now time.Time) []social.NodeLease {
	var free []social.NodeLease
	for _, l := range leases {
		if !l.Until.After(now) || l.Owner == 0 && !l.Until.After(now.Add(maxBehind)) {
			free = append(free, l)
		}
	}
	rand.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	slices.SortStableFunc(free, func(a, b social.NodeLease) int { return cmp.Compare(a.Until.UnixMilli(), b.Until.UnixMilli()) })
	return free
}

// explain says why no lease is free.
func explain(leases []social.NodeLease, now time.Time) error {
	if len(leases) == 0 {
		return fmt.Errorf("%w: the database has none", ErrNoNode)
	}
	first := slices.MinFunc(leases, func(a, b social.NodeLease) int { return a.Until.Compare(b.Until) })
	wait := first.Until.Sub(now)
	if first.Owner == 0 || wait > 2*Duration {
		return fmt.Errorf("%w: this machine's clock stands at least %v behind the last identifiers of the %d nodes", ErrNoNode, wait, len(leases))
	}
	return fmt.Errorf("%w: all %d are held, the first lease ends in %v", ErrNoNode, len(leases), wait)
}

// keep renews the lease until ctx ends.
func (h *Holder) keep(ctx context.Context) {
	defer close(h.stopped)
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := h.renew(ctx); err != nil && ctx.Err() == nil {
				h.cfg.Log.ErrorContext(ctx, "node lease not renewed", "node", h.Node(), "error", err)
			}
		}
	}
}

// renew moves the lease's end. A lease that another process has taken, after this one stood still
// for longer than it, is replaced by a lease of another node.
func (h *Holder) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewEvery)
	defer cancel()
	node := h.Node()
	leases, err := h.cfg.Store.NodeLeases(ctx, node, node)
	if err != nil {
		return err
	}
	if len(leases) == 1 && leases[0].Owner == h.owner {
		was := leases[0]
		mine := was
		// The end only moves on, also when the clock went back.
		mine.Until = later(h.cfg.Now().Add(Duration).Truncate(time.Millisecond), was.Until.Add(time.Millisecond))
		ok, err := h.cfg.Store.ReplaceNodeLease(ctx, was, mine)
		if err != nil {
			return err
		}
		if ok {
			h.mu.Lock()
			h.lease = mine
			h.mu.Unlock()
			h.source.Load().Extend(mine.Until)
			return nil
		}
	}
	h.cfg.Log.WarnContext(ctx, "node lease lost, taking another", "node", node)
	h.source.Load().Close()
	return h.acquire(ctx)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
