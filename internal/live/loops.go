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
		player, err := h.cfg.Notices.Receive(ctx)
		if err == nil {
			h.mu.Lock()
			h.touch(player)
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

// move keeps the subscription to notices at the players who listen. Only this loop changes it, so that it
// ends up at what is wanted whatever the order in which players come and go.
func (h *Hub) move(ctx context.Context) {
	held := make(map[social.PlayerID]struct{})
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.wakeMove:
		}
		begun, ceased := h.differences(held)
		if len(begun) > 0 {
			if err := h.cfg.Notices.Subscribe(ctx, begun...); err != nil {
				h.cfg.Log.DebugContext(ctx, "live notices come later", "players", len(begun), "error", err)
			}
		}
		if len(ceased) > 0 {
			if err := h.cfg.Notices.Unsubscribe(ctx, ceased...); err != nil {
				h.cfg.Log.DebugContext(ctx, "live notices not ended", "players", len(ceased), "error", err)
			}
		}
	}
}

// differences brings held up to date and tells what has changed.
func (h *Hub) differences(held map[social.PlayerID]struct{}) (begun, ceased []social.PlayerID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for player := range h.moved {
		_, is := held[player]
		switch wanted := len(h.players[player]) > 0; {
		case wanted && !is:
			begun = append(begun, player)
			held[player] = struct{}{}
		case is && !wanted:
			ceased = append(ceased, player)
			delete(held, player)
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
		case <-ticker.C:
			h.mu.Lock()
			for player := range h.players {
				h.unread[player] = struct{}{}
			}
			h.mu.Unlock()
		}
		again = nil
		for some := range slices.Chunk(h.groups(), readsPerTrip) {
			if !h.deliver(ctx, some) {
				again = time.After(pause)
			}
		}
	}
}

// group is the subscribers of a player who stand at the same place: mostly all of them.
type group struct {
	ask         social.LogAsk
	subscribers []*subscriber
}

// groups takes what is to be read.
func (h *Hub) groups() []group {
	h.mu.Lock()
	defer h.mu.Unlock()
	groups := make([]group, 0, len(h.unread))
	for player := range h.unread {
		first := len(groups)
		for _, s := range h.players[player] {
			i := slices.IndexFunc(groups[first:], func(g group) bool { return g.ask.After == s.place })
			if i < 0 {
				i = len(groups) - first
				groups = append(groups, group{ask: social.LogAsk{Player: player, After: s.place}})
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
		h.unread[asks[i].Player] = struct{}{}
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
			h.leave(g.ask.Player, s)
		}
	}
}
