package outbox

import (
	"context"

	"circle/internal/failpoint"
	"circle/internal/social"
)

// mark says what came of an inline run.
type mark struct {
	event social.Event
	err   error
}

// RunInline runs the near stages of events that this process has just committed. It takes two
// seconds at most, whether or not the request is still there. It never fails the caller: what it
// can't do, a worker does within a second. The marks that the stages are done are written behind
// it, in groups under load; if they can't be, the claims run out and a worker runs the stages
// again.
func (r *Runner) RunInline(ctx context.Context, events []social.Event) {
	if len(events) == 0 {
		return
	}
	failpoint.Hit(failpoint.BeforeNear)
	run, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.limits.inline)
	defer cancel()
	err := guard(func() error { return r.cfg.Near.Near(run, events) })
	r.metrics.ran(stageInline, len(events), err)
	if err != nil && !away(err) {
		r.cfg.Log.WarnContext(ctx, "inline run failed, left to the workers", "kind", events[0].Kind, "error", err)
	}
	for _, e := range events {
		e.Epoch = inlineEpoch
		select {
		case r.marks <- mark{event: e, err: err}:
		default:
			r.metrics.unmarked.Inc()
		}
	}
}

// inlineEpoch is the epoch of the claim that a transaction writes with an event.
const inlineEpoch = 1

// markLoop writes marks until ctx ends, then those that wait. There is no timer: it writes what is
// there when the last write has ended, one mark on an idle system and hundreds on a busy one.
func (r *Runner) markLoop(ctx context.Context) {
	for {
		select {
		case m := <-r.marks:
			r.write(ctx, r.gather([]mark{m}))
		case <-ctx.Done():
			for rest := r.gather(nil); len(rest) > 0; rest = r.gather(nil) {
				r.write(ctx, rest)
			}
			return
		}
	}
}

// gather adds the marks that wait, up to a group.
func (r *Runner) gather(group []mark) []mark {
	for len(group) < r.limits.flushGroup {
		select {
		case m := <-r.marks:
			group = append(group, m)
		default:
			return group
		}
	}
	return group
}

func (r *Runner) write(ctx context.Context, group []mark) {
	var done, failed []social.Event
	var cause error
	for _, m := range group {
		if m.err == nil {
			done = append(done, m.event)
			continue
		}
		failed = append(failed, m.event)
		cause = m.err
	}
	r.finishNear(ctx, done)
	if cause != nil {
		r.giveBack(ctx, failed, 0, false, cause.Error())
		signal(r.nearWake)
	}
}

// finishNear marks near stages done and wakes the far workers if they have something to do.
func (r *Runner) finishNear(ctx context.Context, events []social.Event) {
	if len(events) == 0 {
		return
	}
	failpoint.Hit(failpoint.BeforeDone)
	write, cancel := r.settled(ctx)
	defer cancel()
	if err := r.cfg.Store.FinishNear(write, r.cfg.Now(), events, r.farKinds); err != nil {
		r.cfg.Log.WarnContext(ctx, "near stages not marked, they will run again", "events", len(events), "error", err)
		return
	}
	for _, e := range events {
		if r.cfg.Far[e.Kind] != nil {
			signal(r.farWake)
			return
		}
	}
}
