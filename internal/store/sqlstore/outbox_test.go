package sqlstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
	"circle/internal/testkit/freshdb"
)

// begin is the instant at which the tests of the outbox begin.
var begin = time.UnixMilli(1_800_000_000_000)

func after(d time.Duration) time.Time { return begin.Add(d) }

// openOutbox opens a store for the given owner whose clock stands at begin.
func openOutbox(t *testing.T, url string, owner int64) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: url, Owner: owner, Now: func() time.Time { return begin }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// eachOutbox runs fn on each kind of database, migrated.
func eachOutbox(t *testing.T, owner int64, fn func(t *testing.T, s *sqlstore.Store, url string)) {
	freshdb.Each(t, func(t *testing.T, url string) {
		s := openOutbox(t, url, owner)
		require.NoError(t, s.Migrate(t.Context()))
		fn(t, s, url)
	})
}

func appendEvents(t *testing.T, s *sqlstore.Store, events ...social.Event) {
	t.Helper()
	require.NoError(t, s.InTx(t.Context(), func(tx *sqlstore.Tx) error {
		for _, e := range events {
			if err := tx.Append(t.Context(), e); err != nil {
				return err
			}
		}
		return nil
	}))
}

func like(id, actor int64) social.Event {
	return social.Event{ID: social.EventID(id), Kind: social.EventLike, Actor: social.PlayerID(actor), Subject: 10 * id, Object: actor}
}

func claimNear(t *testing.T, s *sqlstore.Store, at time.Duration) []social.ClaimedEvent {
	t.Helper()
	claimed, err := s.ClaimNear(t.Context(), after(at), after(at+10*time.Second), 100)
	require.NoError(t, err)
	return claimed
}

func claimFar(t *testing.T, s *sqlstore.Store, at time.Duration) []social.ClaimedEvent {
	t.Helper()
	claimed, err := s.ClaimFar(t.Context(), after(at), after(at+10*time.Second), 100)
	require.NoError(t, err)
	return claimed
}

func ids(claimed []social.ClaimedEvent) []int64 {
	out := []int64{}
	for _, c := range claimed {
		out = append(out, int64(c.ID))
	}
	return out
}

func held(e social.Event, epoch int) social.Event {
	e.Epoch = epoch
	return e
}

// toFar brings fresh events of the store's own to their far stage.
func toFar(t *testing.T, s *sqlstore.Store, events ...social.Event) {
	t.Helper()
	for i := range events {
		events[i].Epoch = 1
	}
	require.NoError(t, s.FinishNear(t.Context(), begin, events, []social.EventKind{social.EventLike}))
}

func TestAppendClaimsForItsProcess(t *testing.T) {
	for _, c := range []struct {
		name  string
		owner int64
		at    time.Duration
		want  []int64
	}{
		{name: "a server's event is its own before the lease ends", owner: 1, at: 3*time.Second - time.Millisecond, want: []int64{}},
		{name: "and anyone's from then on", owner: 1, at: 3 * time.Second, want: []int64{7}},
		{name: "a command's event is free at once", owner: 0, at: 0, want: []int64{7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachOutbox(t, c.owner, func(t *testing.T, s *sqlstore.Store, url string) {
				appendEvents(t, s, like(7, 3))
				claimed := claimNear(t, openOutbox(t, url, 2), c.at)
				require.Equal(t, c.want, ids(claimed))
				if len(claimed) > 0 {
					require.Equal(t, held(like(7, 3), 2), claimed[0].Event)
					require.Empty(t, claimed[0].Place)
				}
			})
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, _ string) {
		appendEvents(t, s, like(7, 3))
		for _, e := range []social.Event{like(0, 3), like(7, 4)} {
			err := s.InTx(t.Context(), func(tx *sqlstore.Tx) error { return tx.Append(t.Context(), e) })
			require.Error(t, err)
			require.Equal(t, e.ID == 7, isTaken(err), "%v", err)
		}
	})
}

func isTaken(err error) bool { return errors.Is(err, social.ErrIDTaken) }

func TestClaimNear(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, url string) {
		other := openOutbox(t, url, 2)
		appendEvents(t, s, like(3, 1), like(1, 1), like(2, 2))
		claimed, err := other.ClaimNear(t.Context(), after(5*time.Second), after(15*time.Second), 2)
		require.NoError(t, err)
		require.Equal(t, []int64{1, 2}, ids(claimed), "the oldest, up to the limit")
		require.Equal(t, []int64{3}, ids(claimNear(t, s, 5*time.Second)), "what nobody holds")
		require.Empty(t, claimNear(t, s, 14*time.Second))
		again := claimNear(t, s, 15*time.Second)
		require.Equal(t, []int64{1, 2, 3}, ids(again), "what has run out")
		require.Equal(t, 3, again[0].Epoch)

		_, err = openOutbox(t, url, 0).ClaimNear(t.Context(), after(time.Hour), after(2*time.Hour), 1)
		require.ErrorContains(t, err, "owner")
	})
}

