package sqlstore

import (
	"context"
	"fmt"

	"circle/internal/social"
)

// EdgeOf reads what two players are to each other, as the first sees it.
func (s *Store) EdgeOf(ctx context.Context, player, peer social.PlayerID) (social.Edge, error) {
	edge := social.Edge{Player: player, Peer: peer}
	const sql = "SELECT following_id, fan_id, friend_id, block_id, blocked_id, mute_id, muted_id FROM edges WHERE player_id = ? AND peer_id = ?"
	err := query(s.reader(ctx), sql, []any{player, peer}, func(scan scanner) error {
		return scan(&edge.Following, &edge.Fan, &edge.Friend, &edge.Block, &edge.Blocked, &edge.Mute, &edge.Muted)
	})
	if err != nil {
		return social.Edge{}, fmt.Errorf("read an edge: %w", err)
	}
	return edge, nil
}

// NewestOf lists the newest feeds of an author, deleted ones too.
func (s *Store) NewestOf(ctx context.Context, author social.PlayerID, limit int) ([]social.FeedID, error) {
	var ids []social.FeedID
	const sql = "SELECT id FROM feeds WHERE author_id = ? ORDER BY id DESC LIMIT ?"
	err := query(s.reader(ctx), sql, []any{author, limit}, func(scan scanner) error {
		var id social.FeedID
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the newest feeds of an author: %w", err)
	}
	return ids, nil
}

// LikedBelow lists feeds that a player likes, those with the largest ids first.
func (s *Store) LikedBelow(ctx context.Context, player social.PlayerID, below int64, limit int) ([]social.FeedID, error) {
	var ids []social.FeedID
	const sql = "SELECT feed_id FROM likes WHERE player_id = ? AND liked = 1 AND feed_id < ? ORDER BY feed_id DESC LIMIT ?"
	err := query(s.reader(ctx), sql, []any{player, below, limit}, func(scan scanner) error {
		var id social.FeedID
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read liked feeds: %w", err)
	}
	return ids, nil
}
