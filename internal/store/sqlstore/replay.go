package sqlstore

import (
	"context"
	"slices"
	"time"
)

// replayChunk bounds the events that one statement puts back.
const replayChunk = 500

// ReplayEvents has the near stages of all events that ended since then run again, and what followed
// them; n is how many. Events whose stages both were done are marked as replays. Claims on near stages
// are taken away: what their holders wrote may be lost, so their ends must not count. It puts back at
// most the given number and some chunks, and then says that it did not come to an end.
func (s *Store) ReplayEvents(ctx context.Context, now, since time.Time, most int) (n int, whole bool, err error) {
	// Events move from the near stage to the far one and are done then. By looking in that order, each
	// is met at least once.
	for _, of := range []struct {
		stage int
		where string
		least int64
	}{
		{stageNear, "owner <> ?", 0},
		// next_ms is never before the end of the near stage, nor before a place was saved.
		{stageFar, "next_ms >= ?", since.UnixMilli()},
		{stageDone, "done_ms >= ?", since.UnixMilli()},
	} {
		var ids []int64
		err := s.writer(ctx).Raw("SELECT id FROM outbox WHERE stage = ? AND "+of.where+" LIMIT ?", of.stage, of.least, most-n+1).Scan(&ids).Error
		if err != nil {
			return n, false, wrap(err, "find events to replay")
		}
		if n+len(ids) > most {
			return n, false, nil
		}
		for chunk := range slices.Chunk(ids, replayChunk) {
			// replay comes first because it looks at the old stage.
			moved, err := s.exec(ctx, "UPDATE outbox SET replay = CASE WHEN stage = ? THEN 1 ELSE replay END, stage = ?, place = ?, epoch = epoch + 1,"+
				" owner = 0, lease_ms = 0, next_ms = ?, attempts = 0, last_error = '', done_ms = 0 WHERE id IN ? AND stage = ?",
				stageDone, stageNear, noPlace, now.UnixMilli(), chunk, of.stage)
			if err != nil {
				return n, false, wrap(err, "replay events")
			}
			n += int(moved)
		}
	}
	return n, true, nil
}
