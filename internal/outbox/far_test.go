package outbox

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// far brings fresh events of owner 1 to their far stage.
func far(t *testing.T, b *bench, events ...social.Event) {
	t.Helper()
	add(t, b.store, events...)
	require.NoError(t, b.store.FinishNear(t.Context(), b.now(), events, []social.EventKind{social.EventLike}))
}

func TestNearIsFollowedByFar(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		player := social.Event{ID: 2, Kind: social.EventPlayer, Actor: 1, Subject: 1, Epoch: 1}
		add(t, b.store, like(1, 1), player)
		w := &watched{Store: b.store, far: make(chan social.Event, 1)}
		r := b.runner(w, nothing, farFunc(func(context.Context, social.Event, []byte, SavePlace) error { return nil }))
		r.cfg.Poll = time.Hour // only the wake-up remains
		r.Start(t.Context())
		defer stopped(t, r)
		r.RunInline(t.Context(), []social.Event{player, like(1, 1)})
		require.EqualValues(t, 1, await(t, w.far).ID)
		require.Equal(t, social.OutboxStats{}, b.stats(t))
	})
}

func TestFarRunsEachActorsEventsInOrder(t *testing.T) {
	const actors, perActor = 20, 40
	each(t, func(t *testing.T, b *bench) {
		var events []social.Event
		for id := range int64(actors * perActor) {
			events = append(events, like(id+1, id%actors))
		}
		far(t, b, events...)
		var mu sync.Mutex
		order, busy, most := map[social.PlayerID][]social.EventID{}, map[social.PlayerID]bool{}, 0
		all := make(chan struct{})
		r := b.runner(b.store, nothing, farFunc(func(_ context.Context, e social.Event, _ []byte, _ SavePlace) error {
			mu.Lock()
			defer mu.Unlock()
			if busy[e.Actor] {
				t.Errorf("two events of actor %d at once", e.Actor)
			}
			busy[e.Actor] = true
			most = max(most, len(busy))
			mu.Unlock()
			runtime.Gosched() // lets others in
			mu.Lock()
			delete(busy, e.Actor)
			order[e.Actor] = append(order[e.Actor], e.ID)
			if e.ID == actors*perActor {
				close(all)
			}
			return nil
		}))
		r.cfg.Poll = 200 * time.Millisecond
		r.Start(t.Context())
		defer stopped(t, r)
		await(t, all)
		require.Eventually(t, func() bool { return b.stats(t).Far == 0 }, 20*time.Second, 5*time.Millisecond)
		require.LessOrEqual(t, most, 8)
		for actor, ids := range order {
			require.Len(t, ids, perActor, "actor %d", actor)
			require.IsIncreasing(t, ids, "actor %d", actor)
		}
	})
}

func TestDistinctActorsRunSideBySide(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		far(t, b, like(1, 1), like(2, 2), like(3, 3))
		var together sync.WaitGroup
		together.Add(2)
		done := make(chan social.Event, 3)
		r := b.runner(b.store, nothing, farFunc(func(ctx context.Context, e social.Event, _ []byte, _ SavePlace) error {
			if e.ID < 3 {
				together.Done()
				together.Wait() // each waits for the other
			}
			done <- e
			return nil
		}))
		r.farSlots = make(chan struct{}, 2)
		r.Start(t.Context())
		defer stopped(t, r)
		for range 3 {
			await(t, done)
		}
	})
}

func TestFarGoesOnWhereADeadProcessWas(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		far(t, b, like(1, 1))
		dead := b.open(t, 2)
		claimed, err := dead.ClaimFar(t.Context(), b.now(), b.now().Add(defaults.farLease), 1)
		require.NoError(t, err)
		_, err = dead.SavePlace(t.Context(), claimed[0].Event, []byte("half"), b.now().Add(defaults.farLease))
		require.NoError(t, err)

		places := make(chan string, 1)
		w := &watched{Store: b.store, far: make(chan social.Event, 1)}
		r := b.runner(w, nothing, farFunc(func(ctx context.Context, _ social.Event, place []byte, save SavePlace) error {
			places <- string(place)
			return save(ctx, []byte("whole"))
		}))
		r.Start(t.Context())
		defer stopped(t, r)
		b.add(defaults.farLease)
		require.Equal(t, "half", await(t, places))
		await(t, w.far)
		require.Equal(t, social.OutboxStats{}, b.stats(t))
	})
}

// farPass runs everything that can be claimed now.
func farPass(t *testing.T, r *Runner) {
	t.Helper()
	_, err := r.farOnce(t.Context())
	require.NoError(t, err)
	r.running.Wait()
}

func TestABadFarStageEndsDeadAndItsActorGoesOn(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		far(t, b, like(1, 1), like(2, 1), like(3, 2))
		var seen runs
		r := b.runner(b.store, nothing, farFunc(func(_ context.Context, e social.Event, _ []byte, _ SavePlace) error {
			seen.note(e)
			switch seen.of(1) {
			case 2:
				return social.Unavailable(errBad)
			case 3:
				panic("oh")
			}
			if e.ID == 1 {
				return errBad
			}
			return nil
		}))
		for range defaults.maxAttempts + 1 { // the one that found a store away does not count
			require.Equal(t, 0, seen.of(2))
			farPass(t, r)
			require.Equal(t, 1, seen.of(3), "another actor's event was never held up")
			farPass(t, r)
			b.add(lastPause)
		}
		require.Equal(t, defaults.maxAttempts+1, seen.of(1))
		farPass(t, r)
		require.Equal(t, 1, seen.of(2))
		require.Equal(t, social.OutboxStats{Dead: 1}, b.stats(t))
		dead, err := b.store.DeadEvents(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, "far: bad", dead[0].Reason)
	})
}

