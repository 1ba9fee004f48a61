package redisstore

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"circle/internal/social"
)

// filling is a fill or a refresh on its way: it reserves, reads the row, puts what it read.
type filling struct {
	// committed is the version whose refresh this is; 0 for a reader's fill.
	committed       int64
	step            int
	players, counts string
	read            int64
}

// fillings runs fills, refreshes and flushes step by step, in any order.
type fillings struct {
	fixture
	row, acknowledged int64
	running           []*filling
}

const filled = 7

// begin lets few run at once, so that each gets on.
func (m *fillings) begin(r *rapid.T, committed int64) {
	if len(m.running) == 2 {
		r.Skip("enough are running")
	}
	m.running = append(m.running, &filling{committed: committed})
}

func (m *fillings) advance(r *rapid.T) {
	if len(m.running) == 0 {
		r.Skip("nothing runs")
	}
	i := rapid.IntRange(0, len(m.running)-1).Draw(r, "which")
	f, ctx := m.running[i], context.Background()
	var errs [2]error
	switch f.step++; f.step {
	case 1:
		f.players, errs[0] = m.Players().Reserve(ctx, []social.PlayerID{filled}, f.committed != 0)
		f.counts, errs[1] = m.Counters().Reserve(ctx, []social.FeedID{filled}, f.committed != 0)
	case 2:
		f.read = m.row
	case 3:
		errs[0] = m.Players().Put(ctx, map[social.PlayerID]*social.Player{filled: samplePlayer(filled, f.read)}, f.players)
		errs[1] = m.Counters().Put(ctx, map[social.FeedID]*social.FeedCounters{filled: sampleCounters(filled, f.read)}, f.counts)
		m.acknowledged = max(m.acknowledged, f.committed)
		m.running = append(m.running[:i], m.running[i+1:]...)
	}
	require.NoError(r, errs[0])
	require.NoError(r, errs[1])
}

func TestNothingOlderThanWhatWasAcknowledgedIsEverThere(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		rapid.Check(t, func(r *rapid.T) {
			m := &fillings{fixture: f, row: 1}
			m.flush(r)
			r.Repeat(map[string]func(*rapid.T){
				"write": func(r *rapid.T) { m.begin(r, m.row+1); m.row++ },
				"read":  func(r *rapid.T) { m.begin(r, 0) },
				"go on": m.advance, "go on, more": m.advance, "go on, still more": m.advance, "go on, most": m.advance,
				"flush": m.flush,
				"": func(r *rapid.T) {
					for _, version := range pair(m.versions(r, filled)) {
						if version != 0 {
							require.GreaterOrEqual(r, version, m.acknowledged)
						}
					}
				},
			})
		})
	})
}

func pair(a, b int64) [2]int64 { return [2]int64{a, b} }

func (m *fillings) flush(r *rapid.T) {
	err := m.servers[Feed].each(context.Background(), func(ctx context.Context, node *redis.Client) error { return node.FlushAll(ctx).Err() })
	require.NoError(r, err)
}

func TestTheFirstReaderFillsAndADeadOneIsReplaced(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx, ids := t.Context(), []social.FeedID{filled}
		now := time.Now()
		f.Store.now = func() time.Time { return now }
		values := map[social.FeedID]*social.FeedCounters{filled: sampleCounters(filled, 1)}

		first, err := f.Counters().Reserve(ctx, ids, false)
		require.NoError(t, err)
		second, err := f.Counters().Reserve(ctx, ids, false)
		require.NoError(t, err)
		require.NoError(t, f.Counters().Put(ctx, values, second))
		found, err := f.Counters().Get(ctx, ids)
		require.NoError(t, err)
		assert.Empty(t, found, "the second reader came too late")

		now = now.Add(5 * time.Second)
		third, err := f.Counters().Reserve(ctx, ids, false)
		require.NoError(t, err)
		require.NoError(t, f.Counters().Put(ctx, values, first))
		found, err = f.Counters().Get(ctx, ids)
		require.NoError(t, err)
		assert.Empty(t, found, "the first reader took too long")
		require.NoError(t, f.Counters().Put(ctx, values, third))
		found, err = f.Counters().Get(ctx, ids)
		require.NoError(t, err)
		assert.Equal(t, values, found)
	})
}

func TestTicketsForNobodyGoAway(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		ctx := t.Context()
		_, err := f.Players().Reserve(ctx, []social.PlayerID{123_456_789}, false)
		require.NoError(t, err)
		_, err = f.Counters().Reserve(ctx, []social.FeedID{filled}, false)
		require.NoError(t, err)
		for _, key := range []string{simpleKeys.key(123_456_789 / bucketSize), countKeys.key(filled)} {
			ttl := f.client().TTL(ctx, key).Val()
			assert.Positive(t, ttl, key)
			assert.LessOrEqual(t, ttl, ticketLife, key)
		}
	})
}
