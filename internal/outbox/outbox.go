// Package outbox runs what follows from a committed transaction. An event has two stages: near,
// run inline right after COMMIT so that its author sees the effect in the answer, and far, run by
// workers in order per acting player. Both run at least once: what an inline run or a dead process
// left undone, a worker of any process takes up when its claim has run out.
package outbox

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"circle/internal/social"
)

// NearHandler brings indexes up to date. It may be called for an event more than once, and at the
// same time by several callers. An error with code UNAVAILABLE says that a store is away, which is
// not the event's fault: such a run is repeated without an end. Other errors are counted.
type NearHandler interface {
	Near(ctx context.Context, events []social.Event) error
}

// FarHandler runs the far stage of one kind of event; errors are as for NearHandler. Place is what
// an earlier run saved last, empty at the beginning; at most 255 bytes. ctx ends when the claim is
// lost or the process stops; a handler that is well written has saved its place by then. Of an event
// that is a replay it does again what it did to indexes, and tells nobody.
type FarHandler interface {
	Far(ctx context.Context, event social.Event, place []byte, save SavePlace) error
}

// SavePlace notes how far a far stage came. An error, which may just mean that others have their turn, is
// for the handler to return: the stage goes on from there later.
type SavePlace = func(ctx context.Context, place []byte) error

// Store keeps the events. Claims and their ends are told by the clock that the caller passes;
// finishing is conditional on the claim, so a stale holder changes nothing.
type Store interface {
	ClaimNear(ctx context.Context, now, until time.Time, limit int) ([]social.ClaimedEvent, error)
	// ClaimFar claims events whose actor has no earlier one that waits for either stage.
	ClaimFar(ctx context.Context, now, until time.Time, limit int) ([]social.ClaimedEvent, error)
	ClaimFarOf(ctx context.Context, actor social.PlayerID, now, until time.Time) ([]social.ClaimedEvent, error)
	// FinishNear marks near stages done; events of the kinds in far wait for that stage then.
	FinishNear(ctx context.Context, now time.Time, events []social.Event, far []social.EventKind) error
	FinishFar(ctx context.Context, now time.Time, event social.Event) error
	// RenewClaim and SavePlace move the end of a far claim; false when it no longer stands.
	RenewClaim(ctx context.Context, event social.Event, until time.Time) (bool, error)
	SavePlace(ctx context.Context, event social.Event, place []byte, until time.Time) (bool, error)
	RetryEvents(ctx context.Context, events []social.Event, at time.Time, counted bool, reason string) error
	BuryEvent(ctx context.Context, now time.Time, event social.Event, reason string) error
	PurgeEvents(ctx context.Context, before time.Time, limit int) (int, error)
	OutboxStats(ctx context.Context) (social.OutboxStats, error)
}

// Config makes a Runner. Store, Near, Now and Log are required.
type Config struct {
	Store Store
	Near  NearHandler
	// Far holds the kinds of events that have a far stage; the others are done after the near one.
	Far map[social.EventKind]FarHandler
	// Metrics, if set, is where the runner's collectors are registered.
	Metrics prometheus.Registerer
	Now     func() time.Time
	Log     *slog.Logger
	// Poll is how often workers look for work of other processes; 0 means 500 ms.
	Poll time.Duration
	// FarWorkers bounds the far stages that this process runs at once; 0 means 8.
	FarWorkers int
}

// limits are the runner's times and sizes.
type limits struct {
	// inline ends an inline run before the claim of a fresh event (3 s) does.
	inline time.Duration
	// alone ends a run of one event by a near worker, pass the whole of what it claimed; nearLease
	// outlasts a pass.
	alone, pass, nearLease time.Duration
	nearBatch, nearAlone   int
	// farLease is renewed at each quarter of it. It is how long an actor's events wait when the process
	// that ran one of them is killed.
	farLease time.Duration
	// turn is how long a far worker runs events of one actor before others have theirs. An event waits
	// for about turn times the actors before it over the workers.
	turn time.Duration
	// maxAttempts is the number of counted failures after which an event is dead.
	maxAttempts int
	// away is the pause after a store was found away.
	away time.Duration
	// keep is how long done events stay, for replays after Redis went back in time.
	keep                     time.Duration
	purgeEvery, measureEvery time.Duration
	purgeChunk, purgeChunks  int
	flushGroup               int
	write                    time.Duration
}

var defaults = limits{
	inline: 2 * time.Second,
	alone:  2 * time.Second, pass: 10 * time.Second, nearLease: 15 * time.Second,
	nearBatch: 200, nearAlone: 16,
	farLease: 3 * time.Second, turn: 100 * time.Millisecond,
	maxAttempts: 10, away: time.Second,
	keep: 15 * time.Minute, purgeEvery: 30 * time.Second, measureEvery: 15 * time.Second,
	purgeChunk: 1000, purgeChunks: 200,
	flushGroup: 512, write: 2 * time.Second,
}

// markQueue bounds the inline runs that wait to be marked: what 3 s bring at a few thousand
// mutations a second. What has waited longer belongs to the workers anyway.
const markQueue = 8192

// Runner runs events: inline for this process's own mutations, and by workers between Start and
// Stop. It is safe for use by many goroutines.
type Runner struct {
	cfg      Config
	limits   limits
	farKinds []social.EventKind
	metrics  *metrics
	marks    chan mark

	nearWake, farWake chan struct{}
	farSlots          chan struct{}

	stop    context.CancelFunc
	running sync.WaitGroup
}

// New makes a Runner whose workers stand still.
func New(cfg Config) *Runner {
	if cfg.Poll == 0 {
		cfg.Poll = 500 * time.Millisecond
	}
	if cfg.FarWorkers == 0 {
		cfg.FarWorkers = 8
	}
	r := &Runner{
		cfg: cfg, limits: defaults, metrics: newMetrics(cfg.Metrics), marks: make(chan mark, markQueue),
		nearWake: make(chan struct{}, 1), farWake: make(chan struct{}, 1), farSlots: make(chan struct{}, cfg.FarWorkers),
	}
	for kind := range cfg.Far {
		r.farKinds = append(r.farKinds, kind)
	}
	return r
}

// Start starts the workers. They run until Stop or until ctx ends. It must be called once.
func (r *Runner) Start(ctx context.Context) {
	ctx, r.stop = context.WithCancel(ctx)
	r.running.Go(func() { r.markLoop(ctx) })
	r.running.Go(func() { r.loop(ctx, "near stages", r.nearWake, r.cfg.Poll, r.nearOnce) })
	r.running.Go(func() { r.loop(ctx, "purge", nil, r.limits.purgeEvery, r.purgeOnce) })
	r.running.Go(func() { r.loop(ctx, "measure", nil, r.limits.measureEvery, r.measureOnce) })
	if len(r.farKinds) > 0 {
		r.running.Go(func() { r.loop(ctx, "far stages", r.farWake, r.cfg.Poll, r.farOnce) })
	}
}

// Stop ends the workers and waits for them. Running handlers have their context ended and their
// events are given back; what was run inline is marked first. It fails when ctx ends before.
func (r *Runner) Stop(ctx context.Context) error {
	r.stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.running.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
