package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/gofrs/flock"
	"github.com/libtnb/sqlite"
	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
)

// sqliteDialect keeps everything in one file.
type sqliteDialect struct{ path string }

func newSQLite(u *url.URL) (dialect, error) {
	path := u.Host + u.Path
	if path == "" || u.RawQuery != "" {
		return nil, errors.New("a sqlite:// URL is a path and nothing else")
	}
	return sqliteDialect{path: path}, nil
}

// maxReaders bounds the reading connections: SQLite reads on the processor, so many don't help.
const maxReaders = 8

func (d sqliteDialect) open(int) (pools, error) {
	// There is one writer at a time in any case: waiting in the pool is fair, waiting in SQLite
	// is not.
	write, err := d.pool(1, "_txlock", "immediate")
	if err != nil {
		return pools{}, err
	}
	read, err := d.pool(maxReaders, "_pragma", "query_only(1)")
	if err != nil {
		return pools{}, errors.Join(err, write.Close())
	}
	return pools{read: read, write: write}, nil
}

// pool opens the file with write-ahead logging. synchronous FULL means that what is committed
// outlives a power cut, as on MySQL.
func (d sqliteDialect) pool(conns int, key, value string) (*sql.DB, error) {
	q := url.Values{
		"_pragma":      {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)"},
		"_time_format": {"sqlite"},
		"_timezone":    {"UTC"},
		"_texttotime":  {"1"},
		"_inttotime":   {"1"},
	}
	q.Add(key, value)
	db, err := sql.Open(sqlite.DriverName, (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: d.path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

func (d sqliteDialect) gorm(db gorm.ConnPool) gorm.Dialector {
	return sqlite.New(sqlite.Config{Conn: db})
}

func (d sqliteDialect) migrator() (migrator, error) {
	db, err := d.pool(1, "_txlock", "immediate")
	if err != nil {
		return migrator{}, err
	}
	lock := fileLock{file: flock.New(d.path + ".migrate")}
	return migrator{db: db, dialect: goose.DialectSQLite3, folder: "sqlite", lock: goose.WithLocker(lock)}, nil
}

func (sqliteDialect) onDuplicate(string) string { return " ON CONFLICT DO NOTHING" }

// forUpdate is empty: a transaction has the whole file to itself.
func (sqliteDialect) forUpdate() string { return "" }

func (sqliteDialect) limited(sql string) string { return "SELECT * FROM (" + sql + ")" }

func (sqliteDialect) putLike() string {
	return "INSERT INTO likes (feed_id, player_id, like_id, liked) VALUES (?, ?, ?, 1) ON CONFLICT (feed_id, player_id)" +
		" DO UPDATE SET like_id = excluded.like_id, liked = 1 WHERE likes.liked = 0"
}

func (sqliteDialect) noteFence() string {
	return " ON CONFLICT (role, number) DO UPDATE SET server = excluded.server, at_ms = excluded.at_ms WHERE excluded.at_ms > fences.at_ms"
}

// fileLock lets one process migrate a file at a time.
type fileLock struct{ file *flock.Flock }

// Lock waits for the lock.
func (l fileLock) Lock(ctx context.Context, _ *sql.DB) error {
	if _, err := l.file.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return fmt.Errorf("lock the migrations: %w", err)
	}
	return nil
}

// Unlock gives the lock back.
func (l fileLock) Unlock(context.Context, *sql.DB) error {
	if err := l.file.Unlock(); err != nil {
		return fmt.Errorf("unlock the migrations: %w", err)
	}
	return nil
}
