package redisstore

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEmbedded(t *testing.T) {
	embedded, err := StartEmbedded(t.Context())
	require.NoError(t, err)
	defer embedded.Close()

	stranger := redis.NewClient(&redis.Options{Addr: embedded.server.Addr()})
	defer func() { require.NoError(t, stranger.Close()) }()
	assert.ErrorContains(t, stranger.Set(t.Context(), "k", "v", 0).Err(), "NOAUTH", "anybody may write")

	f := newFixture(t, Config{URLs: OneURL(embedded.URL()), Plain: true})
	require.NoError(t, f.client().Set(t.Context(), "short", "v", time.Second).Err())
	require.NoError(t, f.client().Set(t.Context(), "long", "v", time.Minute).Err())
	require.Eventually(t, func() bool { return f.client().Exists(t.Context(), "short").Val() == 0 }, 10*time.Second, 20*time.Millisecond)
	assert.EqualValues(t, 1, f.client().Exists(t.Context(), "long").Val())

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = StartEmbedded(ended)
	require.ErrorIs(t, err, context.Canceled)
}
