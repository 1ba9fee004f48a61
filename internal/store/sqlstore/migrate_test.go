package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/pingcap/tidb/pkg/parser"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver"
	"github.com/stretchr/testify/require"

	"circle/internal/testkit/freshdb"
	"circle/migrations"
)

func TestMigrate(t *testing.T) {
	freshdb.Each(t, func(t *testing.T, url string) {
		f := open(t, url)
		pending, err := f.MigrationsPending(t.Context())
		require.NoError(t, err)
		require.True(t, pending)
		steps, err := f.MigrationStatus(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, steps)
		require.Nil(t, steps[0].AppliedAt)

		for range 2 {
			require.NoError(t, f.Migrate(t.Context()))
		}
		pending, err = f.MigrationsPending(t.Context())
		require.NoError(t, err)
		require.False(t, pending)
		steps, err = f.MigrationStatus(t.Context())
		require.NoError(t, err)
		require.Equal(t, "00001_frame.sql", steps[0].Name)
		for _, step := range steps {
			require.NotNil(t, step.AppliedAt, step.Name)
		}
	})
}

func TestServersThatStartAtOnceMigrateOnce(t *testing.T) {
	freshdb.Each(t, func(t *testing.T, url string) {
		servers := []fixture{open(t, url), open(t, url), open(t, url), open(t, url)}
		servers[0].parallel(len(servers), func(ctx context.Context, i int) (bool, error) { return true, servers[i].Migrate(ctx) })
		pending, err := servers[0].MigrationsPending(t.Context())
		require.NoError(t, err)
		require.False(t, pending)
	})
}

// TestBothDialectsHaveTheSameTables compares names of tables, names and nullability of columns, and
// the columns of keys and indexes.
func TestBothDialectsHaveTheSameTables(t *testing.T) {
	server := os.Getenv(freshdb.Variable)
	lite := open(t, freshdb.SQLite(t))
	require.NoError(t, lite.Migrate(t.Context()))
	liteSchema := sqliteSchema(t, strings.TrimPrefix(lite.url, "sqlite://"))
	require.Contains(t, liteSchema, "table players column avatar_url null")
	require.Contains(t, liteSchema, "table players unique [name_key]")
	if server == "" {
		return
	}
	my := open(t, freshdb.MySQL(t, server))
	require.NoError(t, my.Migrate(t.Context()))
	require.Equal(t, liteSchema, mysqlSchema(t, my.url))
}

func sqliteSchema(t *testing.T, path string) []string {
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	const tables = " FROM sqlite_master t, "
	return sorted(
		rows(t, db, `SELECT 'table ' || t.name || ' column ' || c.name || CASE WHEN c."notnull" THEN '' ELSE ' null' END`+tables+
			`pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'goose%' AND t.name NOT LIKE 'sqlite%'`),
		keys(t, db, `SELECT t.name, 'PRIMARY', 1, c.name`+tables+`pragma_table_info(t.name) c
			WHERE t.type = 'table' AND c.pk > 0 AND t.name NOT LIKE 'goose%' AND t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.pk`),
		keys(t, db, `SELECT t.name, i.name, i."unique", c.name`+tables+`pragma_index_list(t.name) i, pragma_index_info(i.name) c
			WHERE t.type = 'table' AND i.origin = 'c' AND t.name NOT LIKE 'goose%' ORDER BY t.name, i.name, c.seqno`),
	)
}

func mysqlSchema(t *testing.T, raw string) []string {
	u, err := url.Parse(raw)
	require.NoError(t, err)
	c := gomysql.NewConfig()
	c.Net, c.Addr, c.User, c.DBName = "tcp", u.Host, u.User.Username(), u.Path[1:]
	c.Passwd, _ = u.User.Password()
	db, err := sql.Open("mysql", c.FormatDSN())
	require.NoError(t, err)
	defer db.Close()
	return sorted(
		rows(t, db, `SELECT CONCAT('table ', table_name, ' column ', column_name, IF(is_nullable = 'YES', ' null', ''))
			FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name NOT LIKE 'goose%'`),
		keys(t, db, `SELECT table_name, index_name, NOT non_unique, column_name FROM information_schema.statistics
			WHERE table_schema = DATABASE() AND table_name NOT LIKE 'goose%' ORDER BY table_name, index_name, seq_in_index`),
	)
}

func rows(t *testing.T, db *sql.DB, query string) (out []string) {
	r, err := db.Query(query)
	require.NoError(t, err)
	defer r.Close()
	for r.Next() {
		var s string
		require.NoError(t, r.Scan(&s))
		out = append(out, s)
	}
	require.NoError(t, r.Err())
	return out
}

// keys joins the columns of each index, which come one by one: table, index, unique, column.
func keys(t *testing.T, db *sql.DB, query string) (out []string) {
	r, err := db.Query(query)
	require.NoError(t, err)
	defer r.Close()
	columns := map[string][]string{}
	for r.Next() {
		var table, index, column string
		var unique bool
		require.NoError(t, r.Scan(&table, &index, &unique, &column))
		kind := "index " + index
		if unique {
			kind = "unique"
		}
		name := fmt.Sprintf("table %s %s %s", table, kind, strings.Repeat("primary", strings.Count(index, "PRIMARY")))
		columns[name] = append(columns[name], column)
	}
	require.NoError(t, r.Err())
	for name, c := range columns {
		out = append(out, fmt.Sprint(strings.TrimSpace(name), " ", c))
	}
	return out
}

func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return all
}

func TestMySQLMigrationsAreMySQL8(t *testing.T) {
	files, err := fs.Glob(migrations.FS, "mysql/*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := fs.ReadFile(migrations.FS, file)
			require.NoError(t, err)
			statements, _, err := parser.New().Parse(string(text), "", "")
			require.NoError(t, err)
			require.NotEmpty(t, statements)
		})
	}
}
