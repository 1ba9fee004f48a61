package sqlstore

import (
	"context"
	"math/rand/v2"
	"time"

	"gorm.io/gorm"

	"circle/internal/failpoint"
)

// Tx is an open transaction, for one goroutine. Its context is that of InTx; the contexts given to
// its methods must come from it.
type Tx struct {
	db    *gorm.DB
	store *Store
}

// with is the transaction's handle under a context.
func (tx *Tx) with(ctx context.Context) *gorm.DB { return tx.db.WithContext(ctx) }

const (
	maxAttempts = 5
	// retryPause is the longest pause before the second attempt; it doubles with each further one.
	retryPause = 10 * time.Millisecond
)

// InTx runs fn in a READ COMMITTED transaction and commits it when fn returns nil; it rolls back
// when fn fails or panics. On a deadlock, a lock wait or a snapshot conflict the whole of fn runs
// again, at most five times in all. An error of the COMMIT itself leaves open what happened.
func (s *Store) InTx(ctx context.Context, fn func(tx *Tx) error) error {
	return rerunning(ctx, func() error { return s.attempt(ctx, fn) })
}

// exec runs a single statement that writes, outside of a transaction but again like one, and tells
// how many rows changed.
func (s *Store) exec(ctx context.Context, statement string, values ...any) (changed int64, err error) {
	err = rerunning(ctx, func() error {
		done := s.writer(ctx).Exec(statement, values...)
		changed = done.RowsAffected
		return done.Error
	})
	return changed, err
}

// rerunning runs fn again while it meets a deadlock, a lock wait or a snapshot conflict.
func rerunning(ctx context.Context, fn func() error) error {
	for attempt := 1; ; attempt++ {
		err := fn()
		if err == nil || attempt == maxAttempts || !rerun(err) {
			return err
		}
		pause := time.NewTimer(rand.N(retryPause << (attempt - 1)))
		select {
		case <-ctx.Done():
			pause.Stop()
			return translate(ctx, ctx.Err())
		case <-pause.C:
		}
	}
}

func (s *Store) attempt(ctx context.Context, fn func(tx *Tx) error) error {
	db := s.write.WithContext(ctx).Begin()
	if db.Error != nil {
		return translate(ctx, db.Error)
	}
	open := true
	defer func() {
		if open {
			db.Rollback()
		}
	}()
	if err := fn(&Tx{db: db, store: s}); err != nil {
		return err
	}
	open = false
	failpoint.Hit(failpoint.BeforeCommit)
	if err := db.Commit().Error; err != nil {
		return translate(ctx, err)
	}
	failpoint.Hit(failpoint.AfterCommit)
	return nil
}
