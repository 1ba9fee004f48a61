package sqlstore

import (
	"context"
	"errors"
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

// Exec runs a statement that no method offers.
func Exec(ctx context.Context, s *Store, sql string, args ...any) error {
	return s.writer(ctx).Exec(sql, args...).Error
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

// ExecTx runs a statement that no method offers in a transaction.
func ExecTx(ctx context.Context, tx *Tx, sql string, args ...any) error {
	return tx.with(ctx).Exec(sql, args...).Error
}

var (
	// Chunks cuts and pads keys.
	Chunks = chunks[int]
	// IsDuplicate tells of a taken key.
	IsDuplicate = isDuplicate
)
