package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"circle/internal/social"
)

// eventRow is what is read of an event.
type eventRow struct {
	ID        int64
	Kind      social.EventKind
	ActorID   int64
	SubjectID int64
	ObjectID  int64
	Epoch     int
	Attempts  int
	Place     []byte
	LastError string
	Replay    bool
}

func (r eventRow) event() social.Event {
	return social.Event{
		ID: social.EventID(r.ID), Kind: r.Kind, Actor: social.PlayerID(r.ActorID),
		Subject: r.SubjectID, Object: r.ObjectID, Epoch: r.Epoch, Replay: r.Replay,
	}
}

// ClaimNear claims at most limit events whose near stage nobody holds at now, those that waited
// longest first. The claims end at until.
func (s *Store) ClaimNear(ctx context.Context, now, until time.Time, limit int) ([]social.ClaimedEvent, error) {
	find := s.reader(ctx).Raw("SELECT id, epoch FROM outbox WHERE stage = ? AND next_ms <= ? ORDER BY next_ms, id LIMIT ?",
		stageNear, now.UnixMilli(), limit)
	return s.claim(ctx, find, stageNear, now, until)
}

// ClaimFar claims at most limit events whose far stage nobody holds at now and whose actor has no
// earlier event, by id, that waits for either stage; those that waited longest first. The claims
// end at until.
func (s *Store) ClaimFar(ctx context.Context, now, until time.Time, limit int) ([]social.ClaimedEvent, error) {
	// MIN(id) is one look at outbox_actor; MariaDB reads every event of the actor for NOT EXISTS.
	find := s.reader(ctx).Raw("SELECT e.id, e.epoch FROM outbox e WHERE e.stage = ? AND e.next_ms <= ?"+
		" AND e.id = (SELECT MIN(b.id) FROM outbox b WHERE b.actor_id = e.actor_id AND b.stage = ?)"+
		" AND NOT EXISTS (SELECT 1 FROM outbox b WHERE b.actor_id = e.actor_id AND b.stage = ? AND b.id < e.id)"+
		" ORDER BY e.next_ms, e.id LIMIT ?", stageFar, now.UnixMilli(), stageFar, stageNear, limit)
	return s.claim(ctx, find, stageFar, now, until)
}

// ClaimFarOf is ClaimFar for the next event of one actor; none when that is held, pauses or waits
// for its near stage. It costs the same however many events wait.
func (s *Store) ClaimFarOf(ctx context.Context, actor social.PlayerID, now, until time.Time) ([]social.ClaimedEvent, error) {
	find := s.reader(ctx).Raw("SELECT e.id, e.epoch FROM outbox e WHERE e.next_ms <= ?"+
		" AND e.id = (SELECT MIN(b.id) FROM outbox b WHERE b.actor_id = ? AND b.stage = ?)"+
		" AND NOT EXISTS (SELECT 1 FROM outbox b WHERE b.actor_id = ? AND b.stage = ? AND b.id < e.id)",
		now.UnixMilli(), actor, stageFar, actor, stageNear)
	return s.claim(ctx, find, stageFar, now, until)
}

