package fence

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// repair makes good what is amiss with roles that no other server repairs, and tells which.
func (g *Guard) repair(ctx context.Context, faults map[string]fault, now time.Time) (repaired []string, err error) {
	var lost, fresh, behind []string
	since := now
	for _, role := range slices.Sorted(maps.Keys(faults)) {
		taken, err := g.cfg.Store.TakeRepair(ctx, role, now, now.Add(turn))
		if err != nil {
			return nil, err
		}
		f := faults[role]
		switch {
		case !taken:
		case f.fresh:
			fresh = append(fresh, role)
		case f.lost:
			lost = append(lost, role)
		default:
			behind = append(behind, role)
			if f.since.Before(since) {
				since = f.since
			}
		}
	}
	if repaired = slices.Concat(lost, fresh, behind); len(repaired) == 0 {
		return nil, nil
	}
	g.tell(ctx, lost, fresh, behind, since)
	if err := g.raiseEpochs(ctx, append(slices.Concat(lost, fresh), logsOf(repaired)...)); err != nil {
		return nil, err
	}
	if err := g.replay(ctx, behind, since, mostEvents); err != nil {
		return nil, err
	}
	if again := slices.Concat(lost, behind); len(again) > 0 {
		g.again = append(g.again, repeat{at: now.Add(repeatAfter), since: now.Add(-slack), roles: again})
	}
	return repaired, nil
}

// tell counts and logs what is about to be done. Nothing is wrong where no fence was noted yet.
func (g *Guard) tell(ctx context.Context, lost, fresh, behind []string, since time.Time) {
	for _, role := range slices.Concat(lost, behind) {
		g.metrics.back.WithLabelValues(role).Inc()
	}
	if len(fresh) > 0 {
		g.cfg.Log.InfoContext(ctx, "no fence was noted yet, what redis holds counts as absent", "roles", fresh)
	}
	if len(lost) > 0 {
		g.cfg.Log.WarnContext(ctx, "redis went back in time too far to run events again, what it holds counts as absent", "roles", lost)
	}
	if len(behind) > 0 {
		g.cfg.Log.WarnContext(ctx, "redis went back in time or is another server, running events again", "roles", behind, "since", since)
	}
}

// repeat runs events again where a repair is some seconds old.
func (g *Guard) repeat(ctx context.Context) error {
	for len(g.again) > 0 && !g.again[0].at.After(g.cfg.Now()) {
		// What was written into logs of the old primary is lost too.
		if err := g.raiseEpochs(ctx, logsOf(g.again[0].roles)); err != nil {
			return err
		}
		if err := g.replay(ctx, g.again[0].roles, g.again[0].since, mostAgain); err != nil {
			return err
		}
		g.again = g.again[1:]
	}
	return nil
}

// replay runs the events again that ended since then. Where they are more than most, the roles' epochs
// rise.
func (g *Guard) replay(ctx context.Context, roles []string, since time.Time, most int) error {
	if len(roles) == 0 {
		return nil
	}
	n, whole, err := g.cfg.Store.ReplayEvents(ctx, g.cfg.Now(), since, most)
	g.metrics.replayed.Add(float64(n))
	if err != nil || whole {
		return err
	}
	g.cfg.Log.WarnContext(ctx, "too many events to run again, all that redis holds counts as absent", "roles", roles, "since", since)
	return g.raiseEpochs(ctx, roles)
}

// logsOf is the epoch that ends the live logs if they are in one of the roles' deployments. Events that run
// again don't touch logs, so what a log lost is lost; whoever listened must hear of it.
func logsOf(roles []string) []string {
	if slices.Contains(roles, "feed") {
		return []string{"log"}
	}
	return nil
}

func (g *Guard) raiseEpochs(ctx context.Context, roles []string) error {
	if len(roles) == 0 {
		return nil
	}
	if err := g.cfg.Store.RaiseEpochsOf(ctx, roles); err != nil {
		return err
	}
	for _, role := range roles {
		g.metrics.epochs.WithLabelValues(role).Inc()
	}
	return nil
}

type metrics struct {
	back, epochs *prometheus.CounterVec
	replayed     prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer) metrics {
	opts := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "circle", Subsystem: "fence", Name: name, Help: help}
	}
	role := []string{"role"}
	m := metrics{
		back:     prometheus.NewCounterVec(opts("went_back_total", "Times that this process found Redis to have gone back in time."), role),
		epochs:   prometheus.NewCounterVec(opts("epochs_raised_total", "Index epochs that this process raised."), role),
		replayed: prometheus.NewCounter(opts("replayed_events_total", "Events that this process had run again.")),
	}
	if registerer != nil {
		registerer.MustRegister(m.back, m.epochs, m.replayed)
	}
	return m
}
