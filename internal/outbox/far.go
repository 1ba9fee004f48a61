package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"circle/internal/social"
)

// errLost says that another process may have claimed the event meanwhile.
var errLost = errors.New("the claim on the event is lost")

// farOnce claims as many far stages as there are free workers and starts them. A worker that ends
// wakes the loop.
func (r *Runner) farOnce(ctx context.Context) (more bool, err error) {
	free := cap(r.farSlots) - len(r.farSlots)
	if free == 0 {
		return false, nil
	}
	now := r.cfg.Now()
	claimed, err := r.cfg.Store.ClaimFar(ctx, now, now.Add(r.limits.farLease), free)
	for _, e := range claimed {
		r.farSlots <- struct{}{}
		r.running.Go(func() {
			defer func() {
				<-r.farSlots
				signal(r.farWake)
			}()
			r.farChain(ctx, e)
		})
	}
	return false, err
}

// farChain runs an event and then its actor's next ones, up to a number, which spares looking for
// them among all that wait.
func (r *Runner) farChain(ctx context.Context, e social.ClaimedEvent) {
	for range r.limits.chain - 1 {
		if !r.runFar(ctx, e) || ctx.Err() != nil {
			return
		}
		now := r.cfg.Now()
		next, err := r.cfg.Store.ClaimFarOf(ctx, e.Actor, now, now.Add(r.limits.farLease))
		if err != nil && ctx.Err() == nil {
			r.cfg.Log.WarnContext(ctx, "next far stage not claimed", "error", err)
		}
		if len(next) == 0 {
			return
		}
		e = next[0]
	}
	r.runFar(ctx, e)
}

// runFar runs a far stage while its claim stands and settles what came of it; true when it is done.
func (r *Runner) runFar(ctx context.Context, e social.ClaimedEvent) bool {
	c := r.hold(ctx, e.Event)
	err := guard(func() error {
		handler := r.cfg.Far[e.Kind]
		if handler == nil {
			return fmt.Errorf("no far stage for events of kind %d", e.Kind)
		}
		return handler.Far(c.ctx, e.Event, e.Place, c.save)
	})
	lost := c.release()
	r.metrics.ran(stageFar, 1, err)
	switch {
	case lost:
		r.cfg.Log.WarnContext(ctx, "claim lost amid a far stage", "event", int64(e.ID), "kind", e.Kind)
	case err != nil:
		if c.saved {
			e.Attempts = 0
		}
		r.fail(ctx, stageFar, e, err)
	default:
		return r.finishFar(ctx, e.Event)
	}
	return false
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
	// saved says that the handler has got on; for the handler's goroutine.
	saved bool
}

// hold keeps a claim until release.
func (r *Runner) hold(ctx context.Context, e social.Event) *claim {
	c := &claim{runner: r, event: e, kept: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	c.expiry = time.AfterFunc(r.limits.farLease*5/6, func() { c.cancel(errLost) })
	go c.keep()
	return c
}

// keep renews the lease until ctx ends.
func (c *claim) keep() {
	defer close(c.kept)
	tick := time.NewTicker(c.runner.limits.farLease / 3)
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
			held, err := c.runner.cfg.Store.RenewClaim(c.ctx, c.event, c.end())
			if err := c.renewed(held, err); err != nil && c.ctx.Err() == nil {
				c.runner.cfg.Log.WarnContext(c.ctx, "claim not renewed", "event", int64(c.event.ID), "error", err)
			}
		}
	}
}

// save is the handler's SavePlace. It renews the lease too.
func (c *claim) save(ctx context.Context, place []byte) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	held, err := c.runner.cfg.Store.SavePlace(ctx, c.event, place, c.end())
	c.saved = c.saved || held
	return c.renewed(held, err)
}

func (c *claim) end() time.Time { return c.runner.cfg.Now().Add(c.runner.limits.farLease) }

func (c *claim) renewed(held bool, err error) error {
	if err != nil {
		return err
	}
	if !held {
		c.cancel(errLost)
		return errLost
	}
	c.expiry.Reset(c.runner.limits.farLease * 5 / 6)
	return nil
}

// release stops the renewals and says whether the claim was lost.
func (c *claim) release() (lost bool) {
	c.cancel(nil)
	<-c.kept
	c.expiry.Stop()
	return errors.Is(context.Cause(c.ctx), errLost)
}
