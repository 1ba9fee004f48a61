package auth

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// changeList keeps changes in memory and counts the queries.
type changeList struct {
	mu      sync.Mutex
	changes []social.AccessChange
	queries int
	err     error
}

func (l *changeList) AccessChanges(_ context.Context, from time.Time, after *social.AccessChange, limit int) ([]social.AccessChange, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queries++
	order := func(a, b social.AccessChange) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) }
	var page []social.AccessChange
	for _, c := range slices.SortedFunc(slices.Values(l.changes), order) {
		if !c.At.Before(from) && (after == nil || order(c, *after) > 0) && len(page) < limit {
			page = append(page, c)
		}
	}
	return page, l.err
}

func (l *changeList) add(changes ...social.AccessChange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = append(l.changes, changes...)
}

func (l *changeList) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func ended(id int64, session social.SessionID, at time.Time) social.AccessChange {
	return social.AccessChange{ID: id, Kind: social.AccessEnded, Session: session, At: at}
}

func newChanges(list *changeList) (*Changes, *clock) {
	clock := newClock()
	return NewChanges(list, clock.Now, slog.New(slog.DiscardHandler)), clock
}

func over(c *Changes, session social.SessionID) bool {
	_, err := c.apply(social.Viewer{Player: 1, Session: session})
	return err != nil
}

func TestChangesKnowWhatWasEndedBeforeTheStart(t *testing.T) {
	list := &changeList{}
	c, clock := newChanges(list)
	list.add(ended(1, 5, clock.Now().Add(-AccessTokenLife)))
	require.NoError(t, c.RunOnce(t.Context()))
	require.True(t, over(c, 5))
	require.False(t, over(c, 6))
}

func TestChangesThatBecomeVisibleLateAreRead(t *testing.T) {
	list := &changeList{}
	c, clock := newChanges(list)
	began := clock.Now()
	clock.move(time.Second)
	list.add(ended(20, 5, clock.Now()))
	require.NoError(t, c.RunOnce(t.Context()))
	clock.move(20 * time.Second)
	list.add(ended(10, 6, began)) // a smaller id and an earlier time, but committed later
	require.NoError(t, c.RunOnce(t.Context()))
	require.True(t, over(c, 5))
	require.True(t, over(c, 6))
}

func TestAReadingThatFailsIsMadeUpFor(t *testing.T) {
	list := &changeList{}
	c, clock := newChanges(list)
	require.NoError(t, c.RunOnce(t.Context()))
	list.fail(errors.New("away"))
	list.add(ended(1, 5, clock.Now()))
	clock.move(5 * time.Minute)
	require.Error(t, c.RunOnce(t.Context()))
	list.fail(nil)
	require.NoError(t, c.RunOnce(t.Context()))
	require.True(t, over(c, 5))
}

func TestManyChangesAreReadInPages(t *testing.T) {
	list := &changeList{}
	c, clock := newChanges(list)
	for i := range 2*changePage + 1 {
		// Many of them within the same millisecond, so that a page ends amid it.
		list.add(ended(int64(i+1), social.SessionID(i+1), clock.Now().Add(time.Duration(i/700)*time.Millisecond)))
	}
	require.NoError(t, c.RunOnce(t.Context()))
	require.Equal(t, 3, list.queries)
	require.Len(t, c.ended, 2*changePage+1)
}

func TestChangesAreForgottenOnceNoTokenIsLeft(t *testing.T) {
	list := &changeList{}
	c, clock := newChanges(list)
	list.add(ended(1, 5, clock.Now()), social.AccessChange{ID: 2, Kind: social.AccessRole, Player: 1, Role: social.RoleAdmin, At: clock.Now()})
	require.NoError(t, c.RunOnce(t.Context()))
	clock.move(AccessTokenLife)
	require.NoError(t, c.RunOnce(t.Context()))
	require.True(t, over(c, 5))
	require.Len(t, c.roles, 1)
	clock.move(2 * changeOverlap)
	require.NoError(t, c.RunOnce(t.Context()))
	require.Empty(t, c.ended)
	require.Empty(t, c.roles)
}

func TestWatchReadsEverySecondUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := &changeList{}
		var log bytes.Buffer
		c := NewChanges(list, time.Now, slog.New(slog.NewTextHandler(&log, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		var watch sync.WaitGroup
		watch.Go(func() { c.Watch(ctx) })

		list.add(ended(1, 5, time.Now()))
		time.Sleep(WatchInterval)
		synctest.Wait()
		require.True(t, over(c, 5))

		list.fail(errors.New("away"))
		time.Sleep(5 * WatchInterval)
		synctest.Wait()
		require.Equal(t, 1, strings.Count(log.String(), "\n"), "one line for a row of failures")
		list.fail(nil)
		list.add(ended(2, 6, time.Now()))
		time.Sleep(WatchInterval)
		synctest.Wait()
		require.True(t, over(c, 6))
		cancel()
		watch.Wait()
	})
}
