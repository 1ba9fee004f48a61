package sqlstore

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"circle/internal/social"
)

// Fences reads what was noted of the fences in Redis.
func (s *Store) Fences(ctx context.Context) (map[social.FenceKey]social.Fence, error) {
	noted := make(map[social.FenceKey]social.Fence)
	err := query(s.writer(ctx), "SELECT role, number, at_ms, server FROM fences", nil, func(scan scanner) error {
		var key social.FenceKey
		var fence social.Fence
		err := scan(&key.Role, &key.Number, &fence.At, &fence.Server)
		noted[key] = fence
		return err
	})
	return noted, wrap(err, "read fences")
}

// NoteFences notes what fences say. Of two notes of a fence the later one stays, whichever comes
// first.
func (s *Store) NoteFences(ctx context.Context, fences map[social.FenceKey]social.Fence) error {
	if len(fences) == 0 {
		return nil
	}
	// In order, so that servers that note at once don't deadlock.
	keys := slices.SortedFunc(maps.Keys(fences), func(a, b social.FenceKey) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Number, b.Number))
	})
	args := make([]any, 0, 4*len(keys))
	for _, key := range keys {
		args = append(args, key.Role, key.Number, fences[key].At, fences[key].Server)
	}
	_, err := s.exec(ctx, "INSERT INTO fences (role, number, at_ms, server, until_ms) VALUES (?, ?, ?, ?, 0)"+
		strings.Repeat(", (?, ?, ?, ?, 0)", len(keys)-1)+s.dialect.noteFence(), args...)
	return wrap(err, "note fences")
}

// TakeRepair gives the repair of a role's indexes to one server at a time: false when another has
// it at now. It ends at until.
func (s *Store) TakeRepair(ctx context.Context, role string, now, until time.Time) (bool, error) {
	_, err := s.exec(ctx, "INSERT INTO fences (role, number, at_ms, server, until_ms) VALUES (?, 0, 0, '', 0)"+
		s.dialect.onDuplicate("role"), role)
	if err != nil {
		return false, wrap(err, "take repair")
	}
	taken, err := s.exec(ctx, "UPDATE fences SET until_ms = ? WHERE role = ? AND number = 0 AND until_ms <= ?",
		until.UnixMilli(), role, now.UnixMilli())
	return taken > 0, wrap(err, "take repair")
}