func TestOnlyAStandingClaimCounts(t *testing.T) {
	ctx := context.Background()
	reason := "x"
	for _, c := range []struct {
		name string
		act  func(s *sqlstore.Store, e social.Event) error
	}{
		{"finish near", func(s *sqlstore.Store, e social.Event) error {
			return s.FinishNear(ctx, begin, []social.Event{e}, nil)
		}},
		{"retry", func(s *sqlstore.Store, e social.Event) error {
			return s.RetryEvents(ctx, []social.Event{e}, after(time.Hour), true, reason)
		}},
		{"bury", func(s *sqlstore.Store, e social.Event) error { return s.BuryEvent(ctx, begin, e, reason) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, url string) {
				appendEvents(t, s, like(7, 3))
				claimed := claimNear(t, openOutbox(t, url, 2), 3*time.Second)
				require.NoError(t, c.act(s, held(like(7, 3), 1)))
				require.Equal(t, []int64{7}, ids(claimNear(t, s, time.Minute)), "the stale claim changed nothing")
				require.NoError(t, c.act(s, held(claimed[0].Event, 3)))
				require.Empty(t, claimNear(t, s, time.Minute+10*time.Second), "the standing claim did")
			})
		})
	}
}

func TestFinishNearKnowsTheKinds(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, _ string) {
		player := social.Event{ID: 2, Kind: social.EventPlayer, Actor: 9, Subject: 9}
		appendEvents(t, s, like(1, 3), player, like(3, 4))
		stale := claimNear(t, s, 3*time.Second)[2]
		require.EqualValues(t, 3, stale.ID)
		err := s.FinishNear(t.Context(), begin, []social.Event{stale.Event, held(player, 2), held(like(1, 3), 2)}, []social.EventKind{social.EventLike})
		require.NoError(t, err)
		stats, err := s.OutboxStats(t.Context())
		require.NoError(t, err)
		require.Equal(t, social.OutboxStats{Far: 2, OldestFar: 1}, stats)
		require.Equal(t, []int64{1, 3}, ids(claimFar(t, s, 0)))
	})
}

func TestClaimFarKeepsAnActorsOrder(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, _ string) {
		a1, a2, a3, b1, b2 := like(1, 1), like(2, 1), like(3, 1), like(4, 2), like(5, 2)
		appendEvents(t, s, a1, a2, a3, b1, b2)
		toFar(t, s, a1, a2, b2)
		require.Equal(t, []int64{1}, ids(claimFar(t, s, 0)), "b2 waits for b1's near stage")
		toFar(t, s, b1, a3)
		require.Equal(t, []int64{4}, ids(claimFar(t, s, 0)), "a2 waits for a1")
		none, err := s.ClaimFarOf(t.Context(), 1, begin, after(time.Minute))
		require.NoError(t, err)
		require.Empty(t, none, "a1 is held")

		require.NoError(t, s.FinishFar(t.Context(), begin, held(a1, 2)))
		next, err := s.ClaimFarOf(t.Context(), 1, begin, after(time.Minute))
		require.NoError(t, err)
		require.Equal(t, []int64{2}, ids(next))

		require.NoError(t, s.BuryEvent(t.Context(), begin, held(a2, 2), "bad"))
		require.NoError(t, s.RetryEvents(t.Context(), []social.Event{held(b1, 2)}, after(time.Minute), true, "bad"))
		require.Equal(t, []int64{3}, ids(claimFar(t, s, 0)), "a dead event holds nobody up, one that pauses does")
		require.Equal(t, []int64{3, 4}, ids(claimFar(t, s, time.Minute)))
	})
}

