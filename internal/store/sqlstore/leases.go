package sqlstore

import (
	"context"
	"fmt"
	"time"

	"circle/internal/social"
)

// NodeLeases reads the leases of the nodes first to last, by node.
func (s *Store) NodeLeases(ctx context.Context, first, last int) ([]social.NodeLease, error) {
	var rows []struct {
		Node    int
		Owner   int64
		UntilMs int64
	}
	err := s.writer(ctx).Raw("SELECT node, owner, until_ms FROM node_leases WHERE node BETWEEN ? AND ? ORDER BY node", first, last).
		Scan(&rows).Error
	leases := make([]social.NodeLease, len(rows))
	for i, r := range rows {
		leases[i] = social.NodeLease{Node: r.Node, Owner: r.Owner, Until: time.UnixMilli(r.UntilMs)}
	}
	return leases, wrap(err, "read node leases")
}

// ReplaceNodeLease makes a lease another if it still is as it was read; false when it is not.
func (s *Store) ReplaceNodeLease(ctx context.Context, was, now social.NodeLease) (bool, error) {
	if was.Node != now.Node {
		return false, fmt.Errorf("replace node lease: node %d is not %d", now.Node, was.Node)
	}
	done := s.writer(ctx).Exec("UPDATE node_leases SET owner = ?, until_ms = ? WHERE node = ? AND owner = ? AND until_ms = ?",
		now.Owner, now.Until.UnixMilli(), was.Node, was.Owner, was.Until.UnixMilli())
	return done.RowsAffected > 0, wrap(done.Error, "replace node lease")
}
