package outbox

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

var errBad = errors.New("bad")

func TestInlineRunIsMarkedAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		add(t, b.store, like(1, 1))
		w := &watched{Store: b.store, near: make(chan []social.Event, 1)}
		var inline runs
		r := b.runner(w, nearFunc(func(ctx context.Context, events []social.Event) error {
			end, ok := ctx.Deadline()
			require.True(t, ok)
			require.LessOrEqual(t, time.Until(end), 2*time.Second)
			require.NoError(t, ctx.Err(), "the request's end is not the run's")
			inline.note(events...)
			return nil
		}), nil)
		r.Start(t.Context())
		defer stopped(t, r)
		request, cancel := context.WithCancel(t.Context())
		cancel()
		r.RunInline(request, []social.Event{like(1, 1)})
		require.Equal(t, 1, inline.of(1), "it ran before the answer")
		await(t, w.near)
		require.Equal(t, social.OutboxStats{}, b.stats(t))
	})
}

func TestFailedInlineRunIsAWorkersAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		fail func() error
	}{
		{"an error", func() error { return errBad }},
		{"a panic", func() error { panic("oh") }},
		{"a store that is away", func() error { return social.Unavailable(errBad) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, b *bench) {
				add(t, b.store, like(1, 1))
				w := &watched{Store: b.store, near: make(chan []social.Event, 1)}
				var seen runs
				r := b.runner(w, nearFunc(func(_ context.Context, events []social.Event) error {
					if seen.note(events...) == 1 {
						return c.fail()
					}
					return nil
				}), nil)
				r.Start(t.Context())
				defer stopped(t, r)
				r.RunInline(t.Context(), []social.Event{like(1, 1)})
				await(t, w.near) // the clock stands still: nobody waited for the lease
				require.Equal(t, 2, seen.of(1))
				require.Equal(t, social.OutboxStats{}, b.stats(t))
			})
		})
	}
}

func TestWorkersTakeUpWhatADeadProcessLeft(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		add(t, b.store, like(1, 1), like(2, 1))
		var seen runs
		r := b.runner(b.open(t, 2), nearFunc(func(_ context.Context, events []social.Event) error {
			seen.note(events...)
			return nil
		}), nil)
		for _, step := range []struct {
			wait time.Duration
			runs int
		}{{0, 0}, {3*time.Second - 1, 0}, {1, 1}, {time.Hour, 1}} {
			b.add(step.wait)
			_, err := r.nearOnce(t.Context())
			require.NoError(t, err)
			require.Equal(t, step.runs, seen.of(1))
			require.Equal(t, step.runs, seen.of(2))
		}
	})
}

func TestMarksAreWrittenInGroupsUnderLoad(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		var events []social.Event
		for id := range int64(600) {
			events = append(events, like(id+1, 1))
		}
		add(t, b.store, events...)
		w := &watched{Store: b.store, near: make(chan []social.Event, 3), asked: make(chan int), gate: make(chan struct{})}
		r := b.runner(w, nothing, nil)
		r.Start(t.Context())
		defer stopped(t, r)
		r.RunInline(t.Context(), events[:1])
		require.Equal(t, 1, await(t, w.asked), "an idle system waits for nothing")
		r.RunInline(t.Context(), events[1:])
		for _, size := range []int{512, 600 - 1 - 512} {
			w.gate <- struct{}{}
			require.Equal(t, size, await(t, w.asked), "what came during the last write")
		}
		w.gate <- struct{}{}
		for range 3 {
			await(t, w.near)
		}
		require.Equal(t, social.OutboxStats{}, b.stats(t))
	})
}

func TestAFullQueueHoldsNobodyUp(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		add(t, b.store, like(1, 1))
		r := b.runner(b.store, nothing, nil)
		for range markQueue + 5 { // nobody reads: the workers stand still
			r.RunInline(t.Context(), []social.Event{like(1, 1)})
		}
		require.InDelta(t, 5, testutil.ToFloat64(r.metrics.unmarked), 0)
		require.Equal(t, 1, b.stats(t).Near)
	})
}

func TestStopMarksWhatRanInline(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		add(t, b.store, like(1, 1), like(2, 1))
		r := b.runner(b.store, nothing, nil)
		r.RunInline(t.Context(), []social.Event{like(1, 1), like(2, 1)})
		ended, end := context.WithCancel(t.Context())
		end()
		r.Start(ended)
		stopped(t, r)
		require.Equal(t, social.OutboxStats{}, b.stats(t))
	})
}

