package sqlstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

func TestTheLaterNoteOfAFenceStays(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, _ string) {
		feed, other := social.FenceKey{Role: "feed"}, social.FenceKey{Role: "feed", Number: 63}
		for _, c := range []struct {
			name       string
			note, want map[social.FenceKey]social.Fence
		}{
			{"none", nil, map[social.FenceKey]social.Fence{}},
			{"first", map[social.FenceKey]social.Fence{feed: {At: 5, Server: "a"}}, map[social.FenceKey]social.Fence{feed: {At: 5, Server: "a"}}},
			{
				"earlier and new", map[social.FenceKey]social.Fence{feed: {At: 4, Server: "b"}, other: {At: 1, Server: ""}},
				map[social.FenceKey]social.Fence{feed: {At: 5, Server: "a"}, other: {At: 1, Server: ""}},
			},
			{
				"later", map[social.FenceKey]social.Fence{feed: {At: 6, Server: "b"}},
				map[social.FenceKey]social.Fence{feed: {At: 6, Server: "b"}, other: {At: 1, Server: ""}},
			},
			{
				"equal", map[social.FenceKey]social.Fence{feed: {At: 6, Server: "c"}},
				map[social.FenceKey]social.Fence{feed: {At: 6, Server: "b"}, other: {At: 1, Server: ""}},
			},
		} {
			require.NoError(t, s.NoteFences(t.Context(), c.note), c.name)
			got, err := s.Fences(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.want, got, c.name)
		}
	})
}

func TestOneServerTakesARepair(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, url string) {
		require.NoError(t, s.NoteFences(t.Context(), map[social.FenceKey]social.Fence{{Role: "feed"}: {At: 5, Server: "a"}}))
		two := openOutbox(t, url, 2)
		for _, c := range []struct {
			name string
			s    *sqlstore.Store
			role string
			at   time.Duration
			want bool
		}{
			{"first", s, "feed", 0, true},
			{"at the same time", two, "feed", 0, false},
			{"before the end", two, "feed", time.Second, false},
			{"of another role, without a note", two, "detail", time.Second, true},
			{"after the end", two, "feed", 2 * time.Second, true},
			{"the first again", s, "feed", 3 * time.Second, false},
		} {
			got, err := c.s.TakeRepair(t.Context(), c.role, after(c.at), after(c.at+2*time.Second))
			require.NoError(t, err, c.name)
			require.Equal(t, c.want, got, c.name)
		}
		noted, err := s.Fences(t.Context())
		require.NoError(t, err)
		require.Equal(t, map[social.FenceKey]social.Fence{{Role: "feed"}: {At: 5, Server: "a"}, {Role: "detail"}: {}}, noted, "notes stay")
	})
}

func TestEpochsOfChosenRolesRise(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, _ string) {
		before, err := s.Epochs(t.Context())
		require.NoError(t, err)
		require.NoError(t, s.RaiseEpochsOf(t.Context(), []string{"feed", "detail"}))
		after, err := s.Epochs(t.Context())
		require.NoError(t, err)
		before["feed"]++
		before["detail"]++
		require.Equal(t, before, after)
	})
}

// TestReplay has an event in each state that there is, and runs again what ended since a time, and what
// was claimed.
func TestReplay(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, _ string) {
		ctx := t.Context()
		far := []social.EventKind{social.EventLike}
		finish := func(e social.Event, at time.Duration, far []social.EventKind) {
			t.Helper()
			e.Epoch = 1
			require.NoError(t, s.FinishNear(ctx, after(at), []social.Event{e}, far))
		}
		early, late, waits, began, running := like(1, 11), like(2, 12), like(3, 13), like(4, 14), like(5, 15)
		appendEvents(t, s, early, late, waits, began, running)
		finish(early, -10*time.Second, nil)
		finish(late, 10*time.Second, nil)
		finish(waits, -10*time.Second, far)
		finish(began, 0, far)
		var held social.Event
		for _, c := range claimFar(t, s, time.Second) {
			if c.ID == began.ID {
				held = c.Event
				continue
			}
			require.NoError(t, s.RetryEvents(ctx, []social.Event{c.Event}, after(-10*time.Second), false, ""))
		}
		saved, err := s.SavePlace(ctx, held, []byte("half"), after(time.Minute))
		require.NoError(t, err)
		require.True(t, saved)

		n, whole, err := s.ReplayEvents(ctx, after(20*time.Second), after(5*time.Second), 100)
		require.NoError(t, err)
		require.True(t, whole)
		require.Equal(t, 3, n)

		saved, err = s.SavePlace(ctx, held, []byte("more"), after(time.Minute))
		require.NoError(t, err)
		require.False(t, saved, "a far stage that runs has lost its claim")
		finish(running, 20*time.Second, nil)
		claimed := claimNear(t, s, 20*time.Second)
		require.Equal(t, []int64{2, 4, 5}, ids(claimed), "the inline run that was marked too late runs again as well")
		for _, c := range claimed {
			require.Equal(t, c.ID == late.ID, c.Replay, "event %d", c.ID)
			require.Empty(t, c.Place)
			require.NoError(t, s.FinishNear(ctx, after(21*time.Second), []social.Event{c.Event}, far))
		}
		require.Equal(t, []int64{3}, ids(claimFar(t, s, -9*time.Second)), "what waited for its far stage waits on")
		for _, c := range claimFar(t, s, 22*time.Second) {
			require.Equal(t, c.ID == late.ID, c.Replay, "event %d in the far stage", c.ID)
			require.Empty(t, c.Place, "a far stage begins anew")
			require.NoError(t, s.FinishFar(ctx, after(22*time.Second), c.Event))
		}
		n, whole, err = s.ReplayEvents(ctx, after(30*time.Second), after(22*time.Second), 4)
		require.NoError(t, err)
		require.True(t, whole)
		require.Equal(t, 4, n, "done again, so it may run again; all but the early one")
	})
}

func TestReplayIsBounded(t *testing.T) {
	eachOutbox(t, 1, func(t *testing.T, s *sqlstore.Store, _ string) {
		var events []social.Event
		for i := range int64(1200) {
			events = append(events, like(i+1, i+1))
		}
		appendEvents(t, s, events...)
		for i := range events {
			events[i].Epoch = 1
		}
		require.NoError(t, s.FinishNear(t.Context(), begin, events, nil))
		n, whole, err := s.ReplayEvents(t.Context(), begin, begin, len(events)-1)
		require.NoError(t, err)
		require.False(t, whole)
		require.Zero(t, n)
		n, whole, err = s.ReplayEvents(t.Context(), begin, begin, len(events))
		require.NoError(t, err)
		require.True(t, whole)
		require.Equal(t, len(events), n)
	})
}
