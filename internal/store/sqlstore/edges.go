package sqlstore

import (
	"context"
	"fmt"

	"gorm.io/gorm/clause"

	"circle/internal/social"
)

// LockPair makes sure of both mirrored rows, locks them in id order and returns the player's.
func (tx *Tx) LockPair(ctx context.Context, player, peer social.PlayerID) (social.Edge, error) {
	// The insert locks rows that are there already too, so there is no gap to fall into.
	rows := edgeRows(social.Edge{Player: player, Peer: peer})
	if err := tx.with(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(rows).Error; err != nil {
		return social.Edge{}, fmt.Errorf("make a pair of edges: %w", err)
	}
	var row edgeRow
	err := tx.with(ctx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("player_id = ? AND peer_id = ?", player, peer).Take(&row).Error
	if err != nil {
		return social.Edge{}, fmt.Errorf("lock a pair of edges: %w", err)
	}
	return row.edge(), nil
}

// SavePair writes both mirrored rows.
func (tx *Tx) SavePair(ctx context.Context, edge social.Edge) error {
	replace := clause.OnConflict{
		Columns:   []clause.Column{{Name: "player_id"}, {Name: "peer_id"}},
		DoUpdates: clause.AssignmentColumns([]string{"following_id", "fan_id", "friend_id"}),
	}
	if err := tx.with(ctx).Clauses(replace).Create(edgeRows(edge)).Error; err != nil {
		return fmt.Errorf("save a pair of edges: %w", err)
	}
	return nil
}

// Relations tells how player stands to each of peers; peers without a row are absent.
func (s *Store) Relations(ctx context.Context, player social.PlayerID, peers []social.PlayerID) (map[social.PlayerID]social.Relation, error) {
	found := make(map[social.PlayerID]social.Relation, len(peers))
	for piece := range chunks(peers) {
		const sql = "SELECT peer_id, following_id, fan_id FROM edges WHERE player_id = ? AND peer_id IN ?"
		err := query(s.reader(ctx), sql, []any{player, piece}, func(scan scanner) error {
			var e social.Edge
			err := scan(&e.Peer, &e.Following, &e.Fan)
			found[e.Peer] = e.Relation()
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read relations: %w", err)
		}
	}
	return found, nil
}

// edgeColumns name the edges that order each list of players.
var edgeColumns = [...]string{
	social.ListFollowing: "following_id",
	social.ListFans:      "fan_id",
	social.ListFriends:   "friend_id",
}

// PlayerLists reads a piece of several lists, in the order asked: at most limit entries with an edge
// below the key of each, newest edge first.
func (s *Store) PlayerLists(
	ctx context.Context, list social.RelationList, asks []social.ListAsk[social.PlayerID],
) ([][]social.PlayerEdge, error) {
	column := edgeColumns[list]
	q := listQuery{term: "peer_id AS member, " + column + " AS place FROM edges" +
		" WHERE player_id = ? AND " + column + " > 0 AND " + column + " < ? ORDER BY " + column + " DESC LIMIT ?"}
	lists, err := readLists(ctx, s, q, asks, func(e listEntry) social.PlayerEdge {
		return social.PlayerEdge{Player: social.PlayerID(e.member), Edge: social.EdgeID(e.place)}
	})
	if err != nil {
		return nil, fmt.Errorf("read lists of players: %w", err)
	}
	return lists, nil
}
