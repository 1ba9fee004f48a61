package fence_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"circle/internal/fence"
	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

func TestWhatIsAmissIsMadeGood(t *testing.T) {
	noted := begin.Add(10 * time.Second).UnixMilli()
	for _, c := range []struct {
		name string
		// pass is how much later Redis is found to say what it says; events are done meanwhile, as many
		// seconds after the fence was noted as their ids say, if not negative.
		pass   time.Duration
		events []int64
		says   social.Fence
		// again are the events that run again, raised the roles whose epochs rise.
		again  []int64
		raised []string
	}{
		{"nothing", time.Second, []int64{1}, social.Fence{At: noted, Server: "a"}, nil, nil},
		{"raised by another server", time.Second, []int64{1}, social.Fence{At: noted + 900, Server: "a"}, nil, nil},
		{"behind", 20 * time.Second, []int64{1, 6, 8, 11, 20}, social.Fence{At: noted - 1, Server: "a"}, []int64{1, 6, 8, 11, 20}, nil},
		{"another server, equal", 20 * time.Second, []int64{1, 3, 20}, social.Fence{At: noted, Server: "z"}, []int64{1, 3, 20}, nil},
		{"another server, ahead", 20 * time.Second, []int64{1, 7, 20}, social.Fence{At: noted + 10_000, Server: "z"}, []int64{20}, nil},
		{"missing", 20 * time.Second, []int64{1}, social.Fence{Server: "a"}, nil, []string{"feed"}},
		{"another server, missing", 20 * time.Second, []int64{1}, social.Fence{Server: "z"}, nil, []string{"feed"}},
		{"an hour behind", 20 * time.Second, []int64{1}, social.Fence{At: noted - 3_600_000, Server: "a"}, nil, []string{"feed"}},
		{"equal, found after an hour", time.Hour, []int64{1}, social.Fence{At: noted, Server: "z"}, nil, []string{"feed"}},
		{"ahead of the clock", 20 * time.Second, []int64{1}, social.Fence{At: noted + 3_600_000, Server: "z"}, nil, []string{"feed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(b *bench) {
				start := b.now
				for _, id := range c.events {
					b.now = start.Add(time.Duration(id) * time.Second)
					b.event(id)
				}
				b.now = start.Add(c.pass)
				b.redis.set(feed, c.says)
				g := b.guard()
				b.run(g)
				require.ElementsMatch(t, c.again, b.waiting())
				require.ElementsMatch(t, c.raised, b.raised())
				back := 0
				if len(c.again)+len(c.raised) > 0 {
					back = 1
				}
				require.EqualValues(t, back, sum(t, g, "circle_fence_went_back_total"))
				require.Equal(t, back, b.ended(), "what logs lost is not brought back")
				require.EqualValues(t, len(c.raised)+back, sum(t, g, "circle_fence_epochs_raised_total"))
				require.EqualValues(t, len(c.again), sum(t, g, "circle_fence_replayed_events_total"))

				b.pass(time.Second)
				b.run(g, b.guard())
				require.Empty(t, b.waiting(), "all is well")
				require.ElementsMatch(t, c.raised, b.raised())
				if c.says.At <= b.now.UnixMilli() {
					require.Equal(t, b.now.UnixMilli(), b.redis.get(feed).At)
				}
			})
		})
	}
}

func sum(t *testing.T, g guard, name string) (total float64) {
	t.Helper()
	families, err := g.metrics.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == name {
			for _, m := range family.GetMetric() {
				total += m.GetCounter().GetValue()
			}
		}
	}
	return total
}

func TestMetricsAreWellNamed(t *testing.T) {
	each(t, func(b *bench) {
		problems, err := testutil.GatherAndLint(b.guard().metrics)
		require.NoError(t, err)
		require.Empty(t, problems)
	})
}

// TestServersDontDisturbEachOther has two guards run one inside the other: what the second does lies
// between the first one's reading of the notes and its raising.
func TestServersDontDisturbEachOther(t *testing.T) {
	each(t, func(b *bench) {
		one, two := b.guard(), b.guard()
		b.event(1)
		for range 50 {
			b.pass(time.Second)
			b.redis.raise = func() {
				b.redis.raise = nil
				b.redis.mu.Unlock()
				b.pass(10 * time.Millisecond)
				b.run(two)
				b.pass(-20 * time.Millisecond) // its clock is not quite the same
				b.redis.mu.Lock()
			}
			b.run(one)
			b.run(two, one)
		}
		require.Empty(t, b.waiting())
		require.Empty(t, b.raised())
	})
}

func TestOneServerRepairs(t *testing.T) {
	each(t, func(b *bench) {
		one, two := b.guard(), b.guard()
		b.pass(time.Second)
		b.redis.set(feed, social.Fence{Server: "a"})
		b.redis.raise = func() { // both have seen it
			b.redis.raise = nil
			b.redis.mu.Unlock()
			b.run(two)
			b.redis.set(feed, social.Fence{Server: "a"})
			b.redis.mu.Lock()
		}
		b.run(one)
		require.Equal(t, []string{"feed"}, b.raised())
		b.pass(3 * time.Second)
		b.run(one)
		require.Equal(t, []string{"feed", "feed"}, b.raised(), "what is amiss after its turn is the next one's")
	})
}