func TestWhoGetsOnIsNotGivenUp(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		far(t, b, like(1, 1))
		var seen runs
		r := b.runner(b.store, nothing, farFunc(func(ctx context.Context, e social.Event, place []byte, save SavePlace) error {
			seen.note(e)
			if err := save(ctx, append(place, '.')); err != nil {
				return err
			}
			if len(place) < 2*defaults.maxAttempts {
				return errBad
			}
			return nil
		}))
		for range 2*defaults.maxAttempts + 1 {
			farPass(t, r)
			b.add(lastPause)
		}
		require.Equal(t, 2*defaults.maxAttempts+1, seen.of(1))
		require.Equal(t, social.OutboxStats{}, b.stats(t))
	})
}

func TestALongFarStageKeepsItsClaim(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		far(t, b, like(1, 1))
		w := &watched{Store: b.store, far: make(chan social.Event, 1), renewed: make(chan struct{}, 100)}
		var seen runs
		started, finish := make(chan struct{}, 2), make(chan struct{})
		handler := farFunc(func(_ context.Context, e social.Event, _ []byte, _ SavePlace) error {
			seen.note(e)
			started <- struct{}{}
			<-finish
			return nil
		})
		first, second := b.runner(w, nothing, handler), b.runner(b.open(t, 2), nothing, handler)
		first.limits.farLease, second.limits.farLease = 2*time.Second, 2*time.Second
		first.Start(t.Context())
		defer stopped(t, first)
		await(t, started)
		for range 4 { // more than the lease's time
			b.add(2 * time.Second / 3)
			await(t, w.renewed)
			_, err := second.farOnce(t.Context())
			require.NoError(t, err)
		}
		close(finish)
		await(t, w.far)
		second.running.Wait()
		require.Equal(t, 1, seen.of(1))
		require.Equal(t, social.OutboxStats{}, b.stats(t))
	})
}

func TestALostClaimEndsItsHandler(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		far(t, b, like(1, 1))
		started, ended, saved := make(chan struct{}), make(chan error, 1), make(chan error, 1)
		r := b.runner(b.store, nothing, farFunc(func(ctx context.Context, _ social.Event, _ []byte, save SavePlace) error {
			close(started)
			<-ctx.Done()
			ended <- context.Cause(ctx)
			saved <- save(context.WithoutCancel(ctx), []byte("late"))
			return nil
		}))
		r.limits.farLease = 300 * time.Millisecond
		_, err := r.farOnce(t.Context())
		require.NoError(t, err)
		await(t, started)
		// A process whose clock is far ahead takes the event.
		thief := b.open(t, 2)
		claimed, err := thief.ClaimFar(t.Context(), b.now().Add(time.Hour), b.now().Add(2*time.Hour), 1)
		require.NoError(t, err)
		require.Len(t, claimed, 1)
		require.ErrorIs(t, await(t, ended), errLost)
		require.ErrorIs(t, await(t, saved), errLost)
		r.running.Wait()
		require.Equal(t, 1, b.stats(t).Far, "the loser finished nothing")
		require.NoError(t, thief.FinishFar(t.Context(), b.now(), claimed[0].Event))
		require.Equal(t, social.OutboxStats{}, b.stats(t))
	})
}

func TestStopGivesRunningFarStagesBack(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		far(t, b, like(1, 1))
		started := make(chan struct{})
		r := b.runner(b.store, nothing, farFunc(func(ctx context.Context, _ social.Event, _ []byte, save SavePlace) error {
			if err := save(ctx, []byte("here")); err != nil {
				return err
			}
			close(started)
			<-ctx.Done()
			return ctx.Err()
		}))
		r.Start(t.Context())
		await(t, started)
		stopped(t, r)
		claimed, err := b.open(t, 2).ClaimFar(t.Context(), b.now(), b.now().Add(time.Minute), 1)
		require.NoError(t, err)
		require.Len(t, claimed, 1, "free at once")
		require.Zero(t, claimed[0].Attempts)
		require.Equal(t, "here", string(claimed[0].Place))
	})
}

func TestSixRunnersRunEachEventOnce(t *testing.T) {
	const events, runners = 2000, 6
	each(t, func(t *testing.T, b *bench) {
		var all []social.Event
		for id := range int64(events) {
			all = append(all, like(id+1, id%100))
		}
		add(t, b.open(t, 0), all...)
		var nearRuns, farRuns runs
		done := make(chan struct{})
		for owner := range int64(runners) {
			store := b.store
			if !b.embedded() {
				store = b.open(t, owner+1)
			}
			r := b.runner(store, nearFunc(func(_ context.Context, events []social.Event) error {
				nearRuns.note(events...)
				return nil
			}), farFunc(func(_ context.Context, e social.Event, _ []byte, _ SavePlace) error {
				if farRuns.note(e) == events {
					close(done)
				}
				return nil
			}))
			r.limits.nearBatch = 20
			r.cfg.Poll = 200 * time.Millisecond
			r.Start(t.Context())
			defer stopped(t, r)
		}
		select {
		case <-done:
		case <-time.After(2 * time.Minute):
			require.FailNow(t, "not all events ran", "%+v", b.stats(t))
		}
		for id := range int64(events) {
			require.Equal(t, 1, nearRuns.of(id+1), "near stage of %d", id+1)
			require.Equal(t, 1, farRuns.of(id+1), "far stage of %d", id+1)
		}
	})
}
