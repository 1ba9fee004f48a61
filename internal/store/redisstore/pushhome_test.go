package redisstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// TestPushHome has players with and without a timeline, who listen or don't, more of them than a call
// takes.
func TestPushHome(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		const most = 2*keysPerCall + 50
		w, ctx := f.Timelines(), t.Context()
		var all []social.PlayerID
		places := map[int64]social.LogPlace{}
		for n := int64(1); n <= most; n++ {
			all = append(all, social.PlayerID(n))
			if n%3 == 0 {
				w.mustFinish(t, n, w.mustBegin(t, n), 0, w.entry(7))
			}
			if n%5 == 0 && n < keysPerCall { // in Cluster and beyond the first call there are none
				places[n] = f.listen(t, home(n))
			}
		}
		for _, twice := range []string{"once", "again"} {
			before := f.trips.count.Load()
			pushed, told, err := f.PushHome(ctx, all, added(1))
			require.NoError(t, err)
			require.Equal(t, []int{most / 3, len(places)}, []int{pushed, told}, twice)
			if twice == "again" {
				require.EqualValues(t, 1, f.trips.count.Load()-before)
			}
		}
		for n := int64(1); n <= most; n++ {
			page := w.page(t, n)
			require.Equal(t, n%3 == 0, page.State == social.WindowWhole)
			if n%3 == 0 {
				require.Equal(t, []social.Entry{{Member: added(1).ID, Key: added(1).ID}, w.entry(7)}, page.Entries)
			}
			if place, listens := places[n]; listens {
				require.Equal(t, []social.LiveEntry{added(1)}, f.read(t, home(n), place).Entries)
			} else {
				require.Zero(t, f.client().Exists(ctx, homeLogKeys.key(n)).Val())
			}
		}
	})
}

// BenchmarkPush compares pushes with raw ZADDs of new members into the same lists, in turns: what a push
// and a ZADD take for a list, and the least of the one to the least of the other. It needs a real server.
func BenchmarkPush(b *testing.B) {
	if realURL() == "" {
		b.Skip("CIRCLE_TEST_REDIS_URL is not set")
	}
	for _, c := range []struct{ size, lists int }{{20, 5000}, {1000, 1000}} {
		b.Run(fmt.Sprint(c.size), func(b *testing.B) {
			s, err := Open(b.Context(), Config{URLs: OneURL(realURL()), Timeout: patience})
			require.NoError(b, err)
			defer s.Close()
			w, ctx := s.Timelines(), b.Context()
			require.NoError(b, w.server().client.FlushAll(ctx).Err())
			var players []social.PlayerID
			for n := range c.lists {
				players = append(players, social.PlayerID(n+1))
				entries := make([]social.Entry, c.size)
				for i := range entries {
					entries[i] = w.entry(int64(feedID(-i)))
				}
				w.mustFinish(b, int64(n+1), w.mustBegin(b, int64(n+1)), 0, entries...)
			}
			each := func(member string, queue func(pipe redis.Pipeliner, key, member string)) time.Duration {
				begin := time.Now()
				for from := 0; from < len(players); from += homesPerTrip {
					pipe := w.server().client.Pipeline()
					for _, player := range players[from : from+homesPerTrip] {
						queue(pipe, w.keys.key(int64(player)), member)
					}
					_, err := pipe.Exec(ctx)
					require.NoError(b, err)
				}
				return time.Since(begin)
			}
			remove := func(pipe redis.Pipeliner, key, member string) { pipe.ZRem(ctx, key, member) }
			feed, raw, push := 0, time.Hour, time.Hour
			for b.Loop() {
				feed += 2
				member := newest.member(int64(feedID(feed)))
				raw = min(raw, each(member, func(pipe redis.Pipeliner, key, member string) {
					pipe.ZAdd(context.Background(), key, redis.Z{Member: member})
				}))
				each(member, remove)
				begin := time.Now()
				_, _, err := s.PushHome(ctx, players, added(feed+1))
				push = min(push, time.Since(begin))
				require.NoError(b, err)
				if c.size < w.few {
					each(newest.member(int64(feedID(feed+1))), remove)
				}
			}
			b.ReportMetric(float64(raw.Nanoseconds())/float64(c.lists), "ns/ZADD")
			b.ReportMetric(float64(push.Nanoseconds())/float64(c.lists), "ns/push")
			b.ReportMetric(float64(raw)/float64(push), "ratio")
		})
	}
}
