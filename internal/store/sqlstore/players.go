package sqlstore

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"circle/internal/social"
)

// lifted is a version's next value: it always grows, and at least to the one given.
func lifted(version int64) any {
	return gorm.Expr("CASE WHEN version >= ? THEN version + 1 ELSE ? END", version, version)
}

// UpdateProfile changes what is given and lifts both of the player's versions at least to version;
// false when there is no such player.
func (tx *Tx) UpdateProfile(ctx context.Context, id social.PlayerID, change social.ProfileChange, version int64) (bool, error) {
	set := map[string]any{"version": lifted(version)}
	if change.Level != nil {
		set["level"] = *change.Level
	}
	if change.AvatarURL != nil {
		set["avatar_url"] = orNull(*change.AvatarURL)
	}
	if change.Bio != nil {
		set["bio"] = *change.Bio
	}
	if change.GuildID != nil {
		set["guild_id"] = orNull(*change.GuildID)
	}
	done := tx.with(ctx).Table("players").Where("id = ?", id).Updates(set)
	if done.Error != nil {
		return false, fmt.Errorf("update a profile: %w", done.Error)
	}
	if done.RowsAffected == 0 {
		return false, nil
	}
	return tx.addCounts(ctx, "player_id = ?", []any{id}, social.PlayerCounts{}, version)
}

// orNull is NULL for an empty text.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// AddCounts adds to the player's counters and lifts their version; false when there is no such
// player.
func (tx *Tx) AddCounts(ctx context.Context, id social.PlayerID, delta social.PlayerCounts, version int64) (bool, error) {
	return tx.addCounts(ctx, "player_id = ?", []any{id}, delta, version)
}

// AddFollowing is AddCounts for a player who begins to follow: false also when the player follows
// limit players already.
func (tx *Tx) AddFollowing(ctx context.Context, id social.PlayerID, delta social.PlayerCounts, limit int, version int64) (bool, error) {
	return tx.addCounts(ctx, "player_id = ? AND following < ?", []any{id, limit}, delta, version)
}

func (tx *Tx) addCounts(ctx context.Context, where string, args []any, delta social.PlayerCounts, version int64) (bool, error) {
	sql := "UPDATE player_counts SET feeds = feeds + ?, fans = fans + ?, following = following + ?, friends = friends + ?, version = ? WHERE " + where
	values := append([]any{delta.Feeds, delta.Fans, delta.Following, delta.Friends, lifted(version)}, args...)
	done := tx.with(ctx).Exec(sql, values...)
	if done.Error != nil {
		return false, fmt.Errorf("count: %w", done.Error)
	}
	return done.RowsAffected == 1, nil
}

// PlayerByNameKey finds a player by folded name; 0 when there is none.
func (s *Store) PlayerByNameKey(ctx context.Context, key string) (id social.PlayerID, err error) {
	err = query(s.reader(ctx), "SELECT id FROM players WHERE name_key = ?", []any{key}, func(scan scanner) error { return scan(&id) })
	if err != nil {
		return 0, fmt.Errorf("find a player by name: %w", err)
	}
	return id, nil
}

// LastPlayer is the largest id that was given to a player, 0 when there is none. Ids below it may be nobody's.
func (s *Store) LastPlayer(ctx context.Context) (id social.PlayerID, err error) {
	err = query(s.reader(ctx), "SELECT next - 1 FROM sequences WHERE name = 'player'", nil, func(scan scanner) error { return scan(&id) })
	return id, wrap(err, "find the last player")
}
