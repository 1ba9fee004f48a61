package sqlstore

import (
	"context"
	"database/sql"
	"sync"
)

// maxStatements bounds the prepared statements of a connection; those beyond it go out unprepared.
// All of a MySQL server's connections together may hold 16,382.
const maxStatements = 200

// preparing is a pool whose queries are prepared once and kept. GORM's own statement cache is not
// used: it hands one caller's cancellation to all who wait for the same statement, may close
// statements in use, and leaves a goroutine behind.
type preparing struct {
	*sql.DB
	mu         sync.RWMutex
	statements map[string]*sql.Stmt
}

func newPreparing(db *sql.DB) *preparing {
	return &preparing{DB: db, statements: map[string]*sql.Stmt{}}
}

// GetDBConn gives GORM the pool beneath.
func (p *preparing) GetDBConn() (*sql.DB, error) { return p.DB, nil }

// QueryContext runs a prepared query.
func (p *preparing) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := p.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if statement == nil {
		return p.DB.QueryContext(ctx, query, args...)
	}
	return statement.QueryContext(ctx, args...)
}

// statement prepares the query unless it is there; nil when no more statements are kept. Two
// callers may prepare the same query at once; the second gives its own up.
func (p *preparing) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	p.mu.RLock()
	found, full := p.statements[query], len(p.statements) >= maxStatements
	p.mu.RUnlock()
	if found != nil || full {
		return found, nil
	}
	fresh, err := p.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.statements[query]; found != nil {
		return found, fresh.Close()
	}
	p.statements[query] = fresh
	return fresh, nil
}
