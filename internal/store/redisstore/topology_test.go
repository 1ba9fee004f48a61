package redisstore

import (
	"context"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

func TestParseTopology(t *testing.T) {
	for raw, want := range map[string]topology{
		"redis://localhost":                         {scheme: "redis", hosts: []string{"localhost:6379"}},
		"redis://127.0.0.1:7000/":                   {scheme: "redis", hosts: []string{"127.0.0.1:7000"}},
		"redis://:p%40ss@h:1/3":                     {scheme: "redis", hosts: []string{"h:1"}, password: "p@ss", db: 3},
		"redis://me@h:1":                            {scheme: "redis", hosts: []string{"h:1"}, user: "me"},
		"redis://[::1]:7000/0":                      {scheme: "redis", hosts: []string{"[::1]:7000"}},
		"redis://[::1]":                             {scheme: "redis", hosts: []string{"[::1]:6379"}},
		"rediss://me:secret@h":                      {scheme: "rediss", hosts: []string{"h:6379"}, user: "me", password: "secret"},
		"redis://p:1?replica=a:2&replica=b":         {scheme: "redis", hosts: []string{"p:1", "a:2", "b:6379"}, readReplicas: true},
		"redis-sentinel://a,b:1/main":               {scheme: "redis-sentinel", hosts: []string{"a:26379", "b:1"}, master: "main"},
		"redis-cluster://a:1,b,c:3":                 {scheme: "redis-cluster", hosts: []string{"a:1", "b:6379", "c:3"}},
		"redis-cluster://u:p@a:1,b:2?replicas=read": {scheme: "redis-cluster", hosts: []string{"a:1", "b:2"}, user: "u", password: "p", readReplicas: true},
		"redis-ring://a,b":                          {scheme: "redis-ring", hosts: []string{"a:6379", "b:6379"}},
	} {
		got, err := parseTopology(raw)
		require.NoError(t, err, raw)
		assert.Equal(t, want, got, raw)
	}
}

func TestMalformedURLsAreExplained(t *testing.T) {
	for raw, says := range map[string]string{
		"":                                   "must begin with",
		"localhost:6379":                     "must begin with",
		"http://s3cret@h":                    "must begin with",
		"redis://":                           "host number 1",
		"redis://:s3cret@":                   "host number 1",
		"redis://:s3cret@h:port":             "host number 1",
		"redis://:s3cret@h:70000":            "host number 1",
		"redis://:s3cret@a,b":                "takes one host",
		"redis://:s3/cret@h":                 "percent-encoded",
		"redis://:s3#cret@h":                 "percent-encoded",
		"redis://:s3?cret@h":                 "percent-encoded",
		"redis://:s3cret%zz@h":               "percent-encoded",
		"redis://:s3cret@h/db":               "number of a database",
		"redis://:s3cret@h/-1":               "number of a database",
		"redis://:s3cret@h?timeout=5":        "no such parameter",
		"redis://:s3cret@h?replica=":         "replica: host number 1",
		"redis://:s3cret@h/1?replica=b":      "database 0",
		"redis-cluster://:s3cret@h,":         "host number 2",
		"redis-cluster://:s3cret@h/1":        "takes no path",
		"redis-cluster://:s3cret@h?replicas": "no such parameter",
		"redis-sentinel://:s3cret@h":         "primary's name",
		"redis-ring://:s3cret@a?replica=b":   "no such parameter",
	} {
		urls := OneURL("redis://localhost")
		urls[Detail] = raw
		_, err := Open(t.Context(), Config{URLs: urls})
		require.Error(t, err, raw)
		assert.ErrorContains(t, err, says, raw)
		assert.ErrorContains(t, err, "CIRCLE_REDIS_DETAIL_URL", raw)
		for _, secret := range []string{"s3cret", "cret", "s3"} {
			assert.NotContains(t, err.Error(), secret, raw)
		}
	}
	_, err := Open(t.Context(), Config{URLs: OneURL("redis-ring://a,b")})
	assert.ErrorContains(t, err, "CIRCLE_REDIS_PROFILE_URL")
	assert.ErrorContains(t, err, "detail role alone")
}

func TestRolesShareClientsByURL(t *testing.T) {
	urls := OneURL("redis://127.0.0.1:1")
	urls[Detail] = "redis-ring://127.0.0.1:2,127.0.0.1:3"
	urls[Activity] = "redis-sentinel://127.0.0.1:4/main"
	s := open(t, Config{URLs: urls})
	assert.Len(t, s.distinct(), 3)
	assert.Same(t, s.servers[Profile], s.servers[Feed])
	assert.NotSame(t, s.servers[Profile], s.servers[Detail])
}

// startNodes starts n servers and returns their addresses with what opens a Store needs of them.
func startNodes(t *testing.T, n int) (addrs []string, clients []*redis.Client) {
	for range n {
		embedded, err := StartEmbedded(t.Context())
		require.NoError(t, err)
		t.Cleanup(embedded.Close)
		// Deployments of several nodes have one password.
		embedded.server.RequireAuth("common")
		client := redis.NewClient(&redis.Options{Addr: embedded.server.Addr(), Password: "common"})
		t.Cleanup(func() { require.NoError(t, client.Close()) })
		addrs, clients = append(addrs, embedded.server.Addr()), append(clients, client)
	}
	return addrs, clients
}

func TestRingSpreadsDetails(t *testing.T) {
	addrs, clients := startNodes(t, 3)
	urls := OneURL("redis://:common@" + addrs[0])
	urls[Detail] = "redis-ring://:common@" + strings.Join(addrs, ",")
	f := newFixture(t, Config{URLs: urls, Plain: true})
	want := make(map[social.PlayerID]*social.PlayerDetail)
	var ids []social.PlayerID
	for id := social.PlayerID(1); id <= 60; id++ {
		ids, want[id] = append(ids, id), sampleDetail(id, 1)
	}
	require.NoError(t, put(t.Context(), f.Details(), want))
	before := f.trips.count.Load()
	got, err := f.Details().Get(t.Context(), ids)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.EqualValues(t, 1, f.trips.count.Load()-before)
	require.NoError(t, f.Ping(t.Context()))
	total := int64(0)
	for i, client := range clients {
		n := client.DBSize(t.Context()).Val()
		assert.Positive(t, n, "node %d", i)
		total += n
	}
	assert.EqualValues(t, 60, total)
}

func TestReplicasAreReadAndThePrimaryIsWritten(t *testing.T) {
	addrs, clients := startNodes(t, 2)
	f := newFixture(t, Config{URLs: OneURL("redis://:common@" + addrs[0] + "?replica=" + addrs[1]), Plain: true})
	id, ctx := feedID(1), t.Context()
	want := map[social.FeedID]*social.FeedCounters{id: sampleCounters(id, 1)}
	require.NoError(t, put(ctx, f.Counters(), want))
	assert.EqualValues(t, 1, clients[0].DBSize(ctx).Val())
	assert.Zero(t, clients[1].DBSize(ctx).Val())

	got, err := f.Counters().Get(ctx, []social.FeedID{id})
	require.NoError(t, err)
	assert.Empty(t, got, "read from the primary")
	key := countKeys.key(int64(id))
	require.NoError(t, clients[1].Set(ctx, key, clients[0].Get(ctx, key).Val(), 0).Err())
	before := f.trips.count.Load()
	got, err = f.Counters().Get(ctx, []social.FeedID{id, 1, 2, 3})
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.EqualValues(t, 1, f.trips.count.Load()-before)
}

func TestWarnings(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx := t.Context()
		if !f.real {
			assert.Empty(t, f.Warnings(ctx), "no settings can be asked for")
			return
		}
		set := func(zset, value, entries string) {
			require.NoError(t, f.servers[Feed].each(ctx, func(ctx context.Context, node *redis.Client) error {
				require.NoError(t, node.ConfigSet(ctx, "zset-max-listpack-entries", zset).Err())
				require.NoError(t, node.ConfigSet(ctx, "hash-max-listpack-value", value).Err())
				return node.ConfigSet(ctx, "hash-max-listpack-entries", entries).Err()
			}))
		}
		set("1024", "128", "512")
		assert.Empty(t, f.Warnings(ctx))
		set("1023", "64", "127")
		warnings := strings.Join(f.Warnings(ctx), "\n")
		assert.Contains(t, warnings, "zset-max-listpack-entries is 1023; set it to 1024 or more")
		assert.Contains(t, warnings, "hash-max-listpack-value is 64; set it to 128 or more")
		assert.Contains(t, warnings, "hash-max-listpack-entries is 127; set it to 128 or more")
		set("1024", "128", "512")
	})
}
