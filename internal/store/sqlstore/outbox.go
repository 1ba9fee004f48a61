package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"circle/internal/social"
)

// The stages of an event, as they are stored.
const (
	stageNear = 0
	stageFar  = 1
	stageDone = 2
	stageDead = 3
)

// inlineLease is how long a fresh event is left to the process that appended it.
const inlineLease = 3 * time.Second

// maxReason is the width of last_error in characters.
const maxReason = 1000

// Times of the outbox are unix milliseconds of the calling process's clock: the methods take now
// from their caller, so servers' clocks must agree to well within a lease. Skew can only make an
// event run twice; it can't make a stale claim count, since that is told by the epoch.
//
// next_ms is the earliest time at which an event may be claimed: the end of its lease while it is
// claimed, the end of its pause otherwise. So one index range holds exactly what can be claimed.

// Append writes an event, which must have an id, with its near stage claimed by this process for
// three seconds, under epoch 1. Without an owner it is free for any server at once.
func (tx *Tx) Append(ctx context.Context, e social.Event) error {
	if e.ID <= 0 {
		return fmt.Errorf("append event: the event has no id")
	}
	var lease int64
	next := tx.store.now().UnixMilli()
	if tx.store.owner != 0 {
		next += inlineLease.Milliseconds()
		lease = next
	}
	err := tx.with(ctx).Exec("INSERT INTO outbox (id, kind, actor_id, subject_id, object_id, stage, owner, lease_ms, epoch,"+
		" attempts, next_ms, place, last_error, done_ms) VALUES (?, ?, ?, ?, ?, 0, ?, ?, 1, 0, ?, ?, '', 0)",
		e.ID, e.Kind, e.Actor, e.Subject, e.Object, tx.store.owner, lease, next, noPlace).Error
	if isDuplicate(err) {
		err = fmt.Errorf("%w: %w", social.ErrIDTaken, err)
	}
	return wrap(err, "append event")
}

// noPlace is the beginning of a far stage.
var noPlace = []byte{}

// FinishNear marks the near stages of those events done whose claims still stand: events of the
// kinds in far wait for their far stage from now on, the others are done.
func (s *Store) FinishNear(ctx context.Context, now time.Time, events []social.Event, far []social.EventKind) error {
	kinds := make([]int64, len(far))
	for i, k := range far {
		kinds[i] = int64(k)
	}
	err := s.eachEpoch(ctx, events, func(tx *Tx, epoch int, ids []int64) error {
		return tx.with(ctx).Exec("UPDATE outbox SET stage = CASE WHEN kind IN ? THEN ? ELSE ? END,"+
			" done_ms = CASE WHEN kind IN ? THEN 0 ELSE ? END, replay = CASE WHEN kind IN ? THEN replay ELSE 0 END,"+
			" next_ms = ?, owner = 0, lease_ms = 0, attempts = 0, last_error = ''"+
			" WHERE id IN ? AND stage = ? AND epoch = ?",
			kinds, stageFar, stageDone, kinds, now.UnixMilli(), kinds, now.UnixMilli(), ids, stageNear, epoch).Error
	})
	return wrap(err, "finish near stages")
}

// FinishFar marks an event's far stage done if its claim still stands.
func (s *Store) FinishFar(ctx context.Context, now time.Time, e social.Event) error {
	_, err := s.exec(ctx, "UPDATE outbox SET stage = ?, done_ms = ?, replay = 0, owner = 0, lease_ms = 0, attempts = 0, last_error = ''"+
		" WHERE id = ? AND stage = ? AND epoch = ?", stageDone, now.UnixMilli(), e.ID, stageFar, e.Epoch)
	return wrap(err, "finish far stage")
}

// RetryEvents gives claims that still stand back: the events may be claimed again from at. A
// counted retry adds to their attempts.
func (s *Store) RetryEvents(ctx context.Context, events []social.Event, at time.Time, counted bool, reason string) error {
	attempt := 0
	if counted {
		attempt = 1
	}
	err := s.eachEpoch(ctx, events, func(tx *Tx, epoch int, ids []int64) error {
		return tx.with(ctx).Exec("UPDATE outbox SET owner = 0, lease_ms = 0, next_ms = ?, attempts = attempts + ?, last_error = ?"+
			" WHERE id IN ? AND stage IN (?, ?) AND epoch = ?",
			at.UnixMilli(), attempt, cut(reason), ids, stageNear, stageFar, epoch).Error
	})
	return wrap(err, "retry events")
}

// BuryEvent gives an event up if its claim still stands.
func (s *Store) BuryEvent(ctx context.Context, now time.Time, e social.Event, reason string) error {
	_, err := s.exec(ctx, "UPDATE outbox SET stage = ?, done_ms = ?, owner = 0, lease_ms = 0, attempts = attempts + 1, last_error = ?"+
		" WHERE id = ? AND stage IN (?, ?) AND epoch = ?",
		stageDead, now.UnixMilli(), cut(reason), e.ID, stageNear, stageFar, e.Epoch)
	return wrap(err, "bury event")
}

// eachEpoch runs fn in one transaction for the ids of each epoch: one statement for events that
// are claimed for the first time, as nearly all are. Ids come in order, so that writers of the same
// events don't deadlock.
func (s *Store) eachEpoch(ctx context.Context, events []social.Event, fn func(tx *Tx, epoch int, ids []int64) error) error {
	if len(events) == 0 {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(events), func(a, b social.Event) int {
		return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.ID, b.ID))
	})
	return s.InTx(ctx, func(tx *Tx) error {
		for start := 0; start < len(sorted); {
			epoch, end := sorted[start].Epoch, start
			var ids []int64
			for ; end < len(sorted) && sorted[end].Epoch == epoch; end++ {
				ids = append(ids, int64(sorted[end].ID))
			}
			if err := fn(tx, epoch, ids); err != nil {
				return err
			}
			start = end
		}
		return nil
	})
}

// cut makes an error's text fit for last_error.
func cut(reason string) string {
	reason = strings.ToValidUTF8(reason, "?")
	if utf8.RuneCountInString(reason) <= maxReason {
		return reason
	}
	return string([]rune(reason)[:maxReason])
}
