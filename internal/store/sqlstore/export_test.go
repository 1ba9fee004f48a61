package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"gorm.io/gorm"
)

// Statements records the distinct statements that a store sends from now on.
type Statements struct {
	mu   sync.Mutex
	seen map[string]bool
}

// List gives what was recorded.
func (s *Statements) List() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for sql := range s.seen {
		list = append(list, sql)
	}
	return list
}

// Record begins to record.
func Record(s *Store) (*Statements, error) {
	r := &Statements{seen: map[string]bool{}}
	note := func(db *gorm.DB) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen[db.Statement.SQL.String()] = true
	}
	var errs []error
	for _, db := range []*gorm.DB{s.read, s.write} {
		c := db.Callback()
		errs = append(errs,
			c.Create().After("*").Register("test:record", note), c.Query().After("*").Register("test:record", note),
			c.Update().After("*").Register("test:record", note), c.Delete().After("*").Register("test:record", note),
			c.Row().After("*").Register("test:record", note), c.Raw().After("*").Register("test:record", note))
	}
	return r, errors.Join(errs...)
}

// KillConnections has a MySQL server end the other connections of the store's database.
func KillConnections(ctx context.Context, s *Store) error {
	return s.write.WithContext(ctx).Connection(func(db *gorm.DB) error {
		var ids []int64
		const others = "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()"
		if err := db.Raw(others).Scan(&ids).Error; err != nil {
			return err
		}
		for _, id := range ids {
			if err := db.Exec(fmt.Sprintf("KILL %d", id)).Error; err != nil {
				return err
			}
		}
		return nil
	})
}

// Plan lists the steps of SQLite's plan for a statement.
func Plan(ctx context.Context, s *Store, sql string) (steps []string, err error) {
	err = query(s.writer(ctx), "EXPLAIN QUERY PLAN "+strings.ReplaceAll(sql, "?", "1"), nil, func(scan scanner) error {
		var id, parent, unused int
		var step string
		err := scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	})
	return steps, err
}

// Chunks cuts and pads keys.
var Chunks = chunks[int]
