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
	committed int64
	step      int
	// process is whose epoch it goes by.
	process         *Store
	players, counts string
	read            int64
}

// fillings runs fills, refreshes and flushes step by step, in any order.
type fillings struct {
	fixture
	row, acknowledged int64
	running           []*filling
	// laggard hears of a new epoch later than the fixture's own process.
	laggard *Store
	epoch   uint32
}

const filled = 7

// begin lets few run at once, so that each gets on.
func (m *fillings) begin(r *rapid.T, committed int64) {
	if len(m.running) == 2 {
		r.Skip("enough are running")
	}
	process := rapid.SampledFrom([]*Store{m.Store, m.laggard}).Draw(r, "process")
	m.running = append(m.running, &filling{committed: committed, process: process})
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
		f.players, errs[0] = f.process.Players().Reserve(ctx, []social.PlayerID{filled}, f.committed != 0)
		f.counts, errs[1] = f.process.Counters().Reserve(ctx, []social.FeedID{filled}, f.committed != 0)
	case 2:
		f.read = m.row
	case 3:
		errs[0] = f.process.Players().Put(ctx, map[social.PlayerID]*social.Player{filled: samplePlayer(filled, f.read)}, f.players)
		errs[1] = f.process.Counters().Put(ctx, map[social.FeedID]*social.FeedCounters{filled: sampleCounters(filled, f.read)}, f.counts)
		m.acknowledged = max(m.acknowledged, f.committed)
		m.running = append(m.running[:i], m.running[i+1:]...)
	}
	require.NoError(r, errs[0])
	require.NoError(r, errs[1])
}

func TestNothingOlderThanWhatWasAcknowledgedIsEverThere(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		laggard := open(t, f.config)
		rapid.Check(t, func(r *rapid.T) {
			m := &fillings{fixture: f, row: 1, laggard: laggard, epoch: 1}
			m.flush(r)
			m.hear(m.Store)
			m.hear(laggard)
			r.Repeat(map[string]func(*rapid.T){
				"write": func(r *rapid.T) { m.begin(r, m.row+1); m.row++ },
				"read":  func(r *rapid.T) { m.begin(r, 0) },
				"go on": m.advance, "go on, more": m.advance, "go on, still more": m.advance, "go on, most": m.advance,
				"flush":         m.flush,
				"raise":         func(*rapid.T) { m.epoch++; m.hear(m.Store) },
				"laggard hears": func(*rapid.T) { m.hear(laggard) },
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

// hear lets a process know of the epoch.
func (m *fillings) hear(process *Store) {
	process.SetEpochs(map[string]uint32{string(Profile): m.epoch, string(Feed): m.epoch})
}

func pair(a, b int64) [2]int64 { return [2]int64{a, b} }

func (m *fillings) flush(r *rapid.T) {
	err := m.servers[Feed].each(context.Background(), func(ctx context.Context, node *redis.Client) error { return node.FlushAll(ctx).Err() })
	require.NoError(r, err)
}

// TestWhatContradictsAcrossEpochsGoes has a process that has not heard of the new epoch write a row which
// one that has heard of it read before.
func TestWhatContradictsAcrossEpochsGoes(t *testing.T) {
	for _, c := range []struct {
		name          string
		there, put    int64
		putByLaggard  bool
		want, wantNow int64 // what is there for the laggard and for the others
	}{
		{"newer by the laggard", 1, 2, true, 0, 0},
		{"the same by the laggard", 2, 2, true, 0, 2},
		{"older by the laggard", 2, 1, true, 0, 2},
		{"newer", 1, 2, false, 0, 2},
		{"the same", 2, 2, false, 0, 2},
		{"older than the laggard's", 2, 1, false, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, f fixture) {
				laggard := fixture{Store: open(t, f.config)}
				f.SetEpochs(map[string]uint32{string(Profile): 2, string(Feed): 2})
				first, second := f, laggard
				if !c.putByLaggard {
					first, second = laggard, f
				}
				require.NoError(t, first.put(filled, c.there))
				require.NoError(t, second.put(filled, c.put))
				assert.Equal(t, [2]int64{c.want, c.want}, pair(laggard.versions(t, filled)), "for the laggard")
				assert.Equal(t, [2]int64{c.wantNow, c.wantNow}, pair(f.versions(t, filled)))
			})
		})
	}
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
