package graph

import (
	"context"
	"errors"

	"circle/internal/social"
)

// calm holds items that say that counters have changed, and gives one for all that came within an
// interval. Others pass at once.
//
// An item may stand for changes of as long as social.CountersInterval after it, since logs hold one entry for all
// of them. So each is given when that time is over, and one that comes while another is held begins an
// interval of its own behind it: what is read after the last one is the last state.
type calm struct {
	next func(context.Context) (social.LiveItem, error)
	// held waits for the end of due; again says that another one has come since.
	held  *social.LiveItem
	again bool
	due   context.Context
	stop  context.CancelFunc
}

// item gives the next item. It is for one goroutine; its context is the same each time.
func (c *calm) item(ctx context.Context) (social.LiveItem, error) {
	for {
		if c.held != nil && c.due.Err() != nil && ctx.Err() == nil {
			return c.release(ctx), nil
		}
		waiting := ctx
		if c.held != nil {
			waiting = c.due
		}
		item, err := c.next(waiting)
		switch {
		case c.held != nil && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			continue
		case err != nil:
			return item, err
		case item.Kind == social.LiveEvent && item.Entry.Kind == social.LiveCounters:
			c.keep(ctx, item)
			continue
		}
		if c.held != nil {
			c.held.Place = item.Place // it comes behind this one
		}
		return item, nil
	}
}

func (c *calm) keep(ctx context.Context, item social.LiveItem) {
	if c.held != nil {
		c.held.Place, c.again = item.Place, true
		return
	}
	c.held, c.again = &item, false
	c.due, c.stop = context.WithTimeout(ctx, social.CountersInterval)
}

// release gives what was held, and holds it once more if there has been more.
func (c *calm) release(ctx context.Context) social.LiveItem {
	c.stop()
	item := *c.held
	if c.held = nil; c.again {
		c.keep(ctx, item)
	}
	return item
}