func TestFarClaimIsRenewedAndResumed(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, url string) {
		ctx := t.Context()
		appendEvents(t, s, like(1, 1))
		toFar(t, s, like(1, 1))
		e := claimFar(t, s, 0)[0].Event
		require.NoError(t, s.RetryEvents(ctx, []social.Event{e}, begin, true, "once"))
		claimed := claimFar(t, s, 0)[0]
		require.Equal(t, 1, claimed.Attempts)
		e = claimed.Event

		for range 2 { // the second says nothing new
			ok, err := s.RenewClaim(ctx, e, after(time.Minute))
			require.NoError(t, err)
			require.True(t, ok)
		}
		require.Empty(t, claimFar(t, s, 59*time.Second))
		place := bytes.Repeat([]byte{0, 0xff}, 127)
		ok, err := s.SavePlace(ctx, e, place, after(2*time.Minute))
		require.NoError(t, err)
		require.True(t, ok)
		_, err = s.SavePlace(ctx, e, make([]byte, 256), after(2*time.Minute))
		require.Error(t, err)

		other := openOutbox(t, url, 2)
		resumed := claimFar(t, other, 2*time.Minute)
		require.Equal(t, []social.ClaimedEvent{{Event: held(e, e.Epoch+1), Place: place}}, resumed, "who got on begins to count anew")
		ok, err = s.RenewClaim(ctx, e, after(time.Hour))
		require.NoError(t, err)
		require.False(t, ok)
		ok, err = s.SavePlace(ctx, e, nil, after(time.Hour))
		require.NoError(t, err)
		require.False(t, ok)
		require.NoError(t, s.FinishFar(ctx, begin, e))
		require.Equal(t, []int64{1}, ids(claimFar(t, other, time.Hour)), "the stale holder finished nothing")
	})
}

func TestDeadEventsTellWhy(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, _ string) {
		appendEvents(t, s, like(1, 1), like(2, 1))
		require.NoError(t, s.BuryEvent(t.Context(), after(1), held(like(1, 1), 1), "bad \xff"+strings.Repeat("圈", 2000)))
		require.NoError(t, s.BuryEvent(t.Context(), after(time.Second), held(like(2, 1), 1), "worse 👍"))
		dead, err := s.DeadEvents(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, []social.DeadEvent{
			{Event: held(like(2, 1), 1), Attempts: 1, Reason: "worse 👍"},
			{Event: held(like(1, 1), 1), Attempts: 1, Reason: "bad ?" + strings.Repeat("圈", 995)},
		}, dead)
		stats, err := s.OutboxStats(t.Context())
		require.NoError(t, err)
		require.Equal(t, social.OutboxStats{Dead: 2}, stats)
	})
}

func TestPurgeTakesWhatIsDone(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, _ string) {
		var done []social.Event
		for id := range int64(5) {
			done = append(done, held(like(id+1, 1), 1))
		}
		appendEvents(t, s, append(done, like(6, 1), like(7, 1))...)
		require.NoError(t, s.FinishNear(t.Context(), begin, done, nil))
		require.NoError(t, s.BuryEvent(t.Context(), begin, held(like(6, 1), 1), "bad"))
		for _, want := range []struct {
			before time.Time
			purged int
		}{{begin, 0}, {after(time.Millisecond), 3}, {after(time.Hour), 2}, {after(time.Hour), 0}} {
			n, err := s.PurgeEvents(t.Context(), want.before, 3)
			require.NoError(t, err)
			require.Equal(t, want.purged, n)
		}
		stats, err := s.OutboxStats(t.Context())
		require.NoError(t, err)
		require.Equal(t, social.OutboxStats{Near: 1, Dead: 1, OldestNear: 7}, stats)
	})
}

func TestSixWorkersClaimEachEventOnce(t *testing.T) {
	const events, workers = 2000, 6
	eachOutbox(t, 0, func(t *testing.T, s *sqlstore.Store, url string) {
		var all []social.Event
		for id := range int64(events) {
			all = append(all, like(id+1, id%50))
		}
		appendEvents(t, s, all...)
		var mu sync.Mutex
		seen := map[social.EventID]int{}
		var running sync.WaitGroup
		errs := make([]error, workers)
		// Two workers of each of three processes.
		stores := []*sqlstore.Store{openOutbox(t, url, 1), openOutbox(t, url, 2), openOutbox(t, url, 3)}
		for w := range workers {
			running.Go(func() { errs[w] = claimAll(t.Context(), stores[w%3], &mu, seen, events) })
		}
		running.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		require.Len(t, seen, events)
		for id, n := range seen {
			require.Equal(t, 1, n, "event %d", id)
		}
	})
}

// claimAll claims until all events were claimed by someone. A claim that found others ahead of it
// may be empty before the end.
func claimAll(ctx context.Context, s *sqlstore.Store, mu *sync.Mutex, seen map[social.EventID]int, events int) error {
	for range events {
		claimed, err := s.ClaimNear(ctx, begin, after(time.Hour), 20)
		if err != nil && social.CodeOf(err) != social.CodeUnavailable {
			return err
		}
		mu.Lock()
		for _, c := range claimed {
			seen[c.ID]++
		}
		all := len(seen) == events
		mu.Unlock()
		if all {
			return nil
		}
	}
	return fmt.Errorf("the events were not all claimed")
}
