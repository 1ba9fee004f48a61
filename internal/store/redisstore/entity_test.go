package redisstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"circle/internal/social"
)

// put fills Redis with values that were read just now.
func put[K ~int64, V any](ctx context.Context, e *Entities[K, V], values map[K]V) error {
	ids := slices.Collect(maps.Keys(values))
	ticket, err := e.Reserve(ctx, ids, true)
	if err != nil {
		return err
	}
	return e.Put(ctx, values, ticket)
}

// checkEntity puts entities, reads them back beside missing ones, and asserts their raw key.
func checkEntity[K ~int64, V any](t *testing.T, f fixture, e *Entities[K, V], ids []K, missing K, sample func(K, int64) V) {
	ctx := t.Context()
	want := make(map[K]V)
	for i, id := range ids {
		want[id] = sample(id, int64(i+1)<<40)
	}
	require.NoError(t, put(ctx, e, want))
	got, err := e.Get(ctx, append([]K{missing}, ids...))
	require.NoError(t, err)
	assert.Equal(t, want, got)

	got, err = e.Get(ctx, nil)
	require.NoError(t, err)
	assert.Empty(t, got)
	require.NoError(t, put(ctx, e, nil))

	require.NoError(t, e.Remove(ctx, append([]K{missing}, ids[0])))
	delete(want, ids[0])
	got, err = e.Get(ctx, ids)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestEntitiesComeBack(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		players := []social.PlayerID{1, 127, 128, 5000, 1 << 40}
		feeds := []social.FeedID{feedID(1), feedID(2), social.MaxID}
		checkEntity(t, f, f.Players(), players, 2, samplePlayer)
		checkEntity(t, f, f.Details(), players, 2, sampleDetail)
		checkEntity(t, f, f.Feeds(), feeds, 7, sampleFeed)
		checkEntity(t, f, f.Bodies(), feeds, 7, sampleBody)
		checkEntity(t, f, f.Counters(), feeds, 7, sampleCounters)
		checkEntity(t, f, f.Comments(), []social.CommentID{1, 2, social.MaxID}, 7, sampleComment)
	})
}

func TestOptionalPartsComeBack(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		empty := ""
		checkEntity(t, f, f.Players(), []social.PlayerID{1}, 2, func(id social.PlayerID, v int64) *social.Player {
			return &social.Player{ID: id, Version: v}
		})
		checkEntity(t, f, f.Players(), []social.PlayerID{3}, 2, func(id social.PlayerID, v int64) *social.Player {
			return &social.Player{ID: id, AvatarURL: &empty, Version: v}
		})
		checkEntity(t, f, f.Details(), []social.PlayerID{1}, 2, func(id social.PlayerID, v int64) *social.PlayerDetail {
			return &social.PlayerDetail{ID: id, JoinedAt: at(-5), Version: v}
		})
		checkEntity(t, f, f.Feeds(), []social.FeedID{1}, 2, func(id social.FeedID, v int64) *social.Feed {
			return &social.Feed{ID: id, AuthorID: 1, Visibility: social.Private, Deleted: true, Whole: true, Version: v}
		})
		checkEntity(t, f, f.Bodies(), []social.FeedID{1}, 2, func(id social.FeedID, v int64) *social.FeedBody {
			return &social.FeedBody{ID: id, Version: v}
		})
		checkEntity(t, f, f.Counters(), []social.FeedID{1}, 2, func(id social.FeedID, v int64) *social.FeedCounters {
			return &social.FeedCounters{FeedID: id, AuthorID: 1, Visibility: social.Fans, Deleted: true, Version: v}
		})
		checkEntity(t, f, f.Comments(), []social.CommentID{1}, 2, func(id social.CommentID, v int64) *social.Comment {
			return &social.Comment{ID: id, FeedID: 9, Deleted: true, ReplyCount: 3, Version: v}
		})
	})
}

