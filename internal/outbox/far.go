package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"circle/internal/social"
)

var (
	// errLost says that another process may have claimed the event meanwhile.
	errLost = errors.New("the claim on the event is lost")
	// errTurn says that others have their turn now.
	errTurn = errors.New("the turn is over")
)

// farOnce claims as many far stages as there are free workers and starts them. A worker that ends
// wakes the loop.
func (r *Runner) farOnce(ctx context.Context) (more bool, err error) {
	free := cap(r.farSlots) - len(r.farSlots)
	if free == 0 {
		return false, nil
	}
	now := r.cfg.Now()
	until := now.Add(r.limits.farLease)
	claimed, err := r.cfg.Store.ClaimFar(ctx, now, until, free)
	for _, e := range claimed {
		r.farSlots <- struct{}{}
		r.running.Go(func() {
			defer func() {
				<-r.farSlots
				signal(r.farWake)
			}()
			r.farTurn(ctx, e, until)
		})
	}
	return false, err
}

// farTurn is an actor's turn: it runs an event and then the next ones, which spares looking for them
// among all that wait. When the turn is over, what is left waits behind those who waited meanwhile, so
// workers are shared fairly over actors, however many have however much to do.
func (r *Runner) farTurn(ctx context.Context, e social.ClaimedEvent, until time.Time) {
	ends := r.cfg.Now().Add(r.limits.turn)
	for r.runFar(ctx, e, until, ends) && ctx.Err() == nil {
		now := r.cfg.Now()
		until = now.Add(r.limits.farLease)
		next, err := r.cfg.Store.ClaimFarOf(ctx, e.Actor, now, until)
		if err != nil && ctx.Err() == nil {
			r.cfg.Log.WarnContext(ctx, "next far stage not claimed", "error", err)
		}
		if len(next) == 0 {
			return
		}
		e = next[0]
		if !now.Before(ends) {
			r.giveBack(ctx, []social.Event{e.Event}, 0, false, "")
			return
		}
	}
}

// runFar runs a far stage while its claim, until a time, and the turn last, and settles what came of it;
// true when it is done.
func (r *Runner) runFar(ctx context.Context, e social.ClaimedEvent, until, ends time.Time) bool {
	c := r.hold(ctx, e.Event, until, ends)
	err := guard(func() error {
		handler := r.cfg.Far[e.Kind]
		if handler == nil {
			return fmt.Errorf("no far stage for events of kind %d", e.Kind)
		}
		return handler.Far(c.ctx, e.Event, e.Place, c.save)
	})
	lost := c.release()
	yields := errors.Is(err, errTurn)
	if !yields {
		r.metrics.ran(stageFar, 1, err)
	}
	if err != nil && !lost && c.place != nil {
		lost = !r.savePlace(ctx, c, yields)
		e.Attempts = 0
	}
	switch {
	case lost:
		r.cfg.Log.WarnContext(ctx, "claim lost amid a far stage", "event", int64(e.ID), "kind", e.Kind)
	case yields:
	case err != nil:
		r.fail(ctx, stageFar, e, err)
	default:
		return r.finishFar(ctx, e.Event)
	}
	return false
}

// savePlace writes how far a handler came, and gives the claim back if it yields; false when it may be
// lost.
func (r *Runner) savePlace(ctx context.Context, c *claim, yields bool) bool {
	write, cancel := r.settled(ctx)
	defer cancel()
	until := r.cfg.Now()
	if !yields {
		until = until.Add(r.limits.farLease)
	}
	held, err := r.cfg.Store.SavePlace(write, c.event, c.place, until)
	if err != nil {
		r.cfg.Log.WarnContext(ctx, "place not saved, a part of the far stage will run again", "event", int64(c.event.ID), "error", err)
	}
	return held
}

func (r *Runner) finishFar(ctx context.Context, e social.Event) bool {
	write, cancel := r.settled(ctx)
	defer cancel()
	if err := r.cfg.Store.FinishFar(write, r.cfg.Now(), e); err != nil {
		r.cfg.Log.WarnContext(ctx, "far stage not marked, it will run again", "event", int64(e.ID), "error", err)
		return false
	}
	if !e.Replay {
		r.metrics.farLag.Observe(max(0, r.cfg.Now().Sub(e.ID.Time()).Seconds()))
	}
	return true
}

// claim is a claim on a far stage that is being run.
type claim struct {
	runner *Runner
	event  social.Event
	// ctx ends when the claim may be lost.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// expiry ends ctx before the lease ends, unless a renewal comes first.
	expiry *time.Timer
	kept   chan struct{}
	// ends is when the turn does.
	ends time.Time
	// place is how far the handler came, nil if no further; for the handler's goroutine.
	place []byte
}

// hold keeps a claim until release.
func (r *Runner) hold(ctx context.Context, e social.Event, until, ends time.Time) *claim {
	c := &claim{runner: r, event: e, ends: ends, kept: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.expiry = time.AfterFunc(c.left(until), func() { c.cancel(errLost) })
	go c.keep()
	return c
}

// left is how long the handler may go on under a claim until a time: a sixth of the lease is for it to
// notice.
func (c *claim) left(until time.Time) time.Duration {
	return until.Sub(c.runner.cfg.Now()) - c.runner.limits.farLease/6
}

// keep renews the lease until ctx ends.
func (c *claim) keep() {
	defer close(c.kept)
	tick := time.NewTicker(c.runner.limits.farLease / 4)
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
			if err := c.renew(); err != nil && c.ctx.Err() == nil {
				c.runner.cfg.Log.WarnContext(c.ctx, "claim not renewed", "event", int64(c.event.ID), "error", err)
			}
		}
	}
}

func (c *claim) renew() error {
	until := c.runner.cfg.Now().Add(c.runner.limits.farLease)
	held, err := c.runner.cfg.Store.RenewClaim(c.ctx, c.event, until)
	switch {
	case err != nil:
		return err
	case !held:
		c.cancel(errLost)
	default:
		c.expiry.Reset(c.left(until))
	}
	return nil
}

// save is the handler's SavePlace. The place is written when the handler ends before it is done: what a
// killed process did in its turn is done again.
func (c *claim) save(_ context.Context, place []byte) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	c.place = append([]byte{}, place...)
	if !c.runner.cfg.Now().Before(c.ends) {
		return errTurn
	}
	return nil
}

// release stops the renewals and says whether the claim was lost.
func (c *claim) release() (lost bool) {
	c.cancel(nil)
	<-c.kept
	c.expiry.Stop()
	return errors.Is(context.Cause(c.ctx), errLost)
}
