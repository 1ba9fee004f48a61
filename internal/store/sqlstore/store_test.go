package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pingcap/tidb/pkg/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/service"
	"circle/internal/social"
	"circle/internal/store/sqlstore"
	"circle/internal/testkit/freshdb"
)

// What services need of the store. InTx alone differs, in the type of its function.
var (
	_ service.PlayerStore   = (*sqlstore.Store)(nil)
	_ service.RelationStore = (*sqlstore.Store)(nil)
	_ service.FeedStore     = (*sqlstore.Store)(nil)
	_ service.LikeStore     = (*sqlstore.Store)(nil)
	_ service.CommentStore  = (*sqlstore.Store)(nil)
	_ service.MessageStore  = (*sqlstore.Store)(nil)
	_ service.Tx            = (*sqlstore.Tx)(nil)

	_ service.Truth[social.PlayerID, *social.Player]       = sqlstore.Truth[social.PlayerID, *social.Player]{}
	_ service.Truth[social.PlayerID, *social.PlayerDetail] = sqlstore.Truth[social.PlayerID, *social.PlayerDetail]{}
	_ service.Truth[social.FeedID, *social.Feed]           = sqlstore.Truth[social.FeedID, *social.Feed]{}
	_ service.Truth[social.FeedID, *social.FeedBody]       = sqlstore.Truth[social.FeedID, *social.FeedBody]{}
	_ service.Truth[social.FeedID, *social.FeedCounters]   = sqlstore.Truth[social.FeedID, *social.FeedCounters]{}
	_ service.Truth[social.CommentID, *social.Comment]     = sqlstore.Truth[social.CommentID, *social.Comment]{}
	_ service.Truth[social.MessageID, *social.Message]     = sqlstore.Truth[social.MessageID, *social.Message]{}
)

// fixture is a migrated store with what tests do to it.
type fixture struct {
	*sqlstore.Store
	t          *testing.T
	url        string
	statements *atomic.Int64
}

func (f fixture) mysql() bool { return f.url[:5] == "mysql" }

// each runs fn on each kind of database.
func each(t *testing.T, fn func(f fixture)) {
	freshdb.Each(t, func(t *testing.T, url string) {
		f := open(t, url)
		require.NoError(t, f.Migrate(t.Context()))
		fn(f)
	})
}

func open(t *testing.T, url string) fixture {
	t.Helper()
	f := fixture{t: t, url: url, statements: new(atomic.Int64)}
	count := func() { f.statements.Add(1) }
	s, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: url, Owner: 1, OnStatement: count})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	f.Store = s
	f.checkStatements()
	return f
}

// checkStatements holds all statements of a test to what the other servers need: MySQL's to the
// grammar of MySQL 8, SQLite's to finding every row by an index. Only derived tables, always named u, may be
// scanned.
func (f fixture) checkStatements() {
	f.t.Helper()
	sent, err := sqlstore.Record(f.Store)
	require.NoError(f.t, err)
	f.t.Cleanup(func() {
		for _, sql := range sent.List() {
			if f.mysql() {
				_, _, err := parser.New().Parse(sql, "", "")
				assert.NoError(f.t, err, sql)
				continue
			}
			plan, err := sqlstore.Plan(context.Background(), f.Store, sql)
			assert.NoError(f.t, err, sql)
			for _, step := range plan {
				assert.NotRegexp(f.t, `^SCAN [a-tv-z]`, step, sql)
			}
		}
	})
}

// do runs fn in a transaction that must succeed.
func (f fixture) do(fn func(ctx context.Context, tx *sqlstore.Tx) error) {
	f.t.Helper()
	ctx := f.t.Context()
	require.NoError(f.t, f.InTx(ctx, func(tx *sqlstore.Tx) error { return fn(ctx, tx) }))
}

// players makes players of the given ids, with version 10.
func (f fixture) players(ids ...social.PlayerID) {
	f.t.Helper()
	for _, id := range ids {
		_, err := f.CreateAccount(f.t.Context(), social.NewAccount{
			ID: id, Name: fmt.Sprintf("Player %d", id), NameKey: fmt.Sprintf("player %d", id), JoinedAt: joined, Version: 10,
			Event: social.Event{ID: social.EventID(id), Kind: social.EventPlayer, Actor: id, Subject: int64(id)},
		})
		require.NoError(f.t, err)
	}
}

var joined = time.Date(2026, 5, 4, 3, 2, 1, int(987*time.Millisecond), time.UTC)