// TestARepairThatIsCutOffIsMadeAgain ends it at each step that can fail.
func TestARepairThatIsCutOffIsMadeAgain(t *testing.T) {
	each(t, func(b *bench) {
		for _, step := range []string{"epochs", "replay", "notes"} {
			b.pass(time.Minute)
			b.run(b.guard())
			b.event(b.now.UnixMilli())
			b.pass(5 * time.Second)
			b.redis.set(detail, social.Fence{Server: "c"})
			b.redis.set(feed, social.Fence{At: b.redis.get(feed).At - 1, Server: "a"})
			epochs := len(b.raised())
			failing := &failing{Store: b.store, step: step}
			g := fence.New(fence.Config{Redis: b.redis, Store: failing, Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler)})
			require.Error(t, g.RunOnce(t.Context()), step)
			b.waiting()
			b.pass(3 * time.Second)
			b.run(b.guard())
			if step != "notes" { // by then it is made good
				require.Len(t, b.waiting(), 1, step)
				require.Contains(t, b.raised()[epochs:], "detail", step)
			}
			b.pass(time.Second)
			b.run(b.guard())
			require.Empty(t, b.waiting(), step)
		}
	})
}

type failing struct {
	*sqlstore.Store
	step string
}

var errCut = errors.New("cut off")

func (f *failing) RaiseEpochsOf(ctx context.Context, roles []string) error {
	if f.step == "epochs" {
		return errCut
	}
	return f.Store.RaiseEpochsOf(ctx, roles)
}

func (f *failing) ReplayEvents(ctx context.Context, now, since time.Time, most int) (int, bool, error) {
	if f.step == "replay" {
		return 0, false, errCut
	}
	return f.Store.ReplayEvents(ctx, now, since, most)
}

func (f *failing) NoteFences(ctx context.Context, fences map[social.FenceKey]social.Fence) error {
	if f.step == "notes" {
		return errCut
	}
	return f.Store.NoteFences(ctx, fences)
}

func TestNothingIsConcludedFromAServerThatIsAway(t *testing.T) {
	each(t, func(b *bench) {
		g := b.guard()
		b.redis.away["feed"] = true
		for range 3 {
			b.pass(time.Second)
			b.event(b.now.UnixMilli())
			b.run(g)
		}
		require.Empty(t, b.waiting())
		require.Empty(t, b.raised())
		require.Equal(t, b.now.UnixMilli(), b.redis.get(detail).At, "others go on")
		b.redis.away["feed"] = false
		b.redis.set(feed, social.Fence{Server: "z"})
		b.pass(time.Second)
		b.run(g)
		require.Equal(t, []string{"feed"}, b.raised(), "it is compared first when it is back")
	})
}

// TestEventsOfServersThatAreLateRunAgain has an event end after a repair, as one does that was written to
// the old primary by a server that has not noticed yet.
func TestEventsOfServersThatAreLateRunAgain(t *testing.T) {
	each(t, func(b *bench) {
		g := b.guard()
		b.pass(time.Second)
		b.redis.set(feed, social.Fence{At: b.redis.get(feed).At, Server: "z"})
		b.run(g)
		b.pass(time.Second)
		b.event(7)
		b.run(g)
		require.Empty(t, b.waiting())
		b.pass(2 * time.Second)
		b.run(g)
		require.Equal(t, []int64{7}, b.waiting())
		require.Equal(t, 2, b.ended(), "their logs too")
		b.pass(10 * time.Second)
		b.run(g)
		require.Empty(t, b.waiting(), "once")
	})
}

func TestTooManyEventsAreAbsence(t *testing.T) {
	each(t, func(b *bench) {
		many := &counting{Store: b.store}
		g := fence.New(fence.Config{Redis: b.redis, Store: many, Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler)})
		b.pass(time.Second)
		b.redis.set(feed, social.Fence{At: b.redis.get(feed).At, Server: "z"})
		require.NoError(t, g.RunOnce(t.Context()))
		require.Positive(t, many.most)
		require.Equal(t, []string{"feed"}, b.raised())
	})
}

// counting is a store with more events than can be run again.
type counting struct {
	*sqlstore.Store
	most int
}

func (c *counting) ReplayEvents(_ context.Context, _, _ time.Time, most int) (int, bool, error) {
	c.most = most
	return 0, false, nil
}

func TestLogsGoOnWhereOnlyOtherRolesWentBack(t *testing.T) {
	each(t, func(b *bench) {
		b.pass(time.Second)
		b.redis.set(detail, social.Fence{Server: "c"})
		b.run(b.guard())
		require.Equal(t, []string{"detail"}, b.raised())
		require.Zero(t, b.ended())
	})
}
