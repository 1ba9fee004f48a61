package httpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"circle/internal/social"
)

const (
	// MaxSocketOperations bounds the operations of a socket that run at once.
	MaxSocketOperations = 64
	// maxSocketGoroutines is higher, because operations that clients are done with take a moment to
	// end, and a client may put others into their place at once.
	maxSocketGoroutines = 2 * MaxSocketOperations
)

// operation is one that a client has subscribed to.
type operation struct {
	id  string
	ctx context.Context
	// cancel ends it.
	cancel context.CancelFunc
	// over says that the client wants to hear no more of it.
	over atomic.Bool
}

// subscribe starts an operation. A message that is wrong ends the socket, an operation that can't
// run is answered with an error.
func (s *socket) subscribe(m message) {
	if !s.acknowledged {
		s.end(endUnauthorized)
		return
	}
	params, wrong := decodeParams(m.Payload)
	if wrong != nil {
		s.end(&ending{closeBadRequest, "the payload needs a string query; operationName, variables and extensions are optional"})
		return
	}
	params.Headers = s.header
	s.count++
	id := social.RequestIDFrom(s.ctx) + "." + strconv.Itoa(s.count)
	op := &operation{id: m.ID}
	op.ctx, op.cancel = context.WithCancel(social.WithRequestID(s.ctx, id))
	switch added, full := s.add(op); {
	case full:
		s.refuseOperation(op, s.present(op.ctx, fault(social.CodeLimitExceeded,
			fmt.Sprintf("A socket runs at most %d operations at once.", MaxSocketOperations))))
		op.cancel()
	case !added:
		s.end(&ending{closeDuplicate, "Subscriber for " + m.ID + " already exists"})
		op.cancel()
	default:
		s.group.Go(func() { s.run(op, params) })
	}
}

// add notes a new operation, unless its id is in use or there are too many.
func (s *socket) add(op *operation) (added, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch _, known := s.operations[op.id]; {
	case known:
		return false, false
	case len(s.operations) >= MaxSocketOperations || s.running >= maxSocketGoroutines:
		return false, true
	}
	s.operations[op.id] = op
	s.running++
	return true, false
}

// complete ends an operation that the client is done with; its id is free at once. An id that is
// unknown belongs to one that has just completed by itself.
func (s *socket) complete(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if op := s.operations[id]; op != nil {
		op.over.Store(true)
		op.cancel()
		delete(s.operations, id)
	}
}

// run runs an operation to its end and tells the client how it ended.
func (s *socket) run(op *operation, params *graphql.RawParams) {
	ctx, done := s.metrics.begin(graphql.StartOperationTrace(op.ctx), s.deps.Now)
	defer done()
	ended := s.perform(ctx, op, params)
	s.mu.Lock()
	s.running--
	if !op.over.Load() {
		delete(s.operations, op.id)
	}
	s.mu.Unlock()
	if ended != nil {
		s.refuseOperation(op, ended...)
	} else {
		s.write(op, encodeMessage(typeComplete, op.id, nil))
	}
	op.cancel()
}

func (s *socket) perform(ctx context.Context, op *operation, params *graphql.RawParams) gqlerror.List {
	if s.limits != nil {
		if wait := s.limits.requests.take(clientFrom(ctx), 1, s.deps.Now()); wait > 0 {
			limited := gqlerror.List{s.present(ctx, rateLimited(wait))}
			s.note(ctx, limited)
			return limited
		}
	}
	viewer, err := s.viewer(ctx, s.authorization)
	if err != nil {
		if refuses(err) {
			s.end(endForbidden)
		}
		refused := gqlerror.List{s.present(ctx, err)}
		s.note(ctx, refused)
		return refused
	}
	return s.operate(social.WithViewer(ctx, viewer), s.exec, params, func(response *graphql.Response) bool {
		return s.write(op, encodeMessage(typeNext, op.id, encodeResponse(response)))
	})
}

// refuseOperation ends an operation with errors, which is the last that the client hears of it.
func (s *socket) refuseOperation(op *operation, errs ...*gqlerror.Error) {
	payload, err := json.Marshal(errs)
	if err != nil {
		panic(err) // an error that is no JSON: a bug
	}
	s.write(op, encodeMessage(typeError, op.id, payload))
}