func TestRawKeys(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx := t.Context()
		f.SetEpochs(map[string]uint32{"profile": 0x01020304, "feed": 7, "detail": 8, "no such role": 9})
		const version = 0x0011223344556677
		player, feed := social.PlayerID(128*5+17), feedID(1)
		require.NoError(t, put(ctx, f.Players(), map[social.PlayerID]*social.Player{player: samplePlayer(player, version)}))
		require.NoError(t, put(ctx, f.Details(), map[social.PlayerID]*social.PlayerDetail{player: sampleDetail(player, version)}))
		require.NoError(t, put(ctx, f.Feeds(), map[social.FeedID]*social.Feed{feed: sampleFeed(feed, version)}))
		require.NoError(t, put(ctx, f.Bodies(), map[social.FeedID]*social.FeedBody{feed: sampleBody(feed, version)}))
		require.NoError(t, put(ctx, f.Counters(), map[social.FeedID]*social.FeedCounters{feed: sampleCounters(feed, version)}))

		for _, tc := range []struct {
			key, field string
			epoch      uint32
			ttl        time.Duration
		}{
			{"simple:{5}", "17", 0x01020304, 30 * day},
			{"detail:{657}", "info", 8, 7 * day},
			{"feed:{375000000004099}", "", 7, 7 * day},
			{"body:{375000000004099}", "", 7, 7 * day},
			{"count:{375000000004099}", "", 7, 7 * day},
		} {
			value, kind := "", "string"
			var err error
			if tc.field != "" {
				kind = "hash"
				value, err = f.client().HGet(ctx, tc.key, tc.field).Result()
			} else {
				value, err = f.client().Get(ctx, tc.key).Result()
			}
			require.NoError(t, err, tc.key)
			prefix := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, tc.epoch), version)
			assert.Equal(t, string(append(prefix, 1)), value[:13], tc.key)
			assert.Equal(t, kind, f.client().Type(ctx, tc.key).Val(), tc.key)
			assert.InDelta(t, tc.ttl.Seconds(), f.client().TTL(ctx, tc.key).Val().Seconds(), 5, tc.key)
		}
		assert.Equal(t, int64(1), f.client().HLen(ctx, "simple:{5}").Val())
	})
}

func TestTTLIsRenewedByWrites(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx := t.Context()
		f.mustPut(t, 1, 5)
		for _, key := range []string{"simple:{0}", "count:{1}"} {
			require.True(t, f.client().Expire(ctx, key, time.Minute).Val())
		}
		f.mustPut(t, 1, 5)
		for _, key := range []string{"simple:{0}", "count:{1}"} {
			assert.LessOrEqual(t, f.client().TTL(ctx, key).Val(), time.Minute, "%s: nothing was written", key)
		}
		f.mustPut(t, 1, 6)
		for _, key := range []string{"simple:{0}", "count:{1}"} {
			assert.Greater(t, f.client().TTL(ctx, key).Val(), 6*day, key)
		}
	})
}

// put stores a player and counters of the same number and version.
func (f fixture) put(n, version int64) error {
	ctx := context.Background()
	player, feed := social.PlayerID(n), social.FeedID(n)
	if err := put(ctx, f.Players(), map[social.PlayerID]*social.Player{player: samplePlayer(player, version)}); err != nil {
		return err
	}
	return put(ctx, f.Counters(), map[social.FeedID]*social.FeedCounters{feed: sampleCounters(feed, version)})
}

func (f fixture) mustPut(t *testing.T, n, version int64) { require.NoError(t, f.put(n, version)) }

// versions reads the versions of the player and of the counters; 0 for what is absent.
func (f fixture) versions(t require.TestingT, n int64) (player, counters int64) {
	players, err := f.Players().Get(context.Background(), []social.PlayerID{social.PlayerID(n)})
	require.NoError(t, err)
	counts, err := f.Counters().Get(context.Background(), []social.FeedID{social.FeedID(n)})
	require.NoError(t, err)
	if p := players[social.PlayerID(n)]; p != nil {
		player = p.Version
	}
	if c := counts[social.FeedID(n)]; c != nil {
		counters = c.Version
	}
	return player, counters
}

