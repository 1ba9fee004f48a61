// Package fence notices when Redis went back in time: a restart from an old file, a promoted replica that
// lacks the last writes, a flush. Each primary holds fences that are raised every second to the time
// and noted in the relational store, so a fence that says less than was noted, or belongs to another
// history of the server's data, tells it. What was lost is made good by running events again, or by
// raising the index epoch, which makes all that Redis holds absent.
package fence

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"circle/internal/social"
)

// Redis holds the fences.
type Redis interface {
	// RaiseFences raises fences to at where they say no less than was noted, of the history that was
	// noted, and tells what they said before. Fences that can't be reached are absent. With at 0 it only
	// looks.
	RaiseFences(ctx context.Context, noted map[social.FenceKey]social.Fence, at int64) (map[social.FenceKey]social.Fence, error)
}

// Store keeps what was noted, the events and the epochs.
type Store interface {
	Fences(ctx context.Context) (map[social.FenceKey]social.Fence, error)
	// NoteFences lets the later of two notes stay.
	NoteFences(ctx context.Context, fences map[social.FenceKey]social.Fence) error
	// TakeRepair gives the repair of a role to one server at a time.
	TakeRepair(ctx context.Context, role string, now, until time.Time) (bool, error)
	// ReplayEvents runs all events again that ended since then; not whole when there are more than most.
	ReplayEvents(ctx context.Context, now, since time.Time, most int) (n int, whole bool, err error)
	RaiseEpochsOf(ctx context.Context, roles []string) error
}

// Interval is how often RunOnce should be called.
const Interval = time.Second

const (
	// slack is how far the clocks of two servers may stand apart.
	slack = 2 * time.Second
	// reach is how far back events can be run again: less than the 15 minutes that the outbox keeps them.
	reach = 14 * time.Minute
	// mostEvents bounds a replay to what workers run in a second or two; beyond, absence is quicker.
	// mostAgain bounds the second one, which is in no hurry.
	mostEvents, mostAgain = 5_000, 20_000
	// turn is how long other servers leave a repair to the one that took it.
	turn = 2 * time.Second
	// repeatAfter is when a repair runs events again a second time, for those of servers that still wrote
	// to the old primary during the first. One that goes on doing so after its turn came is noticed by
	// the history that it meets.
	repeatAfter = 3 * time.Second
)

// Config makes a Guard. All but Metrics are required.
type Config struct {
	Redis   Redis
	Store   Store
	Metrics prometheus.Registerer
	Now     func() time.Time
	Log     *slog.Logger
}

// Guard compares the fences. Each server has one; they don't disturb each other. It is for one
// goroutine.
type Guard struct {
	cfg     Config
	metrics metrics
	// again holds the repairs that are to run events a second time.
	again []repeat
}

type repeat struct {
	at, since time.Time
	roles     []string
}

// New makes a Guard.
func New(cfg Config) *Guard { return &Guard{cfg: cfg, metrics: newMetrics(cfg.Metrics)} }

// RunOnce raises the fences, compares what stood there with what was noted, and makes good what is
// amiss. It concludes nothing from fences that it can't reach. What fails or is cut off at any point is
// noticed again by the next run, of any server: a fence that is behind is raised last.
func (g *Guard) RunOnce(ctx context.Context) error {
	if err := g.repeat(ctx); err != nil {
		return err
	}
	noted, err := g.cfg.Store.Fences(ctx)
	if err != nil {
		return err
	}
	now := g.cfg.Now()
	latest := int64(0)
	for _, n := range noted {
		latest = max(latest, n.At)
	}
	at := latest + 1
	if now.UnixMilli() > at {
		at = now.UnixMilli()
	}
	raise := at
	if latest > now.Add(-Interval/2).UnixMilli() {
		raise = 0 // another server has just raised them
	}
	// Noted before raised: a fence says at least what was noted, as no server notes before it raises.
	found := g.raise(ctx, noted, raise)
	good, faults := judge(noted, found, now)
	repaired, err := g.repair(ctx, faults, now)
	if err != nil {
		return err
	}
	wrote := make(map[social.FenceKey]social.Fence)
	if raise != 0 {
		wrote = raised(good, found, raise)
	}
	if len(repaired) > 0 {
		behind := maps.Clone(found)
		maps.DeleteFunc(behind, func(key social.FenceKey, _ social.Fence) bool { return !slices.Contains(repaired, key.Role) })
		maps.Copy(wrote, raised(behind, g.raise(ctx, behind, at), at))
	}
	return g.cfg.Store.NoteFences(ctx, wrote)
}

// raise tells what the fences said. Redis being away is told by the breakers of its clients.
func (g *Guard) raise(ctx context.Context, noted map[social.FenceKey]social.Fence, at int64) map[social.FenceKey]social.Fence {
	found, err := g.cfg.Redis.RaiseFences(ctx, noted, at)
	if err != nil {
		g.cfg.Log.DebugContext(ctx, "fences not reached", "error", err)
	}
	return found
}

// raised are the fences that were raised to at: those that said no less than was expected.
func raised(expected, found map[social.FenceKey]social.Fence, at int64) map[social.FenceKey]social.Fence {
	wrote := make(map[social.FenceKey]social.Fence)
	for key, e := range expected {
		if f, ok := found[key]; ok && stands(e, f) {
			wrote[key] = social.Fence{At: max(at, f.At), Server: f.Server}
		}
	}
	return wrote
}

// stands says that a fence is where it was noted to be, or was raised since.
func stands(noted, found social.Fence) bool {
	return found.At >= noted.At && found.Server == noted.Server
}

// fault is what is amiss with a role.
type fault struct {
	// since is the end of what is certainly there.
	since time.Time
	// lost says that events can't make it good.
	lost bool
	// fresh says that no fence of the role was noted yet, so that nothing is known of what Redis holds.
	fresh bool
}

// judge tells which fences are as they should be, and what is amiss with which role.
func judge(noted, found map[social.FenceKey]social.Fence, now time.Time) (good map[social.FenceKey]social.Fence, faults map[string]fault) {
	good, faults = make(map[social.FenceKey]social.Fence), make(map[string]fault)
	for key, f := range found {
		n := noted[key]
		if stands(n, f) {
			good[key] = n
			continue
		}
		since := time.UnixMilli(f.At).Add(-slack)
		// A fence ahead of the clock was raised before the clock was set back: it tells no time.
		is := fault{since: since, fresh: n.At == 0, lost: n.At == 0 || now.Sub(since) > reach || since.After(now)}
		if was, known := faults[key.Role]; known {
			is.lost, is.fresh = is.lost || was.lost, is.fresh && was.fresh
			if was.since.Before(since) {
				is.since = was.since
			}
		}
		faults[key.Role] = is
	}
	return good, faults
}
