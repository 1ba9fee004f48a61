package live

import (
	"github.com/prometheus/client_golang/prometheus"

	"circle/internal/social"
)

type metrics struct {
	subscribers                  prometheus.Gauge
	events, gaps, slow, failures prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer, logs func() float64) *metrics {
	const namespace, subsystem = "circle", "live"
	gauge := func(name, help string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help})
	}
	m := &metrics{
		subscribers: prometheus.NewGauge(gauge("subscribers", "Open subscriptions to live logs in this process.")),
		events:      counter("events_total", "Entries of live logs put into subscribers' queues."),
		gaps:        counter("gaps_total", "Gaps that subscribers were told of."),
		slow:        counter("slow_consumers_total", "Subscriptions ended because their events were not taken."),
		failures:    counter("read_failures_total", "Reads of live logs that failed."),
	}
	if registerer != nil {
		registerer.MustRegister(m.subscribers, m.events, m.gaps, m.slow, m.failures,
			prometheus.NewGaugeFunc(gauge("logs", "Live logs that are listened to through this process."), logs))
	}
	return m
}

// delivered counts what a subscriber is told of a read.
func (m *metrics) delivered(read social.LogRead) {
	if read.Gap {
		m.gaps.Inc()
	}
	m.events.Add(float64(len(read.Entries)))
}
