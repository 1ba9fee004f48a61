package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm/clause"

	"circle/internal/social"
)

// PutLike makes the player like the feed, with order as the like's place; false when the player
// likes it already.
func (tx *Tx) PutLike(ctx context.Context, key social.LikeKey, order social.LikeID) (bool, error) {
	done := tx.with(ctx).Exec(tx.store.dialect.putLike(), key.Feed, key.Player, order)
	if done.Error != nil {
		return false, fmt.Errorf("put a like: %w", done.Error)
	}
	return done.RowsAffected > 0, nil
}

// RemoveLike makes the like a tombstone; false when the player does not like the feed.
func (tx *Tx) RemoveLike(ctx context.Context, key social.LikeKey) (bool, error) {
	const sql = "UPDATE likes SET liked = 0 WHERE feed_id = ? AND player_id = ? AND liked = 1"
	done := tx.with(ctx).Exec(sql, key.Feed, key.Player)
	if done.Error != nil {
		return false, fmt.Errorf("remove a like: %w", done.Error)
	}
	return done.RowsAffected > 0, nil
}

// AddLikes adds to the feed's like count, lifts the version of its counters at least to version and
// returns them as they are then; nil when the feed is unknown or deleted.
func (tx *Tx) AddLikes(ctx context.Context, id social.FeedID, delta int, version int64) (*social.FeedCounters, error) {
	const sql = "UPDATE feed_counts SET likes = likes + ?, version = ? WHERE feed_id = ? AND deleted = 0"
	done := tx.with(ctx).Exec(sql, delta, lifted(version), id)
	if done.Error != nil {
		return nil, fmt.Errorf("count likes: %w", done.Error)
	}
	if done.RowsAffected == 0 {
		return nil, nil
	}
	var row feedCountsRow
	if err := tx.with(ctx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("feed_id = ?", id).Take(&row).Error; err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	return row.counters(), nil
}

// Liked tells which of the feeds the player likes.
func (s *Store) Liked(ctx context.Context, player social.PlayerID, feeds []social.FeedID) (map[social.FeedID]bool, error) {
	liked := make(map[social.FeedID]bool, len(feeds))
	for piece := range chunks(feeds) {
		const sql = "SELECT feed_id FROM likes WHERE player_id = ? AND feed_id IN ? AND liked = 1"
		err := query(s.reader(ctx), sql, []any{player, piece}, func(scan scanner) error {
			var id social.FeedID
			err := scan(&id)
			liked[id] = true
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read what is liked: %w", err)
		}
	}
	return liked, nil
}

// LikesByKeys reads likes that stand; others are absent.
func (s *Store) LikesByKeys(ctx context.Context, keys []social.LikeKey) (map[social.LikeKey]social.LikeID, error) {
	found := make(map[social.LikeKey]social.LikeID, len(keys))
	for piece := range chunks(keys) {
		args := make([]any, 0, 2*len(piece))
		for _, key := range piece {
			args = append(args, key.Feed, key.Player)
		}
		// Neither MariaDB nor SQLite finds the index behind a list of pairs.
		pairs := strings.Repeat(" OR (feed_id = ? AND player_id = ?)", len(piece))[len(" OR "):]
		sql := "SELECT feed_id, player_id, like_id FROM likes WHERE liked = 1 AND (" + pairs + ")"
		err := query(s.reader(ctx), sql, args, func(scan scanner) error {
			var key social.LikeKey
			var order social.LikeID
			err := scan(&key.Feed, &key.Player, &order)
			found[key] = order
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read likes: %w", err)
		}
	}
	return found, nil
}
