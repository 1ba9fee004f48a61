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
		DoUpdates: clause.AssignmentColumns([]string{"following_id", "fan_id", "friend_id", "block_id", "blocked_id", "mute_id", "muted_id", "tied"}),
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
		const sql = "SELECT peer_id, following_id, fan_id, block_id, blocked_id, mute_id FROM edges WHERE player_id = ? AND peer_id IN ?"
		err := query(s.reader(ctx), sql, []any{player, piece}, func(scan scanner) error {
			var e social.Edge
			err := scan(&e.Peer, &e.Following, &e.Fan, &e.Block, &e.Blocked, &e.Mute)
			found[e.Peer] = e.Relation()
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read relations: %w", err)
		}
	}
	return found, nil
}

// edgeColumns name the edges that order each list of players. Those of the rare kinds are looked for among the
// player's tied rows, and sorted.
var edgeColumns = [...]string{
	social.ListFollowing: "following_id",
	social.ListFans:      "fan_id",
	social.ListFriends:   "friend_id",
	social.ListBlocked:   "block_id",
	social.ListBlockers:  "blocked_id",
	social.ListMuted:     "mute_id",
}

// together leaves out the rows whose player, in a column, blocks a viewer or is blocked by him. The viewer is a
// column too, or an argument.
func together(viewer, column string) string {
	return " AND NOT EXISTS (SELECT 1 FROM edges v WHERE v.player_id = " + viewer + " AND v.peer_id = " + column +
		" AND (v.block_id > 0 OR v.blocked_id > 0))"
}

// tiedRows chooses among the rows of a rare list, which is its player's own business. Whom the player mutes and by
// whom he is blocked is unknown to him, unless he blocks him too.
func tiedRows(list social.RelationList, judged bool) string {
	if judged && list == social.ListMuted {
		return " AND e.tied = 1 AND (e.blocked_id = 0 OR e.block_id > 0)"
	}
	return " AND e.tied = 1"
}

// CountPlayers counts a player's list of players of one of the rare kinds, as the player sees it.
func (s *Store) CountPlayers(ctx context.Context, list social.RelationList, player social.PlayerID) (n int, err error) {
	sql := "SELECT COUNT(*) FROM edges e WHERE e.player_id = ? AND e." + edgeColumns[list] + " > 0" + tiedRows(list, true)
	err = query(s.reader(ctx), sql, []any{player}, func(scan scanner) error { return scan(&n) })
	return n, wrap(err, "count players")
}

// PlayerLists reads a piece of several lists, in the order asked: at most limit entries with an edge
// below the key of each, newest edge first. Of ListFollowing, ListFans and ListFriends those are left out whom
// the viewer, unless he is 0, may not see.
func (s *Store) PlayerLists(
	ctx context.Context, list social.RelationList, viewer social.PlayerID, asks []social.ListAsk[social.PlayerID],
) ([][]social.PlayerEdge, error) {
	column := edgeColumns[list]
	where, judged := " WHERE e.player_id = ? AND e."+column+" > 0 AND e."+column+" < ?", false
	switch {
	case list > social.ListFriends:
		where += tiedRows(list, viewer != 0)
	case viewer != 0:
		judged = true
		where += together("?", "e.peer_id")
	}
	q := listQuery{term: "e.peer_id AS member, e." + column + " AS place FROM edges e" + where + " ORDER BY e." + column + " DESC LIMIT ?"}
	terms := make([][]any, len(asks))
	for i, ask := range asks {
		terms[i] = []any{ask.Of, ask.Below}
		if judged {
			terms[i] = append(terms[i], viewer)
		}
		terms[i] = append(terms[i], max(ask.Limit, 0))
	}
	found, err := q.read(ctx, s, terms)
	if err != nil {
		return nil, fmt.Errorf("read lists of players: %w", err)
	}
	return convertLists(found, func(e listEntry) social.PlayerEdge {
		return social.PlayerEdge{Player: social.PlayerID(e.member), Edge: social.EdgeID(e.place)}
	}), nil
}
