package httpserver

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"circle/internal/social"
)

// streamTimes are the times within which both ends of a stream do their part.
type streamTimes struct {
	// init is how long a socket may take to introduce itself.
	init time.Duration
	// write is how long the writing of a message may take; whoever does not read is ended by it.
	write time.Duration
	// ping is how often a socket is pinged, silence how long it may give no sign of life. A client
	// that never reads answers no ping either, so it is gone within silence.
	ping, silence time.Duration
	// comment is how often a stream of server-sent events gets a line that means nothing, so that
	// nobody on the way takes it for dead.
	comment time.Duration
	// check is how often a stream's token is checked again.
	check time.Duration
	// goodbye is how long a close frame may take to be written, and then to be answered.
	goodbye time.Duration
}

var defaultTimes = streamTimes{
	init: 10 * time.Second, write: 10 * time.Second,
	ping: 4 * time.Second, silence: 9 * time.Second, comment: 12 * time.Second,
	check: time.Second, goodbye: time.Second,
}

// Close codes of graphql-transport-ws.
const (
	closeBadRequest      = 4400
	closeUnauthorized    = 4401
	closeForbidden       = 4403
	closeInitTimeout     = 4408
	closeDuplicate       = 4409
	closeTooManyInits    = 4429
	maxCloseReasonLength = 123 // what a close frame has room for
)

// ending is why a stream ends, the cause that its context ends with.
type ending struct {
	// code is what a socket is closed with; 0 when there is nobody to tell.
	code int
	// reason is for people; of an ending without a code it is the label in the metrics.
	reason string
}

// Error is the reason.
func (e *ending) Error() string { return e.reason }

// label is one of few, whatever clients do.
func (e *ending) label() string {
	if e.code == 0 {
		return e.reason
	}
	return strconv.Itoa(e.code)
}

var (
	// endPeer: the client closed. endGone: it vanished. endStalled: it did not read.
	endPeer    = &ending{0, "client"}
	endGone    = &ending{0, "gone"}
	endStalled = &ending{0, "stalled"}

	endStopping = &ending{websocket.CloseGoingAway, "The server is stopping."}
	endTooBig   = &ending{websocket.CloseMessageTooBig, "The message is larger than 256 KiB."}
	endBusy     = &ending{websocket.CloseTryAgainLater, "Try again later"}
	// endForbidden: the token does not hold, or not any more. Clients may come back with another one
	// after 4403; after 4401 they do not.
	endForbidden    = &ending{closeForbidden, "Forbidden"}
	endUnauthorized = &ending{closeUnauthorized, "Unauthorized"}
	endInitTimeout  = &ending{closeInitTimeout, "Connection initialisation timeout"}
	endTooManyInits = &ending{closeTooManyInits, "Too many initialisation requests"}
)

// streams knows the open streams, which http.Server does not wait for or can't end.
type streams struct {
	mu       sync.Mutex
	open     map[*stream]struct{}
	stopping bool
	// idle is closed once stopping and nothing is open.
	idle chan struct{}
}

func newStreams() *streams {
	return &streams{open: map[*stream]struct{}{}, idle: make(chan struct{})}
}

// stream is one open stream. All that it does happens under ctx.
type stream struct {
	ctx context.Context
	// end ends ctx; the first cause counts.
	end context.CancelCauseFunc
}

// enter opens a stream; nil when the server is stopping. Whoever enters leaves when all the
// stream's goroutines are done.
func (s *streams) enter(ctx context.Context) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return nil
	}
	st := &stream{}
	st.ctx, st.end = context.WithCancelCause(ctx)
	s.open[st] = struct{}{}
	return st
}

func (s *streams) leave(st *stream) {
	st.end(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, st)
	if s.stopping && len(s.open) == 0 {
		close(s.idle)
	}
}

// stop ends all streams and lets nobody enter any more.
func (s *streams) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return
	}
	s.stopping = true
	for st := range s.open {
		st.end(endStopping)
	}
	if len(s.open) == 0 {
		close(s.idle)
	}
}

// wait waits, after stop, until all have left.
func (s *streams) wait(ctx context.Context) error {
	select {
	case <-s.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// viewer tells who a stream belongs to now. Without an authorization that is nobody.
func (s *Server) viewer(ctx context.Context, authorization string) (social.Viewer, error) {
	if authorization == "" {
		return social.Viewer{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.post.timeout)
	defer cancel()
	return s.deps.Authenticate(ctx, authorization)
}

// lapsed tells whether a stream's authorization does not hold any more. While that can't be told,
// the stream goes on.
func (s *Server) lapsed(ctx context.Context, authorization string) bool {
	_, err := s.viewer(ctx, authorization)
	return refuses(err)
}

// refuses tells a token that does not hold from one that can't be checked now.
func refuses(err error) bool {
	code := social.CodeOf(err)
	return code == social.CodeUnauthenticated || code == social.CodeForbidden
}
