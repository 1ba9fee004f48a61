package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"circle/internal/social"
)

// hook makes every statement of the handle call onStatement and pass its error through translate,
// so that no method has to.
func hook(db *gorm.DB, onStatement func()) error {
	before := func(*gorm.DB) {}
	if onStatement != nil {
		before = func(*gorm.DB) { onStatement() }
	}
	after := func(db *gorm.DB) { db.Error = translate(db.Statement.Context, db.Error) }
	c := db.Callback()
	return errors.Join(
		c.Create().Before("*").Register("circle:before", before), c.Create().After("*").Register("circle:after", after),
		c.Query().Before("*").Register("circle:before", before), c.Query().After("*").Register("circle:after", after),
		c.Update().Before("*").Register("circle:before", before), c.Update().After("*").Register("circle:after", after),
		c.Delete().Before("*").Register("circle:before", before), c.Delete().After("*").Register("circle:after", after),
		c.Row().Before("*").Register("circle:before", before), c.Row().After("*").Register("circle:after", after),
		c.Raw().Before("*").Register("circle:before", before), c.Raw().After("*").Register("circle:after", after),
	)
}

// translate is the one place where a database's errors become the project's: a caller that went
// away is context.Canceled, a store that is away or too busy is UNAVAILABLE, all others stay.
func translate(ctx context.Context, err error) error {
	var known *social.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("%w (%w)", context.Canceled, err)
	case ctx.Err() != nil, away(err), rerun(err):
		return social.Unavailable(err)
	}
	return err
}

// away says that the server can't be reached, is overloaded or refuses to write.
func away(err error) bool {
	for _, target := range []error{
		context.DeadlineExceeded, driver.ErrBadConn, mysql.ErrInvalidConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	var network net.Error
	return errors.As(err, &network) || awayNumbers[number(err)]
}

// awayNumbers are MySQL's and SQLite's codes; they don't overlap.
var awayNumbers = map[int]bool{
	1021: true, // disk full
	1040: true, // too many connections
	1053: true, // the server is shutting down
	1114: true, // table full
	1129: true, // host blocked after failed connections
	1203: true, // too many connections of this user
	1226: true, // a resource limit of this user
	1290: true, // the server is read-only
	1317: true, // the statement was killed
	1461: true, // too many prepared statements
	1792: true, // the transaction is read-only
	1836: true, // the server is read-only
	1927: true, // MariaDB: the connection was killed
	1969: true, // MariaDB: the statement took too long
	3024: true, // MySQL: the statement took too long
	9001: true, // TiDB: no placement driver
	9002: true, // TiDB: no storage node
	9003: true, // TiDB: the storage node is busy
	9005: true, // TiDB: a region is away

	sqlite3.SQLITE_READONLY:  true,
	sqlite3.SQLITE_INTERRUPT: true,
	sqlite3.SQLITE_IOERR:     true,
	sqlite3.SQLITE_FULL:      true,
	sqlite3.SQLITE_CANTOPEN:  true,
}

// rerun says that the transaction may do better when it runs again: a deadlock, a lock wait, a
// snapshot or write conflict.
func rerun(err error) bool {
	switch number(err) {
	case 1213, 1205, 1020, 9007, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return true
	}
	return false
}

// isDuplicate says that a unique key is taken.
func isDuplicate(err error) bool {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() {
		case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
			return true
		}
	}
	return number(err) == 1062
}

// number is the error's number on its server, 0 when it has none. SQLite's are cut to the primary
// code.
func number(err error) int {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return int(my.Number)
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return lite.Code() & 0xff
	}
	return 0
}
