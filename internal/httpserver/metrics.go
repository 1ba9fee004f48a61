package httpserver

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"circle/internal/social"
)

// metrics are about GraphQL requests. No label holds anything that a client wrote.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

func newMetrics(registry *prometheus.Registry) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "circle_http_requests_total",
			Help: "GraphQL requests by type of operation and code of the first error.",
		}, []string{"operation", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "circle_http_request_duration_seconds",
			Help:    "How long GraphQL requests took, by type of operation.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "circle_http_requests_in_flight",
			Help: "GraphQL requests being answered.",
		}),
	}
	registry.MustRegister(m.requests, m.duration, m.inFlight,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// outcome is what became of a GraphQL request, filled in on the way.
type outcome struct {
	// operation is query, mutation or subscription; empty when it never came so far.
	operation string
	// code is that of the first error; empty when all went well.
	code social.Code
}

func (o outcome) labels() (operation, code string) {
	operation, code = o.operation, string(o.code)
	if operation == "" {
		operation = "none"
	}
	switch {
	case code == "":
		code = "OK"
	case !o.code.TopLevel():
		code = "OTHER"
	}
	return operation, code
}

type outcomeKey struct{}

// outcomeFrom finds the outcome to fill in; a new one that nobody reads outside a request.
func outcomeFrom(ctx context.Context) *outcome {
	if o, ok := ctx.Value(outcomeKey{}).(*outcome); ok {
		return o
	}
	return &outcome{}
}

// observe counts and times what next answers.
func (m *metrics) observe(now func() time.Time, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.inFlight.Inc()
		start, result := now(), &outcome{}
		defer func() {
			m.inFlight.Dec()
			operation, code := result.labels()
			m.requests.WithLabelValues(operation, code).Inc()
			m.duration.WithLabelValues(operation).Observe(now().Sub(start).Seconds())
		}()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), outcomeKey{}, result)))
	})
}
