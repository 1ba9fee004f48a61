package httpserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/gorilla/websocket"

	"circle/internal/social"
)

// sockets is the transport graphql-transport-ws.
type sockets struct{ *Server }

var _ graphql.Transport = sockets{}

// Supports says whether the request wants to become a websocket.
func (sockets) Supports(r *http.Request) bool {
	return r.Method == http.MethodGet && websocket.IsWebSocketUpgrade(r)
}

// Do serves a socket until it is closed and all that it started is done.
func (t sockets) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	switch {
	case !t.welcome(r):
		t.turnAway(w, r, http.StatusForbidden, "Pages of this origin may not call.")
		return
	case !slices.Contains(websocket.Subprotocols(r), subprotocol):
		t.turnAway(w, r, http.StatusBadRequest, "Sockets speak graphql-transport-ws.")
		return
	}
	st := t.streams.enter(r.Context())
	if st == nil {
		t.refuse(w, r, social.Unavailable(endStopping))
		return
	}
	defer t.streams.leave(st)
	upgrader := websocket.Upgrader{
		HandshakeTimeout: t.times.write,
		Subprotocols:     []string{subprotocol},
		CheckOrigin:      func(*http.Request) bool { return true }, // see welcome
		Error: func(w http.ResponseWriter, r *http.Request, status int, reason error) {
			t.turnAway(w, r, status, reason.Error())
		},
	}
	id := http.Header{headerRequestID: {social.RequestIDFrom(r.Context())}}
	conn, err := upgrader.Upgrade(w, r, id)
	if err != nil {
		return // Upgrade has answered
	}
	open := t.metrics.streams.WithLabelValues("websocket")
	open.Inc()
	defer open.Dec()
	s := &socket{
		Server: t.Server, stream: st, conn: conn, exec: exec, header: r.Header,
		operations: map[string]*operation{}, readDone: make(chan struct{}), closed: make(chan struct{}),
	}
	s.serve()
}

// welcome checks where the page that opens a socket comes from, since browsers let any page open
// one: this server itself, or an allowed origin, exact to the letter. Without an Origin it is no
// browser.
func (t sockets) welcome(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	switch len(origins) {
	case 0:
		return true
	case 1:
		origin := origins[0]
		return origin == "http://"+r.Host || origin == "https://"+r.Host || slices.Contains(t.config.AllowedOrigins, origin)
	}
	return false
}

// socket is one connection. It has a goroutine that reads, one that ticks, and one per operation;
// each ends with ctx, because whoever ends that closes the connection.
type socket struct {
	*Server
	*stream
	conn   *websocket.Conn
	exec   graphql.GraphExecutor
	header http.Header

	// Those are the reader's: what came of connection_init, and how many operations there were.
	acknowledged bool
	count        int
	// authorization is set before the socket is acknowledged and never changes.
	authorization string

	// writing is held around each write.
	writing sync.Mutex

	mu sync.Mutex
	// operations are those that the client knows as running, by its ids.
	operations map[string]*operation
	// running counts the operations' goroutines, those too whose client is done with them.
	running int

	// group is the ticker and the operations.
	group            sync.WaitGroup
	readDone, closed chan struct{}
}

func (s *socket) serve() {
	context.AfterFunc(s.ctx, s.close)
	s.read()
	close(s.readDone)
	<-s.closed
	s.group.Wait()
}

// close tells the client why ctx ended and waits a moment for its answer, without which the reason
// might get lost with the connection.
func (s *socket) close() {
	defer close(s.closed)
	defer func() { _ = s.conn.Close() }()
	why := endGone
	errors.As(context.Cause(s.ctx), &why)
	s.metrics.closes.WithLabelValues(why.label()).Inc()
	if why.code == 0 {
		return
	}
	reason := why.reason[:min(len(why.reason), maxCloseReasonLength)]
	frame := websocket.FormatCloseMessage(why.code, reason)
	// Deadlines of connections are the wall clock's.
	if s.conn.WriteControl(websocket.CloseMessage, frame, time.Now().Add(s.times.goodbye)) != nil {
		return
	}
	select {
	case <-s.readDone:
	case <-time.After(s.times.goodbye):
	}
}

// tick pings the client and looks after its token.
func (s *socket) tick() {
	ping, check := time.NewTicker(s.times.ping), time.NewTicker(s.times.check)
	defer ping.Stop()
	defer check.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ping.C:
			s.control(websocket.PingMessage, nil)
		case <-check.C:
			if s.lapsed(s.ctx, s.authorization) {
				s.end(endForbidden)
			}
		}
	}
}

// write sends a message of an operation, or of none, unless the client is done with the operation.
// It takes at most the time that a write has; then the socket ends.
func (s *socket) write(op *operation, message []byte) bool {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.ctx.Err() != nil || op != nil && op.over.Load() {
		return false
	}
	_ = s.conn.SetWriteDeadline(time.Now().Add(s.times.write))
	return s.written(s.conn.WriteMessage(websocket.TextMessage, message))
}

func (s *socket) control(kind int, data []byte) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.written(s.conn.WriteControl(kind, data, time.Now().Add(s.times.write)))
}

func (s *socket) written(err error) bool {
	var network net.Error
	switch {
	case err == nil:
		return true
	case errors.Is(err, websocket.ErrCloseSent): // as the answer to the client's
		s.end(endPeer)
	case errors.As(err, &network) && network.Timeout():
		s.end(endStalled)
	default:
		s.end(endGone)
	}
	return false
}
