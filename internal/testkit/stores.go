// Package testkit gives tests whole servers on stores of their own, a client to use them with, and a
// count of the trips that an answer cost.
//
// Without settings the stores are the embedded ones. CIRCLE_TEST_DATABASE_URL names a MySQL or MariaDB
// server on which each test makes a database of its own, CIRCLE_TEST_REDIS_URL a Redis server or
// cluster, which each test empties; so tests that share servers run one after another.
package testkit

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"circle/internal/testkit/freshdb"
)

// Stores is where a test's data lives. Servers on the same stores see the same data.
type Stores struct {
	// DatabaseURL and RedisURL are empty where the store is embedded.
	DatabaseURL string
	RedisURL    string
	DataDir     string
	// ListCap bounds every list in Redis, unless it is 0.
	ListCap int
}

// NewStores makes empty stores that are gone when the test ends.
func NewStores(t testing.TB) Stores {
	t.Helper()
	s := Stores{DataDir: t.TempDir(), RedisURL: os.Getenv("CIRCLE_TEST_REDIS_URL")}
	if server := os.Getenv(freshdb.Variable); server != "" {
		s.DatabaseURL = freshdb.MySQL(t, server)
	}
	if s.RedisURL != "" {
		s.Flush(t)
	}
	return s
}

// Environ is the settings of a server on the stores.
func (s Stores) Environ() []string {
	return []string{
		"CIRCLE_DATA_DIR=" + s.DataDir,
		"CIRCLE_RATE_LIMITS=off",
		"CIRCLE_DATABASE_URL=" + s.DatabaseURL,
		"CIRCLE_REDIS_URL=" + s.RedisURL,
	}
}

// Embedded says that Redis lives in the server, so that it can't be reached from outside.
func (s Stores) Embedded() bool { return s.RedisURL == "" }

// Flush empties Redis. It must not be embedded.
func (s Stores) Flush(t testing.TB) {
	t.Helper()
	require.NoError(t, s.eachRedis(func(ctx context.Context, node *redis.Client) error { return node.FlushAll(ctx).Err() }))
}

// Expire removes all keys of a kind. Redis must not be embedded.
func (s Stores) Expire(t testing.TB, kind string) {
	t.Helper()
	require.NoError(t, s.eachRedis(func(ctx context.Context, node *redis.Client) error {
		keys, err := node.Keys(ctx, kind+":*").Result()
		for _, key := range keys {
			err = errors.Join(err, node.Unlink(ctx, key).Err())
		}
		return err
	}))
}

// Fill makes Redis refuse new values for want of memory until the test ends or free is called. It must
// not be embedded, nor evict.
func (s Stores) Fill(t testing.TB) (free func()) { return s.limit(t, "maxmemory") }

// Refuse makes Redis answer and refuse all writes, as after a failover, until the test ends or free is
// called. It must not be embedded.
func (s Stores) Refuse(t testing.TB) (free func()) { return s.limit(t, "min-replicas-to-write") }

func (s Stores) limit(t testing.TB, setting string) (free func()) {
	t.Helper()
	set := func(value string) {
		require.NoError(t, s.eachRedis(func(ctx context.Context, node *redis.Client) error {
			return node.ConfigSet(ctx, setting, value).Err()
		}))
	}
	set("1")
	free = sync.OnceFunc(func() { set("0") })
	t.Cleanup(free)
	return free
}

// eachRedis calls fn for every primary.
func (s Stores) eachRedis(fn func(context.Context, *redis.Client) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if hosts, ok := strings.CutPrefix(s.RedisURL, "redis-cluster://"); ok {
		cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: strings.Split(hosts, ",")})
		defer cluster.Close()
		return cluster.ForEachMaster(ctx, fn)
	}
	options, err := redis.ParseURL(s.RedisURL)
	if err != nil {
		return err
	}
	client := redis.NewClient(options)
	defer client.Close()
	return fn(ctx, client)
}
