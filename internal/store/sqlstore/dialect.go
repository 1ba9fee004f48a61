package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
)

// dialect is what differs between the two kinds of servers.
type dialect interface {
	// open makes the pools without connecting.
	open(maxConns int) (pools, error)
	// gorm is the dialector over an open pool.
	gorm(db gorm.ConnPool) gorm.Dialector
	// migrator opens a pool that has no statement timeout, and names goose's dialect, its folder
	// and its lock.
	migrator() (migrator, error)
	// onDuplicate is the clause behind an INSERT's values that leaves a row as it is when its key
	// is taken. column is any column of the key.
	onDuplicate(column string) string
	// forUpdate is the clause behind a SELECT that locks the rows read.
	forUpdate() string
	// bulkPause is how long a bulk writer, after it wrote for the given time, lets others write.
	bulkPause(wrote time.Duration) time.Duration
	// limited makes a SELECT with an order and a limit fit for a UNION.
	limited(sql string) string
	// putLike is an INSERT of a feed, a player and a like that changes a row only if it is a
	// tombstone.
	putLike() string
	// noteFence is the clause behind an INSERT of fences that lets the later one of two stay.
	noteFence() string
}

// pools are the connections of a store; read and write may be the same.
type pools struct {
	read, write *sql.DB
}

func (p pools) ping(ctx context.Context) error {
	if err := p.write.PingContext(ctx); err != nil {
		return err
	}
	return p.read.PingContext(ctx)
}

// close ends all connections. One that is broken already is as good as closed.
func (p pools) close() error {
	err := p.write.Close()
	if p.read != p.write {
		err = errors.Join(err, p.read.Close())
	}
	if errors.Is(err, driver.ErrBadConn) {
		return nil
	}
	return err
}

// migrator is what goose needs.
type migrator struct {
	db      *sql.DB
	dialect goose.Dialect
	folder  string
	lock    goose.ProviderOption
}
