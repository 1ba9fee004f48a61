package sqlstore

import (
	"context"
	"fmt"

	"circle/internal/social"
)

// FansOf lists at most limit of the players who follow author, in the order of their ids from the one
// behind after on. It reads the primary, so that whoever's follow has been answered is there.
func (s *Store) FansOf(ctx context.Context, author, after social.PlayerID, limit int) ([]social.PlayerID, error) {
	fans := make([]social.PlayerID, 0, limit)
	const sql = "SELECT peer_id FROM edges WHERE player_id = ? AND peer_id > ? AND fan_id > 0 ORDER BY peer_id LIMIT ?"
	err := query(s.reader(ctx), sql, []any{author, after, limit}, func(scan scanner) error {
		var fan social.PlayerID
		err := scan(&fan)
		fans = append(fans, fan)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read fans: %w", err)
	}
	return fans, nil
}
