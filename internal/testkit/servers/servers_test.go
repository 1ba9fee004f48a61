package servers

import (
	"context"
	"database/sql"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestMariaDBKeepsCommittedRowsOverAKill(t *testing.T) {
	m, err := StartMariaDB(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { requireStopped(t, m.Stop, m.process) })
	dsn, found := strings.CutPrefix(m.URL(), "mysql://circle:circle@")
	require.True(t, found, m.URL())
	addr, name, _ := strings.Cut(dsn, "/")
	db := openMariaDB(t, addr, name)

	var durable, isolation string
	require.NoError(t, db.QueryRow("SELECT @@innodb_flush_log_at_trx_commit, @@tx_isolation").Scan(&durable, &isolation))
	require.Equal(t, "1", durable)
	require.Equal(t, "REPEATABLE-READ", isolation, "the server's default has to stay: the store chooses its own")
	_, err = db.Exec("CREATE DATABASE another")
	require.NoError(t, err, "the account may create databases")
	_, err = db.Exec("CREATE TABLE another.t (a INT PRIMARY KEY) ENGINE=InnoDB")
	require.NoError(t, err)
	_, err = db.Exec("INSERT INTO another.t VALUES (7)")
	require.NoError(t, err)

	require.NoError(t, m.Kill())
	require.False(t, answers(addr))
	require.NoError(t, m.Restart(t.Context()))
	var a int
	require.NoError(t, db.QueryRow("SELECT a FROM another.t").Scan(&a))
	require.Equal(t, 7, a)
}

func TestRedisHasTheEncodingsAndIsEmptyAfterARestart(t *testing.T) {
	r, err := StartRedis(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { requireStopped(t, r.Stop, r.process) })
	options, err := redis.ParseURL(r.URL())
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { require.NoError(t, client.Close()) })

	settings, err := client.ConfigGet(t.Context(), "*-max-listpack-*").Result()
	require.NoError(t, err)
	require.Equal(t, "1024", settings["zset-max-listpack-entries"])
	require.Equal(t, "128", settings["hash-max-listpack-value"])
	require.Equal(t, "128", settings["hash-max-listpack-entries"])
	require.NoError(t, client.Set(t.Context(), "k", "v", 0).Err())

	require.NoError(t, r.Kill())
	require.False(t, answers(r.Addr()))
	require.NoError(t, r.Restart(t.Context()))
	require.ErrorIs(t, client.Get(t.Context(), "k").Err(), redis.Nil)
}

func TestClusterServesAllSlotsAlsoAfterANodeCameBack(t *testing.T) {
	c, err := StartCluster(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.Stop())
		for _, node := range c.nodes {
			requireGone(t, node.process)
		}
	})
	addrs, found := strings.CutPrefix(c.URL(), "redis-cluster://")
	require.True(t, found, c.URL())
	require.Len(t, strings.Split(addrs, ","), c.Size())
	for _, restart := range []bool{false, true} {
		if restart {
			require.NoError(t, c.Kill(1))
			require.NoError(t, c.Restart(t.Context(), 1))
		}
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: strings.Split(addrs, ",")})
		owners := map[string]bool{}
		for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			require.NoError(t, client.Set(t.Context(), key, key, 0).Err(), key)
			node, err := client.MasterForKey(t.Context(), key)
			require.NoError(t, err)
			owners[node.Options().Addr] = true
		}
		require.Len(t, owners, masters, "the keys lie on all nodes")
		require.ErrorContains(t, client.Do(t.Context(), "MGET", "a", "b").Err(), "CROSSSLOT")
		require.NoError(t, client.Close())
	}
}

func TestAStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := StartRedis(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAServerThatEndsShowsWhy(t *testing.T) {
	_, err := StartRedis(t.Context(), "--no-such-setting", "1")
	require.ErrorContains(t, err, "ended before it answered")
	require.ErrorContains(t, err, "no-such-setting")
}

func TestAMissingProgramIsNamedWithItsPackage(t *testing.T) {
	programs = append(programs, struct{ name, debian string }{"no-such-server", "no-such-package"})
	t.Cleanup(func() { programs = programs[:len(programs)-1] })
	_, err := lookup("no-such-server")
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorContains(t, err, "no-such-server (Debian package no-such-package)")
	require.Contains(t, Missing(), "no-such-package")
}

func TestAPortIsFreeTogetherWithItsBusPort(t *testing.T) {
	port, err := freePort()
	require.NoError(t, err)
	require.Less(t, port, 30000)
	for _, taken := range []int{port, port + busOffset} {
		l, err := net.Listen("tcp", (&process{port: taken}).addr())
		require.NoError(t, err)
		require.False(t, isFree(taken))
		require.NoError(t, l.Close())
	}
}

func answers(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	return err == nil && conn.Close() == nil
}

func openMariaDB(t *testing.T, addr, name string) *sql.DB {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = "circle", "circle", "tcp", addr, name
	connector, err := mysql.NewConnector(config)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func requireStopped(t *testing.T, stop func() error, p *process) {
	require.NoError(t, stop())
	requireGone(t, p)
	require.NoError(t, stop(), "a second stop does no harm")
}

func requireGone(t *testing.T, p *process) {
	require.ErrorIs(t, syscall.Kill(p.pid(), 0), syscall.ESRCH)
	require.NoDirExists(t, p.folder)
	require.False(t, answers(p.addr()))
}

func TestATakenPortIsNotMistakenForTheServer(t *testing.T) {
	other, err := StartRedis(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Stop()) })
	p, err := newProcess("redis-server", nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.stop()) })
	p.port = other.process.port
	p.args = other.process.args
	err = p.start(t.Context(), (&Redis{process: p}).ask)
	var ended *endedError
	require.ErrorAs(t, err, &ended)
	require.True(t, ended.portTaken(), ended.log)

	tries := 0
	server, err := retry(func() (int, error) {
		tries++
		if tries < 3 {
			return 0, ended
		}
		return 42, nil
	})
	require.NoError(t, err)
	require.Equal(t, 42, server)
}

func TestRedisGoesBackToWhatWasSavedAndAReplicaToWhenItWasPromoted(t *testing.T) {
	primary, err := StartRedis(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { requireStopped(t, primary.Stop, primary.process) })
	replica, err := StartRedis(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { requireStopped(t, replica.Stop, replica.process) })
	proxy, err := StartProxy(primary.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	client := redis.NewClient(&redis.Options{Addr: proxy.Addr(), MaxRetries: 10})
	t.Cleanup(func() { require.NoError(t, client.Close()) })

	require.NoError(t, client.Set(t.Context(), "k", "saved", 0).Err())
	saved, err := primary.Save(t.Context())
	require.NoError(t, err)
	require.NoError(t, client.Set(t.Context(), "k", "copied", 0).Err())
	require.NoError(t, replica.Follow(t.Context(), primary))
	require.NoError(t, replica.Promote(t.Context()))
	require.NoError(t, client.Set(t.Context(), "k", "lost", 0).Err())
	proxy.Switch(replica.Addr())
	require.Equal(t, "copied", client.Get(t.Context(), "k").Val())

	proxy.Switch(primary.Addr())
	require.Equal(t, "lost", client.Get(t.Context(), "k").Val())
	require.NoError(t, primary.RestartFrom(t.Context(), saved))
	require.Equal(t, "saved", client.Get(t.Context(), "k").Val())
	require.NoError(t, primary.Restart(t.Context()))
	require.ErrorIs(t, client.Get(t.Context(), "k").Err(), redis.Nil)
}