// claim takes the events that find names and that are still free. A subquery in the UPDATE would
// save a trip, but makes MariaDB walk the whole table; so the ids are read first, the UPDATE takes
// those that still stand as they were, and the last read tells which. Claims of one process take
// turns: owner and epoch alone tell its claims apart.
func (s *Store) claim(ctx context.Context, find *gorm.DB, stage int, now, until time.Time) ([]social.ClaimedEvent, error) {
	if s.owner == 0 {
		return nil, errors.New("claim events: this process has no owner number")
	}
	s.claiming.Lock()
	defer s.claiming.Unlock()
	var found []eventRow
	if err := find.Scan(&found).Error; err != nil {
		return nil, fmt.Errorf("find events to claim: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	ids, before := make([]int64, len(found)), make(map[int64]int, len(found))
	for i, r := range found {
		ids[i], before[r.ID] = r.ID, r.Epoch
	}
	took, err := s.exec(ctx, "UPDATE outbox SET owner = ?, lease_ms = ?, next_ms = ?, epoch = epoch + 1"+
		" WHERE id IN ? AND stage = ? AND next_ms <= ?",
		s.owner, until.UnixMilli(), until.UnixMilli(), ids, stage, now.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("claim events: %w", err)
	}
	if took == 0 {
		return nil, nil
	}
	var rows []eventRow
	err = s.writer(ctx).Raw("SELECT id, kind, actor_id, subject_id, object_id, epoch, attempts, place, replay FROM outbox"+
		" WHERE id IN ? AND stage = ? AND owner = ? ORDER BY id", ids, stage, s.owner).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read claimed events: %w", err)
	}
	claimed := make([]social.ClaimedEvent, 0, len(rows))
	for _, r := range rows {
		if r.Epoch == before[r.ID]+1 {
			claimed = append(claimed, social.ClaimedEvent{Event: r.event(), Attempts: r.Attempts, Place: r.Place})
		}
	}
	return claimed, nil
}

// RenewClaim moves the end of a claim on a far stage; false when the claim no longer stands.
func (s *Store) RenewClaim(ctx context.Context, e social.Event, until time.Time) (bool, error) {
	return s.touch(ctx, e, "lease_ms = ?, next_ms = ?", until.UnixMilli(), until.UnixMilli())
}

// maxPlace is the width of place in bytes.
const maxPlace = 255

// SavePlace notes how far a far stage came and moves the end of the claim; false when the claim no
// longer stands. Who gets on is not failing: the attempts begin anew.
func (s *Store) SavePlace(ctx context.Context, e social.Event, place []byte, until time.Time) (bool, error) {
	if len(place) > maxPlace {
		return false, fmt.Errorf("save place: %d bytes are more than %d", len(place), maxPlace)
	}
	if place == nil {
		place = noPlace
	}
	return s.touch(ctx, e, "place = ?, attempts = 0, lease_ms = ?, next_ms = ?", place, until.UnixMilli(), until.UnixMilli())
}

func (s *Store) touch(ctx context.Context, e social.Event, set string, values ...any) (bool, error) {
	const held = " WHERE id = ? AND stage = ? AND epoch = ? AND owner = ?"
	where := []any{e.ID, stageFar, e.Epoch, s.owner}
	done, err := s.exec(ctx, "UPDATE outbox SET "+set+held, append(values, where...)...)
	if err != nil || done > 0 {
		return done > 0, wrap(err, "touch claim")
	}
	// A row that already says the same is not counted.
	var n int64
	if err := s.writer(ctx).Raw("SELECT COUNT(*) FROM outbox"+held, where...).Scan(&n).Error; err != nil {
		return false, fmt.Errorf("touch claim: %w", err)
	}
	return n > 0, nil
}

// PurgeEvents removes at most limit events that were done before the given time and tells how many.
func (s *Store) PurgeEvents(ctx context.Context, before time.Time, limit int) (int, error) {
	var ids []int64
	err := s.reader(ctx).Raw("SELECT id FROM outbox WHERE stage = ? AND done_ms < ? ORDER BY done_ms LIMIT ?",
		stageDone, before.UnixMilli(), limit).Scan(&ids).Error
	if err != nil || len(ids) == 0 {
		return 0, wrap(err, "find events to purge")
	}
	done, err := s.exec(ctx, "DELETE FROM outbox WHERE id IN ? AND stage = ?", ids, stageDone)
	return int(done), wrap(err, "purge events")
}

// OutboxStats counts the events that are not done. It walks all of them.
func (s *Store) OutboxStats(ctx context.Context) (social.OutboxStats, error) {
	var rows []struct {
		Stage  int
		Events int
		Oldest social.EventID
	}
	err := s.reader(ctx).Raw("SELECT stage, COUNT(*) AS events, MIN(id) AS oldest FROM outbox WHERE stage IN (?, ?, ?) GROUP BY stage",
		stageNear, stageFar, stageDead).Scan(&rows).Error
	var stats social.OutboxStats
	for _, r := range rows {
		switch r.Stage {
		case stageNear:
			stats.Near, stats.OldestNear = r.Events, r.Oldest
		case stageFar:
			stats.Far, stats.OldestFar = r.Events, r.Oldest
		case stageDead:
			stats.Dead = r.Events
		}
	}
	return stats, wrap(err, "count events")
}

// DeadEvents lists at most limit events that were given up, the latest first.
func (s *Store) DeadEvents(ctx context.Context, limit int) ([]social.DeadEvent, error) {
	var rows []eventRow
	err := s.reader(ctx).Raw("SELECT id, kind, actor_id, subject_id, object_id, epoch, attempts, last_error FROM outbox"+
		" WHERE stage = ? ORDER BY done_ms DESC, id DESC LIMIT ?", stageDead, limit).Scan(&rows).Error
	dead := make([]social.DeadEvent, len(rows))
	for i, r := range rows {
		dead[i] = social.DeadEvent{Event: r.event(), Attempts: r.Attempts, Reason: r.LastError}
	}
	return dead, wrap(err, "list dead events")
}

// wrap says what failed, if anything did.
func wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
