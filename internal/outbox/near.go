package outbox

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"circle/internal/social"
)

// nearOnce runs near stages that nobody holds. Fresh events run as one group; if that fails, and
// for events that failed before, each runs alone, so that a bad one holds up no other. A store that
// is away is an error: asking on at once would be of no use.
func (r *Runner) nearOnce(ctx context.Context) (more bool, err error) {
	now := r.cfg.Now()
	claimed, err := r.cfg.Store.ClaimNear(ctx, now, now.Add(r.limits.nearLease), r.limits.nearBatch)
	if err != nil || len(claimed) == 0 {
		return false, err
	}
	pass, cancel := context.WithTimeout(ctx, r.limits.pass)
	defer cancel()
	var fresh, alone []social.ClaimedEvent
	for _, e := range claimed {
		if e.Attempts == 0 {
			fresh = append(fresh, e)
		} else {
			alone = append(alone, e)
		}
	}
	if len(fresh) > 0 {
		groupErr := r.runNear(pass, fresh)
		switch {
		case groupErr == nil:
			r.finishNear(ctx, plain(fresh))
		case away(groupErr):
			r.giveBack(ctx, plain(fresh), r.limits.away, false, groupErr.Error())
			err = groupErr
		default:
			alone = append(alone, fresh...)
		}
	}
	if awayErr := r.eachAlone(pass, alone); awayErr != nil {
		err = awayErr
	}
	return len(claimed) == r.limits.nearBatch, err
}

// eachAlone runs events one by one, several at once, and returns an error if a store was away.
func (r *Runner) eachAlone(ctx context.Context, events []social.ClaimedEvent) (awayErr error) {
	var mu sync.Mutex
	var done []social.Event
	var group errgroup.Group
	group.SetLimit(r.limits.nearAlone)
	for _, e := range events {
		group.Go(func() error {
			err := r.runNear(ctx, []social.ClaimedEvent{e})
			if err != nil {
				r.fail(ctx, stageNear, e, err)
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				done = append(done, e.Event)
			case away(err):
				awayErr = err
			}
			return nil
		})
	}
	_ = group.Wait() // the goroutines return nil
	r.finishNear(ctx, done)
	return awayErr
}

func (r *Runner) runNear(ctx context.Context, events []social.ClaimedEvent) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, r.limits.alone)
	defer cancel()
	err := guard(func() error { return r.cfg.Near.Near(ctx, plain(events)) })
	r.metrics.ran(stageNear, len(events), err)
	return err
}

func plain(claimed []social.ClaimedEvent) []social.Event {
	events := make([]social.Event, len(claimed))
	for i, e := range claimed {
		events[i] = e.Event
	}
	return events
}
