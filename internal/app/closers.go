package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// closers ends what was started, the last first.
type closers struct{ steps []closer }

type closer struct {
	what string
	end  func(context.Context) error
}

func (c *closers) add(what string, end func(context.Context) error) {
	c.steps = append(c.steps, closer{what, end})
}

// run starts a loop that ends when its context does, and adds its end.
func (c *closers) run(what string, loop func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		loop(ctx)
	}()
	c.add(what, func(ctx context.Context) error {
		cancel()
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// every calls runOnce at each interval until the stop. A run that fails is logged and made up for by the
// next one.
func (c *closers) every(interval time.Duration, what string, log *slog.Logger, runOnce func(context.Context) error) {
	c.run(what, func(ctx context.Context) {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if err := runOnce(ctx); err != nil && ctx.Err() == nil {
					log.WarnContext(ctx, "background work failed", "what", what, "error", err)
				}
			}
		}
	})
}

// close ends everything, and goes on where an end fails.
func (c *closers) close(ctx context.Context) error {
	var errs []error
	for i := len(c.steps) - 1; i >= 0; i-- {
		if err := c.steps[i].end(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", c.steps[i].what, err))
		}
	}
	c.steps = nil
	return errors.Join(errs...)
}
