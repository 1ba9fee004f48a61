// Package live brings what is written into live logs to open subscriptions. A process has one Hub, which
// reads all logs that are listened to through it: soon after each notice and, because a notice may
// get lost, every few seconds anyway.
package live

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"circle/internal/social"
)

// Logs are the live logs. Reading a log keeps it; one that is missing is begun. With an error, what
// could be read all the same is there.
type Logs interface {
	Read(ctx context.Context, asks []social.LogAsk) ([]social.LogRead, error)
}

// Notices tell that something may have come into a log. Receive tells also of each log whose
// subscription has just begun to hold, or holds again after it was broken. It ends soon after its
// context, and at once after Close.
type Notices interface {
	Subscribe(ctx context.Context, logs ...social.LogID) error
	Unsubscribe(ctx context.Context, logs ...social.LogID) error
	Receive(ctx context.Context) (social.LogID, error)
	Close() error
}

const (
	// poll is how late an event may be whose notice was lost. It is also how often logs are kept, which
	// outlive it by far.
	poll = 3 * time.Second
	// pause is how long is waited after notices could not be received, or logs not be read.
	pause = 200 * time.Millisecond
	// readsPerTrip bounds the logs that are read in one trip, so that those that come later in a large
	// round don't wait for all of it, and the embedded Redis answers in time.
	readsPerTrip = 200
)

// Config makes a Hub. Logs, Notices and Log are required.
type Config struct {
	Logs    Logs
	Notices Notices
	// Metrics, if set, is where the hub's collectors are registered.
	Metrics prometheus.Registerer
	Log     *slog.Logger
	// Ended, if set, tells that all logs have ended, so that they are read at once.
	Ended <-chan struct{}
	// Poll is how often all logs are read, notices or none; 0 means 3 s.
	Poll time.Duration
}

// Hub is the live delivery of a process. Subscribers share what there is to do per log: one
// subscription to notices, one read. It is safe for use by many goroutines.
type Hub struct {
	cfg     Config
	metrics *metrics

	mu sync.Mutex
	// logs has the subscribers of each log that is listened to.
	logs map[social.LogID][]*subscriber
	// unread are the logs to be read, moved those that somebody may have begun or ceased to listen to.
	unread, moved map[social.LogID]struct{}
	stopped       bool

	wakeRead, wakeMove chan struct{}

	stop    context.CancelFunc
	running sync.WaitGroup
}

// New makes a Hub that stands still.
func New(cfg Config) *Hub {
	if cfg.Poll == 0 {
		cfg.Poll = poll
	}
	h := &Hub{
		cfg:    cfg,
		logs:   make(map[social.LogID][]*subscriber),
		unread: make(map[social.LogID]struct{}), moved: make(map[social.LogID]struct{}),
		wakeRead: make(chan struct{}, 1), wakeMove: make(chan struct{}, 1),
	}
	h.metrics = newMetrics(cfg.Metrics, func() float64 {
		h.mu.Lock()
		defer h.mu.Unlock()
		return float64(len(h.logs))
	})
	return h
}

// Start begins to deliver. It goes on until Stop or until ctx ends. It must be called once.
func (h *Hub) Start(ctx context.Context) {
	ctx, h.stop = context.WithCancel(ctx)
	h.running.Go(func() { h.receive(ctx) })
	h.running.Go(func() { h.read(ctx) })
	h.running.Go(func() { h.move(ctx) })
}

// Stop ends all subscriptions with UNAVAILABLE, closes the notices and waits until all has ended. It fails
// when ctx ends before.
func (h *Hub) Stop(ctx context.Context) error {
	h.stop()
	err := h.cfg.Notices.Close()
	h.mu.Lock()
	h.stopped = true
	for log, subscribers := range h.logs {
		for _, s := range subscribers {
			s.finish(errStopped())
			h.metrics.subscribers.Dec()
		}
		delete(h.logs, log)
	}
	h.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.running.Wait()
	}()
	select {
	case <-done:
		return err
	case <-ctx.Done():
		return errors.Join(err, ctx.Err())
	}
}

func errStopped() error { return social.Unavailable(errors.New("live delivery has stopped")) }

// Subscribe listens to a log until ctx ends, which the caller sees to. With since, what came after
// that place is delivered first, or a gap. The first item says where the subscription begins. Next waits
// for an item; it is for one goroutine, and its errors are final: SLOW_CONSUMER, UNAVAILABLE or that of
// its context.
func (h *Hub) Subscribe(ctx context.Context, log social.LogID, since *social.LogPlace) (
	next func(context.Context) (social.LiveItem, error), err error,
) {
	ask := social.LogAsk{Log: log}
	if since != nil {
		ask.After = *since
	}
	// The log is begun or kept by this read. What comes between it and the notices' beginning to hold is
	// found by the read that Receive asks for then.
	reads, err := h.cfg.Logs.Read(ctx, []social.LogAsk{ask})
	if err != nil {
		return nil, err
	}
	s := newSubscriber(reads[0].End)
	started := social.LiveItem{Kind: social.LiveStarted, Place: reads[0].End}
	if since != nil {
		started.Place = *since
	}
	s.push(append([]social.LiveItem{started}, items(reads[0])...))
	h.metrics.delivered(reads[0])
	if !h.join(log, s) {
		return nil, errStopped()
	}
	context.AfterFunc(ctx, func() { h.leave(log, s) })
	return s.next, nil
}

func (h *Hub) join(log social.LogID, s *subscriber) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return false
	}
	h.logs[log] = append(h.logs[log], s)
	h.metrics.subscribers.Inc()
	h.change(log)
	// Others may have been told meanwhile of what came since this one's read.
	h.touch(log)
	return true
}

func (h *Hub) leave(log social.LogID, s *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.logs[log], s)
	if i < 0 {
		return
	}
	h.metrics.subscribers.Dec()
	h.logs[log] = slices.Delete(h.logs[log], i, i+1)
	if len(h.logs[log]) == 0 {
		delete(h.logs, log)
		h.change(log)
	}
}

// touch has a log read; the caller holds the lock.
func (h *Hub) touch(log social.LogID) {
	if len(h.logs[log]) > 0 {
		h.unread[log] = struct{}{}
		signal(h.wakeRead)
	}
}

// change has the subscription to a log's notices looked at; the caller holds the lock.
func (h *Hub) change(log social.LogID) {
	h.moved[log] = struct{}{}
	signal(h.wakeMove)
}

// signal wakes a loop, unless it is to wake already.
func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
