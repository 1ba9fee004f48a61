package httpserver

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/vektah/gqlparser/v2/ast"

	"circle/internal/social"
)

// metrics are about GraphQL requests. No label holds anything that a client wrote.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	// What follows is about streams: sockets and those of server-sent events.
	streams       *prometheus.GaugeVec
	subscriptions prometheus.Gauge
	slowConsumers prometheus.Counter
	closes        *prometheus.CounterVec
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
			Help: "Queries and mutations being answered.",
		}),
		streams: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "circle_streams_open",
			Help: "Open connections that stream, by transport.",
		}, []string{"transport"}),
		subscriptions: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "circle_stream_subscriptions",
			Help: "Running subscriptions.",
		}),
		slowConsumers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "circle_stream_slow_consumers_total",
			Help: "Subscriptions that ended because their client did not keep up.",
		}),
		closes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "circle_stream_closes_total",
			Help: "Sockets that ended, by the code that the server closed them with, or by what the client did.",
		}, []string{"code"}),
	}
	registry.MustRegister(m.requests, m.duration, m.inFlight, m.streams, m.subscriptions, m.slowConsumers, m.closes,
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

// begin makes the context of a request, which holds its outcome, and counts and times the request
// when it is done. How long subscriptions last is no measure of the server.
func (m *metrics) begin(ctx context.Context, now func() time.Time) (_ context.Context, done func()) {
	m.inFlight.Inc()
	start, result := now(), &outcome{}
	return context.WithValue(ctx, outcomeKey{}, result), func() {
		m.inFlight.Dec()
		operation, code := result.labels()
		m.requests.WithLabelValues(operation, code).Inc()
		if operation != string(ast.Subscription) {
			m.duration.WithLabelValues(operation).Observe(now().Sub(start).Seconds())
		}
	}
}

// subscribed moves a request under way from the answered to the streaming ones, until done.
func (m *metrics) subscribed() (done func()) {
	m.inFlight.Dec()
	m.subscriptions.Inc()
	return func() {
		m.subscriptions.Dec()
		m.inFlight.Inc()
	}
}

// observe counts and times what next answers.
func (m *metrics) observe(now func() time.Time, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, done := m.begin(r.Context(), now)
		defer done()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
