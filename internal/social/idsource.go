package social

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

// ErrNoIDs says that identifiers can't be made now: the node's lease is over, or the clock went
// back further than it is worth waiting for.
var ErrNoIDs = errors.New("no identifiers: the node lease is over or the clock went back")

// maxClockWait is how long Next waits for a clock that went back, or for the next millisecond.
const maxClockWait = time.Second

// IDSource makes identifiers, each larger than all that it made before. It is safe for use by
// many goroutines.
type IDSource struct {
	node int64
	now  func() time.Time

	mu    sync.Mutex
	last  int64 // the last millisecond used
	seq   int64
	until int64 // the lease's end in milliseconds; identifiers at or after it are refused
}

// NewIDSource makes identifiers of the given node (0 to MaxNode), all of them later than after and
// none of them at or after until, which Extend moves on.
func NewIDSource(node int, now func() time.Time, after, until time.Time) *IDSource {
	return &IDSource{
		node:  int64(node) & MaxNode,
		now:   now,
		last:  after.Sub(Epoch).Milliseconds(),
		seq:   maxSeq,
		until: until.Sub(Epoch).Milliseconds(),
	}
}

// Extend moves the end of the lease.
func (s *IDSource) Extend(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = max(s.until, until.Sub(Epoch).Milliseconds())
}

// Close ends the lease at once; it must not be extended afterwards. No identifier of a later
// millisecond than the one returned was made.
func (s *IDSource) Close() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = math.MinInt64
	return Epoch.Add(time.Duration(s.last) * time.Millisecond)
}

// Next makes an identifier. It waits for the clock when 128 identifiers were made in one
// millisecond or the clock stands behind the last one; it fails with ErrNoIDs when that takes
// longer than a second or the lease is over, and with the context's error when that ends first.
func (s *IDSource) Next(ctx context.Context) (int64, error) {
	for {
		id, wait, err := s.try()
		if wait == 0 || err != nil {
			return id, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(wait):
		}
	}
}

func (s *IDSource) try() (id int64, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ms := s.now().Sub(Epoch).Milliseconds()
	if ms >= s.until {
		return 0, 0, ErrNoIDs
	}
	switch {
	case ms > s.last:
		s.last, s.seq = ms, 0
	case ms == s.last && s.seq < maxSeq:
		s.seq++
	default:
		wait = time.Duration(s.last-ms+1) * time.Millisecond
		if wait > maxClockWait {
			return 0, 0, ErrNoIDs
		}
		return 0, wait, nil
	}
	return s.last<<timeShift | s.node<<nodeShift | s.seq, 0, nil
}

// NodeLease says who may make identifiers of a node.
type NodeLease struct {
	Node int
	// Owner is the holder, 0 when there is none.
	Owner int64
	// Until is the instant after which no identifier of the node was or will be made under the
	// lease. It outlives its owner: the identifiers of the next one are later.
	Until time.Time
}
