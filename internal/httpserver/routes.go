package httpserver

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"circle/internal/social"
	"circle/web"
)

// readyTimeout bounds how long readiness may take to find out.
const readyTimeout = 2 * time.Second

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/graphql", s.api())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.deps.Metrics, promhttp.HandlerOpts{}))
	if s.deps.Playground != nil && !s.config.Production {
		mux.HandleFunc("GET /playground", s.playground)
		mux.Handle("GET /playground/", http.StripPrefix("/playground/", http.HandlerFunc(s.asset)))
		mux.Handle("GET /{$}", http.RedirectHandler("/playground", http.StatusFound))
	} else {
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
			plain(w, http.StatusOK, "Circle. The API is at /graphql.")
		})
	}
	return identified(s.logged(s.recovered(mux)))
}

// api is the GraphQL endpoint with all that stands around it.
func (s *Server) api() http.Handler {
	operations := s.graphql()
	answer := s.metrics.observe(s.deps.Now, s.admitted(s.authenticated(operations)))
	socket := s.admitted(operations) // authenticates by its first message
	return crossOrigin(s.config.AllowedOrigins, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodOptions:
			w.Header().Set("Allow", "OPTIONS, POST")
			w.WriteHeader(http.StatusNoContent)
		case s.sockets.Supports(r):
			socket.ServeHTTP(w, r)
		case r.Method != http.MethodPost:
			w.Header().Set("Allow", "OPTIONS, POST")
			s.turnAway(w, r, http.StatusMethodNotAllowed, "Send operations by POST.")
		case !s.post.Supports(r):
			s.turnAway(w, r, http.StatusUnsupportedMediaType, "Send operations as application/json in UTF-8.")
		default:
			answer.ServeHTTP(w, r)
		}
	}))
}

func (s *Server) turnAway(w http.ResponseWriter, r *http.Request, status int, message string) {
	code := social.CodeBadUserInput
	if status == http.StatusForbidden {
		code = social.CodeForbidden
	}
	err := s.present(r.Context(), fault(code, message))
	writeError(r.Context(), w, responseType(r), status, err)
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() {
		plain(w, http.StatusServiceUnavailable, "stopping")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := s.deps.Ready(ctx); err != nil {
		s.deps.Log.WarnContext(ctx, "not ready", "error", err, "requestId", social.RequestIDFrom(ctx))
		plain(w, http.StatusServiceUnavailable, "not ready")
		return
	}
	plain(w, http.StatusOK, "ready")
}

// playgroundPolicy allows what the page brings itself and nothing else; its editor sets styles.
const playgroundPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (s *Server) playground(w http.ResponseWriter, r *http.Request) {
	if !web.Ready(s.deps.Playground) {
		plain(w, http.StatusServiceUnavailable,
			"The playground's files are not built in. Run `make assets` (it needs npm), build again, and restart. The API at /graphql works without them.")
		return
	}
	w.Header().Set("Content-Security-Policy", playgroundPolicy)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeFileFS(w, r, s.deps.Playground, "index.html")
}

// asset serves a file that the page asks for; no listings, and the page only where it belongs.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	info, err := fs.Stat(s.deps.Playground, r.URL.Path)
	if err != nil || info.IsDir() || r.URL.Path == "index.html" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "max-age=3600")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeFileFS(w, r, s.deps.Playground, r.URL.Path)
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}
