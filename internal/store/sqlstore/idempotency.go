package sqlstore

import (
	"context"
	"fmt"
	"time"

	"circle/internal/social"
)

// Remember notes the result of an operation under an idempotency key. When the key is taken it
// waits for the one who took it and returns what was noted then, with found true.
func (tx *Tx) Remember(ctx context.Context, r social.Remembered) (noted social.Remembered, found bool, err error) {
	insert := "INSERT INTO idempotency (player_id, operation, idempotency_key, input_hash, result_id, created_ms) VALUES (?, ?, ?, ?, ?, ?)"
	// The insert itself waits for, and then locks, a row that is there.
	done := tx.with(ctx).Exec(insert+tx.store.dialect.onDuplicate("player_id"),
		r.Player, r.Operation, r.Key, r.Hash[:], r.Result, r.At.UnixMilli())
	if done.Error != nil {
		return r, false, fmt.Errorf("remember a result: %w", done.Error)
	}
	if done.RowsAffected > 0 {
		return r, false, nil
	}
	const sql = "SELECT input_hash, result_id, created_ms FROM idempotency WHERE player_id = ? AND operation = ? AND idempotency_key = ?"
	noted = social.Remembered{Player: r.Player, Operation: r.Operation, Key: r.Key}
	err = query(tx.with(ctx), sql, []any{r.Player, r.Operation, r.Key}, func(scan scanner) error {
		var hash []byte
		var ms int64
		err := scan(&hash, &noted.Result, &ms)
		copy(noted.Hash[:], hash)
		noted.At = time.UnixMilli(ms).UTC()
		return err
	})
	if err != nil {
		return r, false, fmt.Errorf("read a remembered result: %w", err)
	}
	return noted, true, nil
}

// PurgeIdempotency forgets results noted before the given time, the oldest first, about limit of
// them: those of one millisecond go together. It says how many went; 0 means that none is left.
func (s *Store) PurgeIdempotency(ctx context.Context, before time.Time, limit int) (int, error) {
	// SQLite and TiDB know no DELETE with both order and limit, so the last to go is looked up.
	const upTo = "SELECT MAX(created_ms) FROM (SELECT created_ms FROM idempotency WHERE created_ms < ? ORDER BY created_ms LIMIT ?) u"
	var last *int64
	err := query(s.reader(ctx), upTo, []any{before.UnixMilli(), limit}, func(scan scanner) error { return scan(&last) })
	if err != nil {
		return 0, fmt.Errorf("purge remembered results: %w", err)
	}
	if last == nil {
		return 0, nil
	}
	done := s.writer(ctx).Exec("DELETE FROM idempotency WHERE created_ms <= ?", *last)
	if done.Error != nil {
		return 0, fmt.Errorf("purge remembered results: %w", done.Error)
	}
	return int(done.RowsAffected), nil
}
