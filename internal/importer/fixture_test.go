package importer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
	"circle/internal/testkit/freshdb"
)

// fixture is a migrated store with the dependencies of an import, and another way to its rows.
type fixture struct {
	Deps
	t     *testing.T
	url   string
	store *sqlstore.Store
	db    *sql.DB
}

func each(t *testing.T, fn func(f *fixture)) {
	freshdb.Each(t, func(t *testing.T, url string) { fn(newFixture(t, url)) })
}

func newFixture(t *testing.T, databaseURL string) *fixture {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: databaseURL})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	require.NoError(t, store.Migrate(t.Context()))
	db := openDB(t, databaseURL)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	now := time.Now()
	return &fixture{
		Deps: Deps{
			Store: store, IDs: social.NewIDSource(28, time.Now, now, now.Add(time.Hour)), Now: time.Now,
			Progress: io.Discard, Log: slog.New(slog.DiscardHandler),
		},
		t: t, url: databaseURL, store: store, db: db,
	}
}

func openDB(t *testing.T, databaseURL string) *sql.DB {
	u, err := url.Parse(databaseURL)
	require.NoError(t, err)
	if u.Scheme == "sqlite" {
		db, err := sql.Open("sqlite", u.Path)
		require.NoError(t, err)
		return db
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.DBName = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/")
	c.Passwd, _ = u.User.Password()
	connector, err := mysql.NewConnector(c)
	require.NoError(t, err)
	return sql.OpenDB(connector)
}

// rows are the rows of a query as lines.
func (f *fixture) rows(query string, args ...any) []string {
	f.t.Helper()
	rows, err := f.db.Query(query, args...)
	require.NoError(f.t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(f.t, err)
	var lines []string
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		require.NoError(f.t, rows.Scan(targets...))
		var fields []string
		for _, v := range values {
			fields = append(fields, v.String)
		}
		lines = append(lines, strings.Join(fields, " "))
	}
	require.NoError(f.t, rows.Err())
	return lines
}

func (f *fixture) count(query string, args ...any) (n int) {
	f.t.Helper()
	require.NoError(f.t, f.db.QueryRow(query, args...).Scan(&n))
	return n
}

// requireExact recounts all counters, and looks for what can't be.
func (f *fixture) requireExact() {
	f.t.Helper()
	for what, query := range map[string]string{
		"a player's feeds": "SELECT player_id FROM player_counts c WHERE feeds <>" +
			" (SELECT COUNT(*) FROM feeds WHERE author_id = player_id AND deleted = 0)",
		"a player's following": "SELECT player_id FROM player_counts c WHERE following <>" +
			" (SELECT COUNT(*) FROM edges e WHERE e.player_id = c.player_id AND following_id > 0)",
		"a player's fans": "SELECT player_id FROM player_counts c WHERE fans <>" +
			" (SELECT COUNT(*) FROM edges e WHERE e.player_id = c.player_id AND fan_id > 0)",
		"a player's friends": "SELECT player_id FROM player_counts c WHERE friends <>" +
			" (SELECT COUNT(*) FROM edges e WHERE e.player_id = c.player_id AND friend_id > 0)",
		"a feed's likes": "SELECT feed_id FROM feed_counts c WHERE likes <>" +
			" (SELECT COUNT(*) FROM likes l WHERE l.feed_id = c.feed_id AND liked = 1)",
		"counters differ from the feed": "SELECT id FROM feeds f LEFT JOIN feed_counts c ON c.feed_id = id WHERE c.feed_id IS NULL" +
			" OR c.author_id <> f.author_id OR c.visibility <> f.visibility OR c.deleted <> f.deleted",
		"a row without its mirror": "SELECT e.player_id FROM edges e LEFT JOIN edges m ON m.player_id = e.peer_id AND m.peer_id = e.player_id" +
			" WHERE m.player_id IS NULL OR m.following_id <> e.fan_id OR m.fan_id <> e.following_id",
		"a wrong friend edge": "SELECT player_id FROM edges WHERE friend_id <> CASE WHEN following_id = 0 OR fan_id = 0 THEN 0" +
			" WHEN following_id > fan_id THEN following_id ELSE fan_id END",
		"an edge twice in a list": "SELECT player_id FROM edges WHERE following_id > 0 GROUP BY player_id, following_id HAVING COUNT(*) > 1" +
			" UNION SELECT player_id FROM edges WHERE fan_id > 0 GROUP BY player_id, fan_id HAVING COUNT(*) > 1",
		"a like twice in a list":        "SELECT like_id FROM likes GROUP BY like_id HAVING COUNT(*) > 1",
		"a like before its feed":        "SELECT feed_id FROM likes WHERE like_id <= feed_id",
		"an edge to nobody":             "SELECT peer_id FROM edges LEFT JOIN players ON id = peer_id WHERE id IS NULL",
		"a like by nobody":              "SELECT player_id FROM likes LEFT JOIN players ON id = player_id WHERE id IS NULL",
		"a like of nothing":             "SELECT feed_id FROM likes LEFT JOIN feeds ON id = feed_id WHERE id IS NULL",
		"a feed by nobody":              "SELECT f.id FROM feeds f LEFT JOIN players p ON p.id = author_id WHERE p.id IS NULL",
		"a player without counts":       "SELECT id FROM players LEFT JOIN player_counts ON player_id = id WHERE player_id IS NULL",
		"a player with a way to log in": "SELECT player_id FROM credentials",
		"a like of what may not be seen": "SELECT l.player_id FROM likes l JOIN feeds f ON f.id = l.feed_id" +
			" LEFT JOIN edges e ON e.player_id = l.player_id AND e.peer_id = f.author_id WHERE f.author_id <> l.player_id AND" +
			" (visibility = 4 OR visibility = 2 AND COALESCE(following_id, 0) = 0 OR visibility = 3 AND COALESCE(friend_id, 0) = 0)",
		"an event": "SELECT id FROM outbox",
	} {
		assert.Empty(f.t, f.rows(query), what)
	}
}

// files writes a folder of files.
func files(t *testing.T, contents map[string]string) string {
	dir := t.TempDir()
	for name, content := range contents {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

var errKilled = errors.New("killed")

// mortal is a store whose process dies at the batch after so many: before it is written, or after.
type mortal struct {
	Store
	left    int
	written bool
}

// WriteBatch implements Store.
func (m *mortal) WriteBatch(ctx context.Context, b *social.Batch) error {
	m.left--
	switch {
	case m.left < -1:
		return fmt.Errorf("%w: and goes on", errKilled)
	case m.left < 0 && !m.written:
		return errKilled
	}
	if err := m.Store.WriteBatch(ctx, b); err != nil || m.left >= 0 {
		return err
	}
	return errKilled
}
