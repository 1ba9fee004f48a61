package app

import (
	"context"
	"time"

	"circle/internal/auth"
	"circle/internal/service"
	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

const (
	cleaningInterval = 10 * time.Minute
	// idempotencyLife is how long a result is kept under its key.
	idempotencyLife = 30 * 24 * time.Hour
	// purgeChunk and purgeChunks bound the rows of one deletion, and the deletions of one round.
	purgeChunk  = 1000
	purgeChunks = 50
)

// cleaning removes what has expired. Each round is bounded; what it leaves waits for the next.
// Several servers may clean at once: a row is deleted by one of them.
type cleaning struct {
	accounts *auth.Accounts
	store    *sqlstore.Store
	messages *service.Messages
	now      func() time.Time
}

func (c *cleaning) runOnce(ctx context.Context) error {
	if err := c.accounts.Purge(ctx); err != nil {
		return err
	}
	if err := c.messages.Expire(ctx); err != nil {
		return err
	}
	if err := purge(ctx, c.now().Add(-social.MessageLife), c.store.PurgeReadMarks); err != nil {
		return err
	}
	return purge(ctx, c.now().Add(-idempotencyLife), c.store.PurgeIdempotency)
}

func purge(ctx context.Context, before time.Time, some func(context.Context, time.Time, int) (int, error)) error {
	for range purgeChunks {
		n, err := some(ctx, before, purgeChunk)
		if err != nil || n < purgeChunk {
			return err
		}
	}
	return nil
}