// parallel runs fn n times at once and gives back how often it said true; no call may fail.
func (f fixture) parallel(n int, fn func(ctx context.Context, i int) (bool, error)) int {
	f.t.Helper()
	var wg sync.WaitGroup
	var yes atomic.Int64
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			ok, err := fn(f.t.Context(), i)
			assert.NoError(f.t, err)
			if ok {
				yes.Add(1)
			}
		})
	}
	close(start)
	wg.Wait()
	return int(yes.Load())
}

func TestOpenRefusesBadURLs(t *testing.T) {
	for name, url := range map[string]string{
		"no scheme":          "circle.db",
		"another scheme":     "postgres://user:hush@host/db",
		"no database":        "mysql://user:hush@host:3306/",
		"no host":            "mysql:///db",
		"unknown parameter":  "mysql://user:hush@host/db?color=red",
		"unknown tls":        "mysql://user:hush@host/db?tls=hush",
		"no path":            "sqlite://",
		"path and parameter": "sqlite://file.db?mode=ro",
		"not a URL":          "mysql://user:hush@host:port/db%zz",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: url})
			require.Error(t, err)
			require.NotContains(t, err.Error(), "hush", "errors must not show passwords")
		})
	}
}

func TestAServerThatDoesNotAnswerIsNamed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	open := func() error {
		_, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: "mysql://u:secret@" + address + "/db", ConnectTime: 100 * time.Millisecond})
		return err
	}
	err = open()
	require.ErrorContains(t, err, address+"/db does not answer within 100ms")
	require.NotContains(t, err.Error(), "secret")
	require.NoError(t, listener.Close())
	err = open()
	require.ErrorContains(t, err, "connect to "+address+"/db: ")
	require.NotContains(t, err.Error(), "secret")
}

func TestConnectionsThatTheServerClosedAreReplaced(t *testing.T) {
	server := os.Getenv(freshdb.Variable)
	if server == "" {
		return // there is no server to do it
	}
	f := open(t, freshdb.MySQL(t, server))
	require.NoError(t, f.Migrate(t.Context()))
	f.players(1)
	f.parallel(20, func(ctx context.Context, _ int) (bool, error) { return true, f.Ping(ctx) })
	require.NoError(t, sqlstore.KillConnections(t.Context(), f.Store))
	players, err := f.Players().Load(t.Context(), []social.PlayerID{1})
	require.NoError(t, err)
	require.Len(t, players, 1)
	f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
		_, err := tx.PutLike(ctx, social.LikeKey{Feed: 1, Player: 1}, 3)
		return err
	})
}

func TestContexts(t *testing.T) {
	each(t, func(f fixture) {
		ctx, cancel := context.WithCancel(f.t.Context())
		cancel()
		_, err := f.Players().Load(ctx, []social.PlayerID{1})
		require.ErrorIs(f.t, err, context.Canceled, "a caller who went away is not a fault of the store")
		require.NotEqual(f.t, social.CodeUnavailable, social.CodeOf(err))
		require.ErrorIs(f.t, f.InTx(ctx, func(*sqlstore.Tx) error { return nil }), context.Canceled)

		late, cancel := context.WithDeadline(f.t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		_, err = f.Players().Load(late, []social.PlayerID{1})
		require.Equal(f.t, social.CodeUnavailable, social.CodeOf(err), "%v", err)
		require.NoError(f.t, f.Ping(f.t.Context()))
	})
}

func TestWhoWaitsForALockStopsAtItsDeadline(t *testing.T) {
	each(t, func(f fixture) {
		key := social.LikeKey{Feed: 1, Player: 1}
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			if _, err := tx.PutLike(ctx, key, 1); err != nil {
				return err
			}
			late, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			defer cancel()
			err := f.InTx(late, func(other *sqlstore.Tx) error {
				_, err := other.PutLike(late, key, 2)
				return err
			})
			assert.Equal(f.t, social.CodeUnavailable, social.CodeOf(err), "%v", err)
			return nil
		})
	})
}

func TestInTxRunsConflictsAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		tries int
	}{
		{"deadlock", &mysql.MySQLError{Number: 1213}, 5},
		{"lock wait", &mysql.MySQLError{Number: 1205}, 5},
		{"snapshot conflict", fmt.Errorf("wrapped: %w", social.Unavailable(&mysql.MySQLError{Number: 1020})), 5},
		{"duplicate key", &mysql.MySQLError{Number: 1062}, 1},
		{"business failure", social.NotFound(), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(f fixture) {
				tries := 0
				err := f.InTx(f.t.Context(), func(*sqlstore.Tx) error { tries++; return c.err })
				require.ErrorIs(f.t, err, c.err)
				require.Equal(f.t, c.tries, tries)
			})
		})
	}
}

