package httpserver

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"circle/internal/social"
)

const mediaEvents = "text/event-stream"

// events is the transport of server-sent events: GraphQL over SSE in its mode of distinct
// connections, where each POST is one operation and its answer the stream.
type events struct{ *Server }

var _ graphql.Transport = events{}

// Supports says whether the request is a POST with JSON that wants a stream of events rather than
// JSON: some clients list all that they can read.
func (t events) Supports(r *http.Request) bool {
	if !t.post.Supports(r) {
		return false
	}
	for accept := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		switch mediaType, _, _ := mime.ParseMediaType(accept); mediaType {
		case mediaEvents:
			return true
		case mediaJSON, mediaResponse:
			return false
		}
	}
	return false
}

// Do streams one operation. A request that can't be read is answered as any other POST; from there
// on all errors are events.
func (t events) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	params, status, refused := readParams(w, r)
	if refused != nil {
		writeError(r.Context(), w, responseType(r), status, t.present(r.Context(), refused))
		return
	}
	st := t.streams.enter(r.Context())
	if st == nil {
		t.refuse(w, r, social.Unavailable(endStopping))
		return
	}
	defer t.streams.leave(st)
	open := t.metrics.streams.WithLabelValues("sse")
	open.Inc()
	defer open.Dec()
	s := &eventStream{Server: t.Server, stream: st, w: w, control: http.NewResponseController(w)}
	s.begin()
	var ticking sync.WaitGroup
	ticking.Go(func() { s.tick(r.Header.Get("Authorization")) })
	ended := t.operate(s.ctx, exec, params, s.next)
	s.finish(ended)
	s.end(nil)
	ticking.Wait()
}

// eventStream is the answer to one request.
type eventStream struct {
	*Server
	*stream
	w       http.ResponseWriter
	control *http.ResponseController
	writing sync.Mutex
}

func (s *eventStream) begin() {
	_ = s.control.SetReadDeadline(time.Time{}) // nothing more is to be read
	header := s.w.Header()
	header.Set("Content-Type", mediaEvents)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // or a proxy keeps events until it has enough of them
	s.w.WriteHeader(http.StatusOK)
	s.write([]byte(":\n\n"))
}

// tick sends comments and looks after the client's token.
func (s *eventStream) tick(authorization string) {
	comment, check := time.NewTicker(s.times.comment), time.NewTicker(s.times.check)
	defer comment.Stop()
	defer check.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-comment.C:
			s.write([]byte(":\n\n"))
		case <-check.C:
			if s.lapsed(s.ctx, authorization) {
				s.end(endForbidden)
			}
		}
	}
}

func (s *eventStream) next(response *graphql.Response) bool {
	// Line ends are space between JSON's tokens, but would cut the event in two.
	data := bytes.ReplaceAll(encodeResponse(response), []byte("\n"), []byte(" "))
	event := make([]byte, 0, len(data)+32)
	event = append(event, "event: next\ndata: "...)
	return s.write(append(append(event, data...), "\n\n"...))
}

// finish tells how the operation ended. A stream that breaks off without that was cut, and the
// client may come again.
func (s *eventStream) finish(ended gqlerror.List) {
	switch cause := context.Cause(s.ctx); {
	case cause == nil:
	case errors.Is(cause, endForbidden):
		ended = gqlerror.List{s.present(s.ctx, social.Fail(social.CodeUnauthenticated, "The token is not valid any more."))}
	default:
		return
	}
	if ended == nil || s.next(&graphql.Response{Errors: ended}) {
		s.write([]byte("event: complete\ndata: \n\n"))
	}
}

// write takes at most the time that a write has; then the stream ends.
func (s *eventStream) write(event []byte) bool {
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.control.SetWriteDeadline(time.Now().Add(s.times.write))
	_, err := s.w.Write(event)
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		s.end(endStalled)
	}
	return err == nil
}
