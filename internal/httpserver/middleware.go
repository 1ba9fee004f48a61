package httpserver

import (
	"bufio"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"strings"

	"github.com/rs/cors"

	"circle/internal/social"
)

const (
	headerRequestID = "X-Request-Id"
	maxRequestID    = 64
)

// identified gives the request its id: the caller's if it is a sane one, else a fresh one.
func identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(headerRequestID)
		if !saneRequestID(id) {
			id = rand.Text()
		}
		w.Header().Set(headerRequestID, id)
		next.ServeHTTP(w, r.WithContext(social.WithRequestID(r.Context(), id)))
	})
}

func saneRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	return strings.IndexFunc(id, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-_.", c))
	}) < 0
}

// recorder notes the status and the size of an answer.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack hands over the connection and notes that the answer is not HTTP any more.
func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.status = http.StatusSwitchingProtocols
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// WriteHeader notes the status.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write notes the size.
func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// logged writes the access log: a line at debug, at info when the server is at fault.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec, start := &recorder{ResponseWriter: w}, s.deps.Now()
		defer func() {
			level := slog.LevelDebug
			if rec.status >= http.StatusInternalServerError {
				level = slog.LevelInfo
			}
			s.deps.Log.LogAttrs(r.Context(), level, "request",
				slog.String("requestId", social.RequestIDFrom(r.Context())),
				slog.String("method", r.Method),
				slog.String("path", shorten(r.URL.Path)),
				slog.Int("status", rec.status),
				slog.Int64("bytes", rec.bytes),
				slog.Duration("duration", s.deps.Now().Sub(start)))
		}()
		next.ServeHTTP(rec, r)
	})
}

// recovered answers INTERNAL where a handler panics. What became of the panic is for the log, and
// the recover function writes that.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			caught := recover()
			if caught == nil {
				return
			}
			if caught == http.ErrAbortHandler {
				panic(caught)
			}
			err := s.present(r.Context(), s.deps.Recover(r.Context(), caught))
			if rec, ok := w.(*recorder); !ok || rec.status == 0 {
				writeError(r.Context(), w, responseType(r), http.StatusInternalServerError, err)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// admitted bounds how often an address comes, and notes the address for later limits.
func (s *Server) admitted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := clientOf(r)
		if s.limits != nil {
			if wait := s.limits.requests.take(client, 1, s.deps.Now()); wait > 0 {
				s.refuse(w, r, rateLimited(wait))
				return
			}
		}
		next.ServeHTTP(w, r.WithContext(withClient(r.Context(), client)))
	})
}

// authenticated finds out who asks. Without an Authorization header that is nobody; with one that
// doesn't hold, the whole request fails.
func (s *Server) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		authorization := r.Header.Values("Authorization")
		if len(authorization) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		viewer, err := s.deps.Authenticate(r.Context(), authorization[0])
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(social.WithViewer(r.Context(), viewer)))
	})
}

// refuse answers a request that no operation is read from.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	presented := s.present(r.Context(), err)
	code, _ := presented.Extensions["code"].(string)
	if social.Code(code) == social.CodeUnauthenticated {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	setRetryAfter(w, err)
	writeError(r.Context(), w, responseType(r), statusOf(social.Code(code), mediaResponse), presented)
}

// crossOrigin lets pages of the given origins, exact to the letter, call from a browser. Tokens
// travel in a header, so credentials are not allowed.
func crossOrigin(origins []string, next http.Handler) http.Handler {
	allowed := make(map[string]bool, len(origins))
	for _, origin := range origins {
		allowed[origin] = true
	}
	return cors.New(cors.Options{
		AllowOriginFunc: func(origin string) bool { return allowed[origin] },
		AllowedMethods:  []string{http.MethodPost},
		AllowedHeaders:  []string{"Authorization", "Content-Type", headerRequestID},
		ExposedHeaders:  []string{headerRequestID, "Retry-After"},
		MaxAge:          600,
	}).Handler(next)
}
