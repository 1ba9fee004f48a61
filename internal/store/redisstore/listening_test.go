package redisstore

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// listeners are all who are noted, and in how many parts.
func (f fixture) listeners(t *testing.T) (players []social.PlayerID, parts int) {
	t.Helper()
	for part := 0; ; parts++ {
		some, next, err := f.Logs().Listeners(t.Context(), part)
		require.NoError(t, err)
		players = append(players, some...)
		if next == 0 {
			return players, parts + 1
		}
		part = next
	}
}

func TestWhoListensIsNoted(t *testing.T) {
	const entry = "listening:{7}"
	for _, c := range []struct {
		name string
		test func(t *testing.T, f fixture)
	}{
		{"all who read their home's log, once, and nobody else", func(t *testing.T, f fixture) {
			var asks []social.LogAsk
			var want []social.PlayerID
			for p := range int64(3 * listeningSets) {
				asks = append(asks, social.LogAsk{Log: home(p + 1)}, social.LogAsk{Log: social.LogID{Kind: social.LogInbox, Of: 1000 + p}})
				want = append(want, social.PlayerID(p+1))
			}
			for range 2 {
				_, err := f.Logs().Read(t.Context(), asks)
				require.NoError(t, err)
			}
			got, parts := f.listeners(t)
			require.ElementsMatch(t, want, got)
			require.Equal(t, listeningSets/setsPerTrip, parts)
		}},
		{"longer than the log lives", func(t *testing.T, f fixture) {
			f.listen(t, home(7))
			score, err := f.client().ZScore(t.Context(), entry, "7").Result()
			require.NoError(t, err)
			require.GreaterOrEqual(t, f.client().TTL(t.Context(), entry).Val(), homeLogKeys.ttl)
			require.InDelta(t, time.Now().Add(listeningKeys.ttl).Unix(), score, 30)
		}},
		{"whose time is over leaves when another comes", func(t *testing.T, f fixture) {
			require.NoError(t, f.client().ZAdd(t.Context(), entry, redis.Z{Score: 1, Member: 71}).Err())
			f.listen(t, home(7))
			got, _ := f.listeners(t)
			require.Equal(t, []social.PlayerID{7}, got)
		}},
		{"a log is read without it, and kept with it", func(t *testing.T, f fixture) {
			place := f.listen(t, home(7))
			before := f.trips.count.Load()
			f.read(t, home(7), place)
			require.EqualValues(t, 1, f.trips.count.Load()-before)
			require.NoError(t, f.client().Expire(t.Context(), "log:{7}", 5*time.Minute).Err())
			f.append(t, home(7), added(1))
			require.Equal(t, []social.LiveEntry{added(1)}, f.read(t, home(7), place).Entries)
			require.Equal(t, homeLogKeys.ttl, f.client().TTL(t.Context(), "log:{7}").Val())
		}},
		{"who was lost may have missed something", func(t *testing.T, f fixture) {
			place := f.listen(t, home(7))
			f.append(t, home(7), added(1))
			require.NoError(t, f.client().Del(t.Context(), entry).Err())
			require.Equal(t, []social.LiveEntry{added(1)}, f.read(t, home(7), place).Entries)
			require.NoError(t, f.client().Expire(t.Context(), "log:{7}", 5*time.Minute).Err())
			read := f.read(t, home(7), place)
			require.True(t, read.Gap)
			require.NotEqual(t, place.Epoch, read.End.Epoch)
			got, _ := f.listeners(t)
			require.Equal(t, []social.PlayerID{7}, got)
		}},
	} {
		t.Run(c.name, func(t *testing.T) { everywhere(t, c.test) })
	}
}
