package outbox

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"circle/internal/social"
)

// The stages as labels of metrics and in logs.
const (
	stageInline = "inline"
	stageNear   = "near"
	stageFar    = "far"
)

// purgeOnce removes events that were done long enough ago, in chunks, a bounded number at a time.
func (r *Runner) purgeOnce(ctx context.Context) (more bool, err error) {
	before := r.cfg.Now().Add(-r.limits.keep)
	for range r.limits.purgeChunks {
		n, err := r.cfg.Store.PurgeEvents(ctx, before, r.limits.purgeChunk)
		if err != nil || n < r.limits.purgeChunk {
			return false, err
		}
	}
	return true, nil
}

// measureOnce brings the gauges up to date.
func (r *Runner) measureOnce(ctx context.Context) (more bool, err error) {
	stats, err := r.cfg.Store.OutboxStats(ctx)
	if err != nil {
		return false, err
	}
	age := func(oldest social.EventID) float64 {
		if oldest == 0 {
			return 0
		}
		return max(0, r.cfg.Now().Sub(oldest.Time()).Seconds())
	}
	r.metrics.pending.WithLabelValues(stageNear).Set(float64(stats.Near))
	r.metrics.pending.WithLabelValues(stageFar).Set(float64(stats.Far))
	r.metrics.buried.Set(float64(stats.Dead))
	r.metrics.oldest.WithLabelValues(stageNear).Set(age(stats.OldestNear))
	r.metrics.oldest.WithLabelValues(stageFar).Set(age(stats.OldestFar))
	return false, nil
}

type metrics struct {
	pending, oldest   *prometheus.GaugeVec
	buried            prometheus.Gauge
	runs, fails, dead *prometheus.CounterVec
	unmarked          prometheus.Counter
	farLag            prometheus.Histogram
}

func newMetrics(registerer prometheus.Registerer) *metrics {
	const namespace, subsystem = "circle", "outbox"
	gauge := func(name, help string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}
	}
	counter := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}
	}
	stage := []string{"stage"}
	m := &metrics{
		pending:  prometheus.NewGaugeVec(gauge("pending_events", "Events that wait for a stage, in the whole deployment."), stage),
		buried:   prometheus.NewGauge(gauge("dead_events", "Events that were given up, in the whole deployment.")),
		oldest:   prometheus.NewGaugeVec(gauge("oldest_pending_seconds", "Age of the oldest event that waits for a stage."), stage),
		runs:     prometheus.NewCounterVec(counter("runs_total", "Stages run by this process, failed ones included."), stage),
		fails:    prometheus.NewCounterVec(counter("failures_total", "Stages that failed in this process."), stage),
		dead:     prometheus.NewCounterVec(counter("dead_total", "Events that this process gave up."), stage),
		unmarked: prometheus.NewCounter(counter("unmarked_total", "Inline runs that were not marked because the queue was full.")),
		farLag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "far_lag_seconds",
			Help:    "Age of events when their far stages were done, replays left out.",
			Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30, 100, 300},
		}),
	}
	if registerer != nil {
		registerer.MustRegister(m.pending, m.buried, m.oldest, m.runs, m.fails, m.dead, m.unmarked, m.farLag)
	}
	return m
}

func (m *metrics) ran(stage string, events int, err error) {
	m.runs.WithLabelValues(stage).Add(float64(events))
	if err != nil {
		m.fails.WithLabelValues(stage).Add(float64(events))
	}
}
