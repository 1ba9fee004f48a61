// Package sqlstore keeps the truth: players, edges, feeds, likes and the outbox, in MySQL (also
// MariaDB and TiDB) or in an SQLite file. It is the only package that knows GORM and SQL.
package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"gorm.io/gorm"
)

// Config says where the truth is and how to reach it.
type Config struct {
	// URL is mysql://user:pass@host:port/db, with ?tls=true where the server demands it, or
	// sqlite://path.
	URL string
	// Owner is this process in the claims of the outbox and the leases of nodes; it must differ
	// from that of every other running process. 0 is for commands: their events are left to servers.
	Owner int64
	// MaxConns bounds the connections to a MySQL server; 0 means 32.
	MaxConns int
	// ConnectTime is how long the server may take to answer for the first time; 0 means 8 s.
	ConnectTime time.Duration
	// OnStatement, if set, is called for each SQL statement right before it is sent, BEGIN and
	// COMMIT apart. It may be called by several goroutines at once.
	OnStatement func()
	// Log takes slow statements and, at debug level, lost connections; nil means slog.Default().
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Store is the relational store. It is safe for use by many goroutines.
type Store struct {
	owner   int64
	now     func() time.Time
	log     *slog.Logger
	dialect dialect
	// read serves statements outside a transaction and never sees uncommitted rows; write serves
	// transactions and single writes. On MySQL they share one pool.
	read, write *gorm.DB
	close       func() error
	// claiming lets one claim of the outbox at a time go on.
	claiming sync.Mutex
}

// Open connects to the store and makes sure that it answers. It does not migrate. Its errors name the server,
// and no password.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.MaxConns == 0 {
		cfg.MaxConns = 32
	}
	if cfg.ConnectTime == 0 {
		cfg.ConnectTime = 8 * time.Second
	}
	d, err := dialectOf(cfg.URL, cfg.Log)
	if err != nil {
		return nil, err
	}
	pools, err := d.open(cfg.MaxConns)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	s := &Store{owner: cfg.Owner, now: cfg.Now, log: cfg.Log, dialect: d, close: pools.close}
	if err := s.connect(ctx, pools, cfg); err != nil {
		return nil, errors.Join(err, pools.close())
	}
	return s, nil
}

// connect makes the two GORM handles. Only reads outside transactions use prepared statements: a
// statement first met inside a transaction would be prepared anew in each later one.
func (s *Store) connect(ctx context.Context, p pools, cfg Config) (err error) {
	if err := reach(ctx, p, cfg); err != nil {
		return err
	}
	config := gorm.Config{
		SkipDefaultTransaction: true,
		DisableAutomaticPing:   true,
		QueryFields:            true,
		Logger:                 slowLog{log: cfg.Log},
		NowFunc:                cfg.Now,
	}
	writeConfig := config
	if s.write, err = gorm.Open(s.dialect.gorm(p.write), &writeConfig); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	readConfig := config
	if s.read, err = gorm.Open(s.dialect.gorm(newPreparing(p.read)), &readConfig); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	for _, db := range []*gorm.DB{s.read, s.write} {
		if err := hook(db, cfg.OnStatement); err != nil {
			return err
		}
	}
	return nil
}

// reach waits for the first answer.
func reach(ctx context.Context, p pools, cfg Config) error {
	limited, cancel := context.WithTimeout(ctx, cfg.ConnectTime)
	defer cancel()
	err := p.ping(limited)
	if err == nil {
		return nil
	}
	u, _ := url.Parse(cfg.URL) // which was parsed before
	if limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%s%s does not answer within %v", u.Host, u.Path, cfg.ConnectTime)
	}
	return fmt.Errorf("connect to %s%s: %w", u.Host, u.Path, err)
}

// Ping asks whether the store answers.
func (s *Store) Ping(ctx context.Context) error {
	return s.reader(ctx).Exec("SELECT 1").Error
}

// Close ends all connections.
func (s *Store) Close() error { return s.close() }

// reader reads what is committed.
func (s *Store) reader(ctx context.Context) *gorm.DB { return s.read.WithContext(ctx) }

// writer runs a single statement that writes, outside of a transaction.
func (s *Store) writer(ctx context.Context) *gorm.DB { return s.write.WithContext(ctx) }

// dialectOf reads a database URL. Errors never hold the URL, which may hold a password.
func dialectOf(raw string, log *slog.Logger) (dialect, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("the database URL can't be parsed")
	}
	switch u.Scheme {
	case "mysql":
		return newMySQL(u, log)
	case "sqlite":
		return newSQLite(u)
	}
	return nil, errors.New("the database URL must begin with mysql:// or sqlite://")
}
