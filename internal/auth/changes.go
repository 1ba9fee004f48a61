package auth

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"circle/internal/social"
)

const (
	// WatchInterval is how often a process reads the changes that others made.
	WatchInterval = time.Second
	// changeOverlap is how far each reading goes back behind the one before: changes become visible
	// later than, and not in the order of, the times they bear, and servers' clocks differ.
	changeOverlap = 30 * time.Second
	// changePage bounds the rows of one query.
	changePage = 1000
)

// ChangeStore keeps what became of sessions and roles while access tokens are good.
type ChangeStore interface {
	// AccessChanges reads at most limit changes at or after from, in the order of time and id, behind
	// the change after unless that is nil.
	AccessChanges(ctx context.Context, from time.Time, after *social.AccessChange, limit int) ([]social.AccessChange, error)
}

// Changes knows the sessions that ended, and the roles and suspensions that changed, within the life of an
// access token. It holds no more than those: logging out takes a login, which takes a password hash, so they
// are some ten thousand at most.
type Changes struct {
	store ChangeStore
	now   func() time.Time
	log   *slog.Logger

	reading sync.Mutex // one reading at a time, so that an older answer never follows a newer one
	from    time.Time  // where the next reading begins; zero before the first

	mu    sync.RWMutex
	ended map[social.SessionID]time.Time // the values are when they may be forgotten
	roles map[social.PlayerID]changedRole
	// suspensions are of players who were suspended or reinstated.
	suspensions map[social.PlayerID]suspension
}

// suspension says whether a player is suspended, and that all sessions up to one are over.
type suspension struct {
	suspended bool
	cut       social.SessionID
	forget    time.Time
}

type changedRole struct {
	role   social.Role
	forget time.Time
}

// NewChanges makes an empty table. Call RunOnce before tokens are checked, and Watch from then on.
func NewChanges(store ChangeStore, now func() time.Time, log *slog.Logger) *Changes {
	return &Changes{
		store: store, now: now, log: log,
		ended: map[social.SessionID]time.Time{}, roles: map[social.PlayerID]changedRole{},
		suspensions: map[social.PlayerID]suspension{},
	}
}

// Watch calls RunOnce every WatchInterval until ctx ends. A reading that fails is made up for by the
// next one; meanwhile tokens are checked against what is known.
func (c *Changes) Watch(ctx context.Context) {
	ticker := time.NewTicker(WatchInterval)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := c.RunOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			c.log.WarnContext(ctx, "can't read ended sessions and changed roles; tokens that others ended are good until this works again", "error", err)
		}
		failing = err != nil
	}
}

// RunOnce reads what changed since the last reading that succeeded and forgets what no token that is
// still good can ask for.
func (c *Changes) RunOnce(ctx context.Context) error {
	c.reading.Lock()
	defer c.reading.Unlock()
	start := c.now()
	from := c.from
	if oldest := start.Add(-AccessTokenLife - changeOverlap); from.Before(oldest) {
		from = oldest
	}
	var after *social.AccessChange
	for {
		page, err := c.store.AccessChanges(ctx, from, after, changePage)
		if err != nil {
			return fmt.Errorf("read access changes: %w", err)
		}
		c.note(page)
		if len(page) < changePage {
			break
		}
		after = &page[len(page)-1]
	}
	c.forget(start)
	c.from = start.Add(-changeOverlap)
	return nil
}

func (c *Changes) note(page []social.AccessChange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, change := range page {
		forget := change.At.Add(AccessTokenLife + changeOverlap)
		switch change.Kind {
		case social.AccessEnded:
			c.ended[change.Session] = forget
		case social.AccessRole:
			// All rows of a player hold the role that the player had when they were read.
			c.roles[change.Player] = changedRole{role: change.Role, forget: forget}
		case social.AccessSuspension:
			cut := max(change.Session, c.suspensions[change.Player].cut)
			c.suspensions[change.Player] = suspension{suspended: change.Suspended, cut: cut, forget: forget}
		}
	}
}

func (c *Changes) forget(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for session, at := range c.ended {
		if at.Before(now) {
			delete(c.ended, session)
		}
	}
	for player, changed := range c.roles {
		if changed.forget.Before(now) {
			delete(c.roles, player)
		}
	}
	for player, of := range c.suspensions {
		if of.forget.Before(now) {
			delete(c.suspensions, player)
		}
	}
}

// apply gives the viewer the present role; UNAUTHENTICATED when the session is over.
func (c *Changes) apply(v social.Viewer) (social.Viewer, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if _, over := c.ended[v.Session]; over {
		return social.Viewer{}, unauthenticated(errEnded)
	}
	if of := c.suspensions[v.Player]; of.suspended || v.Session != 0 && v.Session <= of.cut {
		return social.Viewer{}, unauthenticated(errEnded)
	}
	if changed, ok := c.roles[v.Player]; ok {
		v.Role = changed.role
	}
	return v, nil
}