func TestABadEventEndsDeadAndHoldsNobodyUp(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		add(t, b.store, like(1, 1), like(2, 1), like(3, 2))
		var seen runs
		r := b.runner(b.store, nearFunc(func(_ context.Context, events []social.Event) error {
			seen.note(events...)
			for _, e := range events {
				if e.ID == 2 {
					return errBad
				}
			}
			return nil
		}), nil)
		var logged bytes.Buffer
		r.cfg.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelError}))

		b.add(3 * time.Second)
		_, err := r.nearOnce(t.Context())
		require.NoError(t, err)
		require.Equal(t, social.OutboxStats{Near: 1, OldestNear: 2}, b.stats(t), "the others are done in the same pass")
		_, err = r.nearOnce(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, seen.of(2), "it pauses: once in the group, once alone")

		for range defaults.maxAttempts - 1 {
			require.Empty(t, logged.String())
			b.add(lastPause)
			_, err := r.nearOnce(t.Context())
			require.NoError(t, err)
		}
		require.Equal(t, social.OutboxStats{Dead: 1}, b.stats(t))
		require.Equal(t, 1+defaults.maxAttempts, seen.of(2))
		require.Contains(t, logged.String(), "event given up")
		require.InDelta(t, 1, testutil.ToFloat64(r.metrics.dead.WithLabelValues(stageNear)), 0)
		dead, err := b.store.DeadEvents(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, dead, 1)
		require.Equal(t, "near: bad", dead[0].Reason)
		require.Equal(t, defaults.maxAttempts, dead[0].Attempts)
	})
}

func TestAStoreThatIsAwayIsNotTheEventsFault(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		add(t, b.store, like(1, 1), like(2, 1))
		away := true
		r := b.runner(b.store, nearFunc(func(context.Context, []social.Event) error {
			if away {
				return social.Unavailable(errBad)
			}
			return nil
		}), nil)
		b.add(3 * time.Second)
		for range 3 * defaults.maxAttempts {
			_, err := r.nearOnce(t.Context())
			require.ErrorIs(t, err, errBad, "the loop must wait")
			require.Equal(t, social.OutboxStats{Near: 2, OldestNear: 1}, b.stats(t))
			b.add(defaults.away)
		}
		away = false
		_, err := r.nearOnce(t.Context())
		require.NoError(t, err)
		require.Equal(t, social.OutboxStats{}, b.stats(t), "a second after the fault all is done")
	})
}

func TestBackoffGrowsToAMinute(t *testing.T) {
	for attempts, most := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 6: 32 * time.Second, 7: time.Minute, 1000: time.Minute} {
		for range 100 {
			d := backoff(attempts)
			require.LessOrEqual(t, d, most)
			require.GreaterOrEqual(t, d, most/2)
		}
	}
}

func TestUpkeep(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		now := b.now()
		old := social.Event{ID: social.EventID(social.IDAt(now.Add(-time.Minute))), Kind: social.EventPlayer, Actor: 1, Subject: 1}
		add(t, b.store, old, like(1, 1), like(2, 1))
		registry := prometheus.NewRegistry()
		r := New(Config{Store: b.store, Near: nothing, Now: b.now, Log: slog.New(slog.DiscardHandler), Metrics: registry})
		require.NoError(t, b.store.FinishNear(t.Context(), now, []social.Event{like(1, 1)}, nil))
		require.NoError(t, b.store.BuryEvent(t.Context(), now, like(2, 1), "bad"))
		_, err := r.measureOnce(t.Context())
		require.NoError(t, err)
		for name, want := range map[string]prometheus.Collector{
			"near": r.metrics.pending.WithLabelValues(stageNear), "dead": r.metrics.buried,
		} {
			require.InDelta(t, 1, testutil.ToFloat64(want), 0, name)
		}
		require.InDelta(t, 60, testutil.ToFloat64(r.metrics.oldest.WithLabelValues(stageNear)), 0.001)
		require.Zero(t, testutil.ToFloat64(r.metrics.oldest.WithLabelValues(stageFar)))
		n, err := testutil.GatherAndCount(registry, "circle_outbox_pending_events", "circle_outbox_oldest_pending_seconds", "circle_outbox_dead_events")
		require.NoError(t, err)
		require.Equal(t, 5, n)

		b.add(15 * time.Minute)
		_, err = r.purgeOnce(t.Context())
		require.NoError(t, err)
		b.add(time.Millisecond)
		left, err := b.store.PurgeEvents(t.Context(), b.now().Add(-defaults.keep), 10)
		require.NoError(t, err)
		require.Equal(t, 1, left, "a done event stays for 15 minutes")
		add(t, b.store, like(3, 1))
		require.NoError(t, b.store.FinishNear(t.Context(), now, []social.Event{like(3, 1)}, nil))
		_, err = r.purgeOnce(t.Context())
		require.NoError(t, err)
		left, err = b.store.PurgeEvents(t.Context(), b.now(), 10)
		require.NoError(t, err)
		require.Zero(t, left, "and goes then")
	})
}