// Whatever writers there are, each at its own epoch, the last version of the last epoch stays.
func TestNewestOfTheNewestEpochStays(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		processes := make([]fixture, 4)
		for epoch := range processes {
			processes[epoch] = fixture{Store: open(t, f.config)}
			processes[epoch].SetEpochs(map[string]uint32{"profile": uint32(epoch) * 200, "feed": uint32(epoch) * 200})
		}
		type write struct {
			Epoch   int
			Version int64
		}
		writes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) write {
			return write{rapid.IntRange(0, 3).Draw(t, "epoch"), rapid.SampledFrom([]int64{1, 2, 127, 128, 255, 256, 1 << 31, 1<<53 - 1}).Draw(t, "version")}
		}), 1, 12)
		number := int64(0)
		rapid.Check(t, func(t *rapid.T) {
			number++
			var last write
			var wg sync.WaitGroup
			errs := make(chan error, 12)
			parallel := rapid.Bool().Draw(t, "parallel")
			for _, w := range writes.Draw(t, "writes") {
				if w.Epoch > last.Epoch || w.Epoch == last.Epoch && w.Version > last.Version {
					last = w
				}
				if parallel {
					wg.Go(func() { errs <- processes[w.Epoch].put(number, w.Version) })
				} else {
					errs <- processes[w.Epoch].put(number, w.Version)
				}
			}
			wg.Wait()
			close(errs)
			for err := range errs {
				require.NoError(t, err)
			}
			// Puts that met, and one that contradicts what is there, may leave nothing; then one alone is taken.
			require.NoError(t, errors.Join(processes[last.Epoch].put(number, last.Version), processes[last.Epoch].put(number, last.Version)))
			for epoch, process := range processes {
				want := int64(0)
				if epoch == last.Epoch {
					want = last.Version
				}
				player, counters := process.versions(t, number)
				require.Equal(t, want, player, "player at epoch %d", epoch)
				require.Equal(t, want, counters, "counters at epoch %d", epoch)
			}
		})
	})
}

func TestOneTripWhateverTheNumber(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx := t.Context()
		for _, n := range []int{1, 10, 100} {
			players, feeds := make([]social.PlayerID, n), make([]social.FeedID, n)
			simple, heads := map[social.PlayerID]*social.Player{}, map[social.FeedID]*social.Feed{}
			for i := range n {
				players[i], feeds[i] = social.PlayerID(i*50+1), feedID(i)
				simple[players[i]] = samplePlayer(players[i], 1)
				heads[feeds[i]] = sampleFeed(feeds[i], 1)
			}
			// The first calls may load the scripts.
			require.NoError(t, put(ctx, f.Feeds(), heads))
			require.NoError(t, put(ctx, f.Players(), simple))
			_, err := f.Cards(ctx, 5, feeds)
			require.NoError(t, err)
			_, err = f.People(ctx, 5, players, players)
			require.NoError(t, err)
			for name, call := range map[string]func() error{
				"players":           func() error { _, err := f.Players().Get(ctx, players); return err },
				"details":           func() error { _, err := f.Details().Get(ctx, players); return err },
				"feeds":             func() error { _, err := f.Feeds().Get(ctx, feeds); return err },
				"bodies":            func() error { _, err := f.Bodies().Get(ctx, feeds); return err },
				"counters":          func() error { _, err := f.Counters().Get(ctx, feeds); return err },
				"cards":             func() error { _, err := f.Cards(ctx, 0, feeds); return err },
				"cards of a viewer": func() error { _, err := f.Cards(ctx, 5, feeds); return err },
				"people":            func() error { _, err := f.People(ctx, 5, players, players); return err },
				"reserve players":   func() error { _, err := f.Players().Reserve(ctx, players, false); return err },
				"reserve feeds":     func() error { _, err := f.Feeds().Reserve(ctx, feeds, true); return err },
				"put players":       func() error { return f.Players().Put(ctx, simple, "") },
				"put feeds":         func() error { return f.Feeds().Put(ctx, heads, "") },
			} {
				before := f.trips.count.Load()
				require.NoError(t, call(), name)
				assert.EqualValues(t, 1, f.trips.count.Load()-before, "%s of %d", name, n)
			}
		}
	})
}

func TestHandshakesAreNoTrips(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		fresh := newFixture(t, f.config)
		_, err := fresh.Cards(t.Context(), 0, []social.FeedID{1})
		require.NoError(t, err)
		assert.EqualValues(t, 1, fresh.trips.count.Load())
	})
}

func TestScriptsAreLoadedAgain(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx := t.Context()
		feeds := make(map[social.FeedID]*social.Feed)
		var ids []social.FeedID
		for i := range 2*keysPerCall + 50 {
			ids = append(ids, feedID(i))
			feeds[ids[i]] = sampleFeed(ids[i], 1)
		}
		for range 2 {
			require.NoError(t, f.servers[Feed].each(ctx, func(ctx context.Context, node *redis.Client) error {
				return node.ScriptFlush(ctx).Err()
			}))
			require.NoError(t, put(ctx, f.Feeds(), feeds))
			got, err := f.Feeds().Get(ctx, ids)
			require.NoError(t, err)
			assert.Equal(t, feeds, got)
		}
	})
}

