package outbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime/debug"
	"time"

	"circle/internal/social"
)

const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// loop calls once until ctx ends: again at once while there is more to do, else when woken or after
// the interval, spread by a fifth so that processes don't keep step. After an error it waits in any
// case.
func (r *Runner) loop(ctx context.Context, name string, wake <-chan struct{}, every time.Duration, once func(context.Context) (more bool, err error)) {
	for ctx.Err() == nil {
		more, err := once(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			r.cfg.Log.WarnContext(ctx, "outbox worker failed", "worker", name, "error", err)
			pause(ctx, nil, every)
		case !more:
			pause(ctx, wake, every)
		}
	}
}

func pause(ctx context.Context, wake <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d - d/10 + rand.N(d/5+1))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
	case <-timer.C:
	}
}

// signal wakes a loop, unless it is to wake already.
func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// backoff is the pause after the given number of counted failures: a second, doubled each time up
// to a minute, less up to a half by chance.
func backoff(attempts int) time.Duration {
	d := min(firstPause<<min(attempts-1, 10), lastPause)
	return d/2 + rand.N(d/2+1)
}

// away says that a store could not be reached, so that the event is not to blame.
func away(err error) bool {
	if social.CodeOf(err) == social.CodeUnavailable {
		return true
	}
	var network net.Error
	return errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded)
}

// guard turns a panic of a handler into an error: an event that makes handlers panic must not take
// the process down again and again.
func guard(run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return run()
}

// settled is a context for a write that must be made although ctx may have ended.
func (r *Runner) settled(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), r.limits.write)
}

// giveBack lets the events be claimed again after a failed run.
func (r *Runner) giveBack(ctx context.Context, events []social.Event, after time.Duration, counted bool, reason string) {
	if len(events) == 0 {
		return
	}
	ctx, cancel := r.settled(ctx)
	defer cancel()
	if err := r.cfg.Store.RetryEvents(ctx, events, r.cfg.Now().Add(after), counted, reason); err != nil {
		r.cfg.Log.WarnContext(ctx, "events not given back, their claims must run out", "events", len(events), "error", err)
	}
}

// fail settles an event whose own run failed: it pauses, or is dead after too many attempts. A
// store that is away or a stop of the process is not held against it.
func (r *Runner) fail(ctx context.Context, stage string, e social.ClaimedEvent, err error) {
	switch attempts := e.Attempts + 1; {
	case ctx.Err() != nil:
		r.giveBack(ctx, []social.Event{e.Event}, 0, false, "")
	case away(err):
		r.giveBack(ctx, []social.Event{e.Event}, r.limits.away, false, err.Error())
	case attempts >= r.limits.maxAttempts:
		r.bury(ctx, stage, e.Event, err)
	default:
		r.cfg.Log.WarnContext(ctx, "event failed", "stage", stage, "event", int64(e.ID), "kind", e.Kind, "attempts", attempts, "error", err)
		r.giveBack(ctx, []social.Event{e.Event}, backoff(attempts), true, err.Error())
	}
}

func (r *Runner) bury(ctx context.Context, stage string, e social.Event, cause error) {
	r.metrics.dead.WithLabelValues(stage).Inc()
	r.cfg.Log.ErrorContext(ctx, "event given up", "stage", stage, "event", int64(e.ID), "kind", e.Kind,
		"actor", int64(e.Actor), "subject", e.Subject, "object", e.Object, "error", cause)
	ctx, cancel := r.settled(ctx)
	defer cancel()
	if err := r.cfg.Store.BuryEvent(ctx, r.cfg.Now(), e, stage+": "+cause.Error()); err != nil {
		r.cfg.Log.WarnContext(ctx, "event not buried, it will run again", "event", int64(e.ID), "error", err)
	}
}
