package outbox

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// steps runs far stages of several steps, each of which takes a turn, and tells in which passes an event
// got on.
type steps struct {
	b    *bench
	need map[social.EventID]int
	mu   sync.Mutex
	ran  map[social.EventID][]int
	pass int
}

func (s *steps) Far(ctx context.Context, e social.Event, place []byte, save SavePlace) error {
	for done := len(place); done < max(1, s.need[e.ID]); done++ {
		s.mu.Lock()
		s.ran[e.ID] = append(s.ran[e.ID], s.pass)
		s.mu.Unlock()
		if s.need[e.ID] == 0 {
			return nil
		}
		s.b.add(defaults.turn)
		place = append(place, '.')
		if err := save(ctx, place); err != nil {
			return fmt.Errorf("wrapped: %w", err)
		}
	}
	return nil
}

// passes runs all that can be claimed, several times; several runs of an event in one pass are one turn's.
func (s *steps) passes(t *testing.T, r *Runner, n int) {
	for range n {
		s.pass++
		farPass(t, r)
	}
}

// TestManyAuthorsShareFewWorkers has three actors with long far stages on two workers: whoever comes new
// waits for one turn of each that is before him, however much those have to do.
func TestManyAuthorsShareFewWorkers(t *testing.T) {
	const small, actor4 = 40, 4
	each(t, func(t *testing.T, b *bench) {
		s := &steps{b: b, need: map[social.EventID]int{10: 6, 20: 6, 30: 6}, ran: map[social.EventID][]int{}}
		far(t, b, like(10, 1), like(20, 2), like(30, 3), like(11, 1), like(12, 1))
		r := b.runner(b.store, nothing, s)
		r.farSlots = make(chan struct{}, 2)
		s.passes(t, r, 2)
		b.add(time.Millisecond)
		far(t, b, like(small, actor4))
		s.passes(t, r, 2)
		require.NotEmpty(t, s.ran[small], "after one turn of each of three")
		for id, ran := range map[int64][]int{10: s.ran[10], 20: s.ran[20], 30: s.ran[30]} {
			require.InDelta(t, 2, len(ran), 1, "%d had its share", id)
		}
		s.passes(t, r, 9)
		require.Equal(t, social.OutboxStats{}, b.stats(t))
		for _, id := range []social.EventID{10, 20, 30} {
			require.Len(t, s.ran[id], 6, "no step of %d is done twice", id)
		}
		require.Greater(t, s.ran[11][0], s.ran[10][5], "an actor's events stay in order")
	})
}

// TestAnActorWithManyEventsWaitsWhenItsTurnIsOver has events of one actor, older than that of another.
func TestAnActorWithManyEventsWaitsWhenItsTurnIsOver(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		far(t, b, like(1, 1), like(2, 1), like(3, 1), like(4, 1))
		b.add(time.Millisecond)
		far(t, b, like(9, 2))
		var order []social.EventID
		r := b.runner(b.store, nothing, farFunc(func(_ context.Context, e social.Event, _ []byte, _ SavePlace) error {
			order = append(order, e.ID)
			b.add(defaults.turn/2 + 1)
			return nil
		}))
		r.farSlots = make(chan struct{}, 1)
		for range 3 {
			farPass(t, r)
		}
		require.Equal(t, []social.EventID{1, 2, 9, 3, 4}, order)
	})
}

// TestAFailureInATurnKeepsThePlace is for places that were not written yet.
func TestAFailureInATurnKeepsThePlace(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		far(t, b, like(1, 1))
		var places []string
		r := b.runner(b.store, nothing, farFunc(func(ctx context.Context, _ social.Event, place []byte, save SavePlace) error {
			places = append(places, string(place))
			if err := save(ctx, append(place, '.')); err != nil || len(places) == 3 {
				return err
			}
			return errBad
		}))
		for range 3 {
			farPass(t, r)
			b.add(lastPause)
		}
		require.Equal(t, []string{"", ".", ".."}, places)
		require.Equal(t, social.OutboxStats{}, b.stats(t))
	})
}

func TestAKilledProcessDelaysNobodyForLongerThanAFault(t *testing.T) {
	const settled = 5 * time.Second // what clients may rely on
	require.Less(t, defaults.farLease+time.Second, settled, "the poll and the run included")
}
