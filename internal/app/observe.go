package app

import "github.com/prometheus/client_golang/prometheus"

// observer counts what the services do.
type observer struct {
	refills, pulls, asks, lacking prometheus.Counter
	fallbacks, built              *prometheus.CounterVec
}

func newObserver(registerer prometheus.Registerer) *observer {
	counter := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "circle", Name: name, Help: help}
	}
	o := &observer{
		refills:   prometheus.NewCounter(counter("home_refills_total", "Trips to timelines to fill up home pages from which entries were dropped.")),
		pulls:     prometheus.NewCounter(counter("home_pulls_total", "Home pages for which feeds of pulled authors were merged into a timeline.")),
		asks:      prometheus.NewCounter(counter("home_pull_reads_total", "Home pages for which profile lists of pulled authors were read.")),
		lacking:   prometheus.NewCounter(counter("home_pull_fallbacks_total", "Profile lists of pulled authors for which the relational store stood in.")),
		fallbacks: prometheus.NewCounterVec(counter("home_fallbacks_total", "Home pages that the relational store completed."), []string{"why"}),
		built:     prometheus.NewCounterVec(counter("windows_built_total", "Windows built from the relational store."), []string{"kind"}),
	}
	registerer.MustRegister(o.refills, o.pulls, o.asks, o.lacking, o.fallbacks, o.built)
	return o
}

// HomeRefilled implements service.Observer.
func (o *observer) HomeRefilled() { o.refills.Inc() }

// HomeFellBack implements service.Observer.
func (o *observer) HomeFellBack(lacking bool) {
	why := "beyond"
	if lacking {
		why = "lacking"
	}
	o.fallbacks.WithLabelValues(why).Inc()
}

// HomeAskedPulled implements service.Observer.
func (o *observer) HomeAskedPulled(lacking int) {
	o.asks.Inc()
	o.lacking.Add(float64(lacking))
}

// HomePulled implements service.Observer.
func (o *observer) HomePulled() { o.pulls.Inc() }

// WindowBuilt implements service.Observer.
func (o *observer) WindowBuilt(kind string) { o.built.WithLabelValues(kind).Inc() }
