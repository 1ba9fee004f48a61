// Package freshdb gives tests empty databases.
package freshdb

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// Variable names the environment variable with the mysql:// URL of a server on which tests may make
// databases.
const Variable = "CIRCLE_TEST_DATABASE_URL"

// Each runs fn as a subtest with the URL of an empty database on the server, which is dropped at the
// test's end, or of an empty SQLite file if there is no server. Not with both: the suite runs once
// without a server, and SQLite under the race detector takes several times as long.
func Each(t *testing.T, fn func(t *testing.T, url string)) {
	t.Helper()
	if server := os.Getenv(Variable); server != "" {
		t.Run("mysql", func(t *testing.T) { fn(t, MySQL(t, server)) })
		return
	}
	t.Run("sqlite", func(t *testing.T) { fn(t, SQLite(t)) })
}

// SQLite is the URL of an SQLite file that does not exist yet.
func SQLite(t testing.TB) string {
	return "sqlite://" + filepath.Join(t.TempDir(), "circle.db")
}

// MySQL makes a database on the server of the given URL, whose own database is not touched.
func MySQL(t testing.TB, server string) string {
	t.Helper()
	u, err := url.Parse(server)
	require.NoError(t, err)
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User = "tcp", u.Host, u.User.Username()
	c.Passwd, _ = u.User.Password()
	connector, err := mysql.NewConnector(c)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	name := databaseName(t)
	_, err = db.Exec("CREATE DATABASE " + name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := db.Exec("DROP DATABASE " + name)
		require.NoError(t, err)
		require.NoError(t, db.Close())
	})
	u.Path = "/" + name
	return u.String()
}

// databaseName is unique among the processes and tests that share a server.
func databaseName(t testing.TB) string {
	test := strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(t.Name()))
	return fmt.Sprintf("t%d_%d_%.30s", os.Getpid(), counter.Add(1), test)
}

var counter atomic.Int64