func TestInTxUndoesWhatFailed(t *testing.T) {
	each(t, func(f fixture) {
		ctx := f.t.Context()
		key := social.LikeKey{Feed: 1, Player: 1}
		failed := errors.New("failed")
		tries := 0
		require.NoError(f.t, f.InTx(ctx, func(tx *sqlstore.Tx) error {
			tries++
			fresh, err := tx.PutLike(ctx, key, 1)
			require.NoError(f.t, err)
			require.True(f.t, fresh, "the first run is undone before the second")
			if tries == 1 {
				return &mysql.MySQLError{Number: 1213}
			}
			_, err = tx.RemoveLike(ctx, key)
			return err
		}))
		require.ErrorIs(f.t, f.InTx(ctx, func(tx *sqlstore.Tx) error {
			_, err := tx.PutLike(ctx, key, 2)
			return errors.Join(failed, err)
		}), failed)
		require.PanicsWithValue(f.t, "stop", func() {
			_ = f.InTx(ctx, func(tx *sqlstore.Tx) error {
				_, _ = tx.PutLike(ctx, key, 3)
				panic("stop")
			})
		})
		liked, err := f.Liked(ctx, 1, []social.FeedID{1})
		require.NoError(f.t, err)
		require.Empty(f.t, liked)
	})
}

func TestDeadlocksAreSurvived(t *testing.T) {
	each(t, func(f fixture) {
		f.players(1, 2)
		both := new(sync.WaitGroup)
		both.Add(2)
		var tries atomic.Int64
		f.parallel(2, func(ctx context.Context, i int) (bool, error) {
			first := true
			return true, f.InTx(ctx, func(tx *sqlstore.Tx) error {
				tries.Add(1)
				// The wrong order on purpose: each holds what the other wants next.
				for j := range 2 {
					id := social.PlayerID(1 + (i+j)%2)
					if _, err := tx.AddCounts(ctx, id, social.PlayerCounts{Feeds: 1}, 20); err != nil {
						return err
					}
					if first && f.mysql() {
						first = false
						both.Done()
						both.Wait()
					}
				}
				return nil
			})
		})
		details, err := f.Details().Load(f.t.Context(), []social.PlayerID{1, 2})
		require.NoError(f.t, err)
		require.Equal(f.t, 2, details[1].Feeds)
		require.Equal(f.t, 2, details[2].Feeds)
		if f.mysql() {
			require.Greater(f.t, tries.Load(), int64(2), "there was no deadlock to survive")
		}
	})
}

func TestATransactionSeesWhatOthersCommit(t *testing.T) {
	each(t, func(f fixture) {
		if !f.mysql() {
			return // SQLite has one writer at a time
		}
		f.players(1)
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			head, err := tx.LockFeed(ctx, 5)
			require.NoError(f.t, err)
			require.Nil(f.t, head)
			f.do(func(ctx context.Context, other *sqlstore.Tx) error {
				return other.InsertFeed(ctx, social.Feed{ID: 5, AuthorID: 1, Visibility: social.Public, Whole: true, Version: 5}, "")
			})
			head, err = tx.LockFeed(ctx, 5)
			require.NotNil(f.t, head, "READ COMMITTED, not a snapshot")
			return err
		})
	})
}

func TestChunks(t *testing.T) {
	for _, c := range []struct{ keys, pieces, last int }{
		{0, 0, 0}, {1, 1, 1}, {2, 1, 8}, {8, 1, 8}, {9, 1, 32}, {33, 1, 128}, {128, 1, 128}, {129, 2, 1}, {300, 3, 128},
	} {
		t.Run(fmt.Sprint(c.keys), func(t *testing.T) {
			keys := make([]int, c.keys)
			for i := range keys {
				keys[i] = i
			}
			seen := map[int]bool{}
			pieces, last := 0, 0
			for piece := range sqlstore.Chunks(keys) {
				pieces, last = pieces+1, len(piece)
				for _, k := range piece {
					seen[k] = true
				}
			}
			require.Equal(t, c.pieces, pieces)
			require.Equal(t, c.last, last)
			require.Len(t, seen, c.keys)
		})
	}
}
