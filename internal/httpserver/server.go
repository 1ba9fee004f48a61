// Package httpserver serves the GraphQL API over HTTP, with its limits, its playground, and the
// endpoints that operators look at.
package httpserver

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/prometheus/client_golang/prometheus"

	"circle/internal/social"
)

// Times within which a client must do its part. A request's whole head and body arrive within
// readTimeout, and its answer is taken within writeTimeout after the head; transports that stream
// lift both through http.ResponseController.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 45 * time.Second
	idleTimeout       = 90 * time.Second
	maxHeaderBytes    = 16 << 10
)

// Config says how to serve.
type Config struct {
	// Addr is the host:port that the listener given to Serve is on.
	Addr string
	// AllowedOrigins are the origins whose pages may call, each exact: scheme, host and port.
	AllowedOrigins []string
	// Production turns introspection and the playground off.
	Production bool
	// RateLimits turns the rate limits on.
	RateLimits bool
}

// Deps are what the server works with. All are required but Extensions and Playground.
type Deps struct {
	Schema graphql.ExecutableSchema
	// Authenticate tells who sends this Authorization header; its errors refuse the request. Streams
	// ask again every second, so a token that is known must be checked without a trip.
	Authenticate func(ctx context.Context, authorizationHeader string) (social.Viewer, error)
	// Ready fails while requests can't be answered.
	Ready func(ctx context.Context) error
	// Present gives an error its code; a missing code counts as INTERNAL.
	Present graphql.ErrorPresenterFunc
	// Recover logs what a resolver or handler panicked with and makes an error of it.
	Recover graphql.RecoverFunc
	// Extensions are added to the GraphQL handler behind the server's own limits.
	Extensions []graphql.HandlerExtension
	// Playground holds index.html and what it needs.
	Playground fs.FS
	Metrics    *prometheus.Registry
	Log        *slog.Logger
	Now        func() time.Time
}

// Server is the HTTP server.
type Server struct {
	config   Config
	deps     Deps
	present  graphql.ErrorPresenterFunc
	limits   *rateLimits
	metrics  *metrics
	post     post
	sockets  sockets
	streams  *streams
	times    streamTimes
	http     *http.Server
	draining atomic.Bool
}

// New makes a server that is not yet listening. It registers its metrics, and those of the process
// and of Go, so a registry serves one server.
func New(config Config, deps Deps) *Server {
	s := &Server{
		config: config, deps: deps,
		present: presenter(deps.Present), metrics: newMetrics(deps.Metrics),
		streams: newStreams(), times: defaultTimes,
	}
	s.sockets = sockets{s}
	if config.RateLimits {
		s.limits = newRateLimits(deps.Now)
	}
	s.post = post{present: s.present, timeout: requestTimeout}
	s.http = &http.Server{
		Addr:              config.Addr,
		Handler:           s.routes(),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(deps.Log.Handler(), slog.LevelDebug),
	}
	return s
}

// Handler serves all routes.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Serve answers what comes in on ln until Shutdown, and then returns nil.
func (s *Server) Serve(ln net.Listener) error {
	if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown takes no new requests, ends all streams (sockets with 1001) and waits for what is under
// way. When ctx ends first it cuts that off, which ends their contexts, and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	s.streams.stop()
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close()
	}
	return errors.Join(err, s.streams.wait(ctx))
}

// graphql builds gqlgen's handler. All limits are its extensions, so that they hold for every
// transport.
func (s *Server) graphql() http.Handler {
	documents := newDocumentCache()
	h := handler.New(s.deps.Schema)
	h.AddTransport(s.sockets)
	h.AddTransport(events{s}) // before POST, which would take them too
	h.AddTransport(s.post)
	h.SetErrorPresenter(s.present)
	h.SetRecoverFunc(s.deps.Recover)
	h.SetQueryCache(documents)
	h.SetValidationRulesFn(validationRules(!s.config.Production))
	h.SetDisableSuggestion(true)
	h.SetParserTokenLimit(MaxTokens)
	h.Use(documentLimits{accepted: documents})
	if !s.config.Production {
		h.Use(extension.Introspection{})
	}
	h.Use(operationCost{lists: measureIntrospection(s.deps.Schema.Schema())})
	if s.limits != nil {
		h.Use(s.limits)
	}
	for _, more := range s.deps.Extensions {
		h.Use(more)
	}
	return h
}
