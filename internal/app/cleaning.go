package app

import (
	"context"
	"time"

	"circle/internal/auth"
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
	now      func() time.Time
}

func (c *cleaning) runOnce(ctx context.Context) error {
	if err := c.accounts.Purge(ctx); err != nil {
		return err
	}
	for range purgeChunks {
		n, err := c.store.PurgeIdempotency(ctx, c.now().Add(-idempotencyLife), purgeChunk)
		if err != nil || n < purgeChunk {
			return err
		}
	}
	return nil
}
