package redisstore

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

type fences = map[social.FenceKey]social.Fence

func TestFencesAreRaisedWhereTheyStand(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx := t.Context()
		feed := social.FenceKey{Role: string(Feed)}
		raise := func(noted social.Fence, at int64) (before social.Fence) {
			t.Helper()
			found, err := f.RaiseFences(ctx, fences{feed: noted}, at)
			require.NoError(t, err)
			numbers := 1
			if f.onCluster() {
				numbers = fenceCount
			}
			require.Len(t, found, numbers*len(Roles()))
			return found[feed]
		}
		first := raise(social.Fence{}, 0)
		server := first.Server
		if f.real {
			require.GreaterOrEqual(t, len(server), 80, "a run and a replication id")
		}
		for _, c := range []struct {
			name  string
			noted social.Fence
			at    int64
			found int64
		}{
			{"missing, as noted", social.Fence{At: 0, Server: server}, 100, 0},
			{"as noted", social.Fence{At: 100, Server: server}, 200, 100},
			{"more than noted", social.Fence{At: 150, Server: server}, 300, 200},
			{"the clock went back", social.Fence{At: 300, Server: server}, 250, 300},
			{"looked at", social.Fence{At: 300, Server: server}, 0, 300},
			{"less than noted", social.Fence{At: 301, Server: server}, 400, 300},
			{"another server", social.Fence{At: 300, Server: server + "0"}, 500, 300},
			{"none of this", social.Fence{At: 300, Server: server}, 600, 300},
			{"at last", social.Fence{At: 300, Server: server}, 700, 600},
		} {
			assert.Equal(t, social.Fence{At: c.found, Server: server}, raise(c.noted, c.at), c.name)
		}
	})
}

// TestFencesOfAClusterAreOnAllNodes also holds the slots to what the servers say.
func TestFencesOfAClusterAreOnAllNodes(t *testing.T) {
	if !strings.HasPrefix(realURL(), schemeCluster) {
		return
	}
	f := onReal(t)
	found, err := f.RaiseFences(t.Context(), nil, 0)
	require.NoError(t, err)
	servers := make(map[string]bool)
	for key, fence := range found {
		servers[fence.Server] = true
		tag := strings.Trim(strings.TrimPrefix(fenceKeys.key(fenceNumbers[key.Number]), "fence:"), "{}")
		require.EqualValues(t, slotOf(tag), f.client().ClusterKeySlot(t.Context(), tag).Val())
	}
	nodes := 0
	require.NoError(t, f.client().(*redis.ClusterClient).ForEachMaster(t.Context(), func(context.Context, *redis.Client) error { nodes++; return nil }))
	require.Len(t, servers, nodes)
	again, err := f.RaiseFences(t.Context(), found, 1000)
	require.NoError(t, err)
	require.Equal(t, found, again)
	again, err = f.RaiseFences(t.Context(), found, 0)
	require.NoError(t, err)
	for key := range again {
		require.EqualValues(t, 1000, again[key].At, key)
	}
}

func TestFenceNumbersAreSpreadEvenly(t *testing.T) {
	require.Len(t, fenceNumbers, fenceCount)
	require.Equal(t, 12739, slotOf("123456789"), "the check value of the Cluster's specification, 0x31C3")
	for i, number := range fenceNumbers {
		key := fenceKeys.key(number)
		require.Equal(t, i, slotOf(key[strings.Index(key, "{")+1:len(key)-1])/256)
	}
}

func TestRolesWithServersOfTheirOwnHaveTheirOwnFences(t *testing.T) {
	one, err := StartEmbedded(t.Context())
	require.NoError(t, err)
	t.Cleanup(one.Close)
	other, err := StartEmbedded(t.Context())
	require.NoError(t, err)
	urls := OneURL(one.URL())
	urls[Detail] = other.URL()
	s := open(t, Config{URLs: urls, Plain: true})
	found, err := s.RaiseFences(t.Context(), nil, 5)
	require.NoError(t, err)
	require.Len(t, found, len(Roles()))
	other.Close()
	found, err = s.RaiseFences(t.Context(), nil, 6)
	require.Error(t, err)
	require.NotContains(t, slices.Collect(maps.Keys(found)), social.FenceKey{Role: string(Detail)})
	require.Len(t, found, len(Roles())-1, "those that can be reached are told")
	require.EqualValues(t, 5, found[social.FenceKey{Role: string(Feed)}].At)
}
