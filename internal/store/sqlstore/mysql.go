package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
)

// mysqlDialect speaks to MySQL 8, MariaDB and TiDB.
type mysqlDialect struct{ config *mysql.Config }

func newMySQL(u *url.URL, log *slog.Logger) (dialect, error) {
	name := strings.TrimPrefix(u.Path, "/")
	if u.Host == "" || name == "" || strings.Contains(name, "/") {
		return nil, errors.New("a mysql:// URL needs a host and a database")
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.DBName = "tcp", u.Host, name
	if u.Port() == "" {
		c.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	for key, values := range u.Query() {
		if key != "tls" {
			return nil, fmt.Errorf("the database URL has the unknown parameter %q", key)
		}
		c.TLSConfig = values[0]
	}
	c.Logger = driverLog{log}
	c.Collation = "utf8mb4_bin"
	c.ParseTime, c.Loc = true, time.UTC
	// A changed row counts, a matched one does not: conditional updates rely on it.
	c.ClientFoundRows = false
	// Statements in transactions go out in one trip, without being prepared.
	c.InterpolateParams = true
	c.Timeout, c.ReadTimeout, c.WriteTimeout = 3*time.Second, 30*time.Second, 10*time.Second
	c.Params = map[string]string{"time_zone": "'+00:00'", "innodb_lock_wait_timeout": "5"}
	if _, err := mysql.NewConnector(c.Clone()); err != nil {
		return nil, errors.New("the database URL's tls must be true, false, preferred or skip-verify")
	}
	return mysqlDialect{config: c}, nil
}

// driverLog takes the driver's remarks on connections that it gives up; what a caller must know of
// them is in its error.
type driverLog struct{ log *slog.Logger }

// Print logs a remark.
func (l driverLog) Print(v ...any) { l.log.Debug("mysql driver", "remark", fmt.Sprint(v...)) }

func (d mysqlDialect) open(maxConns int) (pools, error) {
	db, err := openMySQL(d.config)
	if err != nil {
		return pools{}, err
	}
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	db.SetConnMaxIdleTime(5 * time.Minute)
	db.SetConnMaxLifetime(30 * time.Minute)
	return pools{read: db, write: db}, nil
}

func openMySQL(config *mysql.Config) (*sql.DB, error) {
	connector, err := mysql.NewConnector(config.Clone())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(readCommitted{connector}), nil
}

// readCommitted makes connections whose transactions are READ COMMITTED. The session variable is
// named differently by MySQL and MariaDB, and sql.TxOptions cost a trip per transaction.
type readCommitted struct{ driver.Connector }

// Connect makes a connection.
func (c readCommitted) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	const set = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, set, nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (d mysqlDialect) gorm(db gorm.ConnPool) gorm.Dialector {
	// Without asking for the version GORM adds no RETURNING, with which MariaDB reports wrong
	// counts of rows.
	return gormmysql.New(gormmysql.Config{Conn: db, SkipInitializeWithVersion: true, DisableWithReturning: true})
}

func (d mysqlDialect) migrator() (migrator, error) {
	config := d.config.Clone()
	config.ReadTimeout = 0
	db, err := openMySQL(config)
	if err != nil {
		return migrator{}, err
	}
	return migrator{db: db, dialect: goose.DialectMySQL, folder: "mysql", lock: goose.WithSessionLocker(namedLock{})}, nil
}

func (mysqlDialect) onDuplicate(column string) string {
	return " ON DUPLICATE KEY UPDATE " + column + " = " + column
}

func (mysqlDialect) forUpdate() string { return " FOR UPDATE" }

func (mysqlDialect) limited(sql string) string { return "(" + sql + ")" }

// putLike locks a row that is there exclusively from the start: a shared lock would be raised by
// two at once, which is a deadlock. like_id comes first because it looks at the old liked.
func (mysqlDialect) putLike() string {
	return "INSERT INTO likes (feed_id, player_id, like_id, liked) VALUES (?, ?, ?, 1) ON DUPLICATE KEY UPDATE" +
		" like_id = CASE WHEN liked = 0 THEN VALUES(like_id) ELSE like_id END, liked = 1"
}

// noteFence sets server first because it looks at the old at_ms.
func (mysqlDialect) noteFence() string {
	return " ON DUPLICATE KEY UPDATE server = CASE WHEN VALUES(at_ms) > at_ms THEN VALUES(server) ELSE server END," +
		" at_ms = GREATEST(at_ms, VALUES(at_ms))"
}

// namedLock lets one server migrate a database at a time. The lock is the connection's, so it
// ends with a process that dies.
type namedLock struct{}

const (
	lockName = "CONCAT('circle.', MD5(DATABASE()))"
	// lockWait is how long a server waits for another's migrations, in seconds.
	lockWait = 300
)

// SessionLock waits for the lock.
func (namedLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK("+lockName+", ?)", lockWait).Scan(&got); err != nil {
		return fmt.Errorf("lock the migrations: %w", err)
	}
	if got.Int64 != 1 {
		return errors.New("lock the migrations: another server holds the lock")
	}
	return nil
}

// SessionUnlock gives the lock back.
func (namedLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, "DO RELEASE_LOCK("+lockName+")"); err != nil {
		return fmt.Errorf("unlock the migrations: %w", err)
	}
	return nil
}