func TestUnreadableIsAbsentAndOverwritten(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx := t.Context()
		id := feedID(1)
		head := string(appendHead(nil, 1, 5))
		for name, raw := range map[string]string{
			"empty":          "",
			"short":          head[:11],
			"prefix only":    head[:12],
			"head only":      head,
			"later layout":   head[:12] + "\x02" + "\x01\x01\x00\x00\x00\x00",
			"cut":            head + "\x01\x01\x00\x00\x00",
			"too long":       head + "\x01\x01\x00\x00\x00\x00\x00",
			"bad visibility": head + "\x07\x01\x00\x00\x00\x00",
			"endless varint": head + "\x01" + strings.Repeat("\xff", 12),
		} {
			require.NoError(t, f.client().Set(ctx, "count:{375000000004099}", raw, 0).Err())
			got, err := f.Counters().Get(ctx, []social.FeedID{id})
			require.NoError(t, err, name)
			assert.Empty(t, got, name)
			want := map[social.FeedID]*social.FeedCounters{id: sampleCounters(id, 6)}
			require.NoError(t, put(ctx, f.Counters(), want))
			got, err = f.Counters().Get(ctx, []social.FeedID{id})
			require.NoError(t, err, name)
			assert.Equal(t, want, got, name)
		}
	})
}

func TestManyCallersWaitForTheirTurn(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		var exhausted atomic.Int64
		var wg sync.WaitGroup
		for range 4 * poolSize {
			wg.Go(func() {
				for range 5 {
					_, err := f.Cards(t.Context(), 0, []social.FeedID{1, 2, 3})
					if errors.Is(err, redis.ErrPoolExhausted) {
						exhausted.Add(1)
					}
				}
			})
		}
		wg.Wait()
		assert.Zero(t, exhausted.Load())
	})
}

// The compact encodings are what makes these sizes; see Warnings.
func TestMemory(t *testing.T) {
	packed := packCounters(appendHead(nil, 1, 1), sampleCounters(feedID(1), 1))
	assert.LessOrEqual(t, len(packed), 25, "longer counters take a larger piece of memory")
	if realURL() == "" {
		return
	}
	f := onReal(t)
	ctx := t.Context()
	require.NoError(t, f.servers[Feed].each(ctx, func(ctx context.Context, node *redis.Client) error {
		require.NoError(t, node.ConfigSet(ctx, "hash-max-listpack-entries", "128").Err())
		return node.ConfigSet(ctx, "hash-max-listpack-value", "128").Err()
	}))
	counters := sampleCounters(feedID(1), social.MaxID)
	counters.AuthorID, counters.Likes, counters.Comments, counters.Views = 1_000_000, 1_000_000, 100_000, 10_000_000
	require.NoError(t, put(ctx, f.Counters(), map[social.FeedID]*social.FeedCounters{feedID(1): counters}))
	used := f.client().MemoryUsage(ctx, countKeys.key(int64(feedID(1)))).Val()
	t.Logf("counters: %d bytes", used)
	limit := int64(110)
	if f.onCluster() {
		limit += 16 // links of the key's slot, in Cluster only
	}
	assert.LessOrEqual(t, used, limit)

	players := make(map[social.PlayerID]*social.Player)
	stored := 0
	for i := range bucketSize {
		p := samplePlayer(social.PlayerID(bucketSize+i), 1<<52+int64(i))
		p.Name = fmt.Sprintf("player-%d 玩家", i*i)
		players[p.ID] = p
		stored += len(f.Players().pack(appendHead(nil, 1, 1), p))
	}
	require.NoError(t, put(ctx, f.Players(), players))
	used = f.client().MemoryUsage(ctx, "simple:{1}", 0).Val()
	t.Logf("simple info: %d bytes in Redis, %d packed: %.2f", used, stored, float64(used)/float64(stored))
	assert.LessOrEqual(t, float64(used), 1.25*float64(stored))
	assert.Equal(t, "listpack", f.client().ObjectEncoding(ctx, "simple:{1}").Val())
}
