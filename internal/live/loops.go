package live

import (
	"context"
	"slices"
	"time"

	"circle/internal/social"
)

// receive turns notices into reads. Notices that come while a log waits for its read are one.
func (h *Hub) receive(ctx context.Context) {
	for ctx.Err() == nil {
		log, err := h.cfg.Notices.Receive(ctx)
		if err == nil {
			h.mu.Lock()
			h.touch(log)
			h.mu.Unlock()
			continue
		}
		if ctx.Err() == nil {
			h.cfg.Log.DebugContext(ctx, "live notices not received", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// move keeps the subscription to notices at the logs that are listened to. Only this loop changes it, so
// that it ends up at what is wanted whatever the order in which listeners come and go.
func (h *Hub) move(ctx context.Context) {
	held := make(map[social.LogID]struct{})
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.wakeMove:
		}
		begun, ceased := h.differences(held)
		if len(begun) > 0 {
			if err := h.cfg.Notices.Subscribe(ctx, begun...); err != nil {
				h.cfg.Log.DebugContext(ctx, "live notices come later", "logs", len(begun), "error", err)
			}
		}
		if len(ceased) > 0 {
			if err := h.cfg.Notices.Unsubscribe(ctx, ceased...); err != nil {
				h.cfg.Log.DebugContext(ctx, "live notices not ended", "logs", len(ceased), "error", err)
			}
		}
	}
}

// differences brings held up to date and tells what has changed.
func (h *Hub) differences(held map[social.LogID]struct{}) (begun, ceased []social.LogID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for log := range h.moved {
		_, is := held[log]
		switch wanted := len(h.logs[log]) > 0; {
		case wanted && !is:
			begun = append(begun, log)
			held[log] = struct{}{}
		case is && !wanted:
			ceased = append(ceased, log)
			delete(held, log)
		}
	}
	clear(h.moved)
	return begun, ceased
}

// read delivers what came into the logs, those of which there was a notice at once, all of them now and
// then, and those that could not be read soon again. It alone moves subscribers on, so that nothing is
// delivered twice.
func (h *Hub) read(ctx context.Context) {
	ticker := time.NewTicker(h.cfg.Poll)
	defer ticker.Stop()
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.wakeRead:
		case <-again:
		case <-h.cfg.Ended:
			h.touchAll()
		case <-ticker.C:
			h.touchAll()
		}
		again = nil
		for some := range slices.Chunk(h.groups(), readsPerTrip) {
			if !h.deliver(ctx, some) {
				again = time.After(pause)
			}
		}
	}
}

// touchAll has all logs read.
func (h *Hub) touchAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for log := range h.logs {
		h.unread[log] = struct{}{}
	}
}

// group is the subscribers of a log who stand at the same place: mostly all of them.
type group struct {
	ask         social.LogAsk
	subscribers []*subscriber
}

// groups takes what is to be read.
func (h *Hub) groups() []group {
	h.mu.Lock()
	defer h.mu.Unlock()
	groups := make([]group, 0, len(h.unread))
	for log := range h.unread {
		first := len(groups)
		for _, s := range h.logs[log] {
			i := slices.IndexFunc(groups[first:], func(g group) bool { return g.ask.After == s.place })
			if i < 0 {
				i = len(groups) - first
				groups = append(groups, group{ask: social.LogAsk{Log: log, After: s.place}})
			}
			groups[first+i].subscribers = append(groups[first+i].subscribers, s)
		}
	}
	clear(h.unread)
	return groups
}

// deliver reads the groups' logs; false when some of them are still to be read.
func (h *Hub) deliver(ctx context.Context, groups []group) bool {
	asks := make([]social.LogAsk, len(groups))
	for i, g := range groups {
		asks[i] = g.ask
	}
	reads, err := h.cfg.Logs.Read(ctx, asks)
	if err != nil && ctx.Err() == nil {
		h.metrics.failures.Inc()
		h.cfg.Log.DebugContext(ctx, "live logs not read", "logs", len(asks), "error", err)
	}
	whole := true
	for i, read := range reads {
		if read.End != (social.LogPlace{}) {
			h.tell(groups[i], read)
			continue
		}
		whole = false
		h.mu.Lock()
		h.unread[asks[i].Log] = struct{}{}
		h.mu.Unlock()
	}
	return whole
}

func (h *Hub) tell(g group, read social.LogRead) {
	news := items(read)
	for _, s := range g.subscribers {
		h.metrics.delivered(read)
		s.place = read.End
		if !s.push(news) {
			h.metrics.slow.Inc()
			h.leave(g.ask.Log, s)
		}
	}
}
