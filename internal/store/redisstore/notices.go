package redisstore

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"circle/internal/social"
)

// maxSilence is how long nothing may come in before the connection is tried, and how long the answer may
// take before it counts as dead.
const maxSilence = 5 * time.Second

// Notices tells which live logs may have something new, over one connection whatever the number of
// logs. Receive is for one goroutine, the rest for any.
type Notices struct {
	client  redis.UniversalClient
	silence time.Duration // maxSilence

	mu     sync.Mutex
	pubsub *redis.PubSub
	logs   map[social.LogID]struct{}
	closed bool
}

// Notices begins with no log. It connects when it is first used; Close it before the Store.
func (s *Store) Notices() *Notices {
	client := s.servers[homeLogKeys.role].client
	return &Notices{
		client: client, silence: maxSilence,
		pubsub: client.Subscribe(context.Background()), logs: make(map[social.LogID]struct{}),
	}
}

// Subscribe adds logs, at least one. Once the server has taken the subscription, Receive tells of each
// of them, then and after each reconnection, because what came before was not noticed. So an error means no
// more than that all this comes later.
func (n *Notices) Subscribe(ctx context.Context, logs ...social.LogID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, log := range logs {
		n.logs[log] = struct{}{}
	}
	if err := n.pubsub.Subscribe(ctx, channels(logs)...); err != nil {
		return away("subscribe", err)
	}
	return nil
}

// Unsubscribe takes logs away again, at least one.
func (n *Notices) Unsubscribe(ctx context.Context, logs ...social.LogID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, log := range logs {
		delete(n.logs, log)
	}
	if err := n.pubsub.Unsubscribe(ctx, channels(logs)...); err != nil {
		return away("unsubscribe", err)
	}
	return nil
}

// Receive waits for a log that should be read. After an error, but that of a Close, it may be
// called again: it connects anew. The end of the context is noticed within 5 seconds, Close at once.
func (n *Notices) Receive(ctx context.Context) (social.LogID, error) {
	tried := false
	for {
		n.mu.Lock()
		pubsub := n.pubsub
		n.mu.Unlock()
		message, err := pubsub.ReceiveTimeout(ctx, n.silence)
		var network net.Error
		switch {
		case errors.As(err, &network) && network.Timeout() && ctx.Err() == nil:
			if tried {
				return social.LogID{}, away("receive notices", errors.Join(err, n.renew(ctx)))
			}
			tried = true
			if err := pubsub.Ping(ctx); err != nil {
				return social.LogID{}, away("receive notices", err)
			}
			continue
		case err != nil:
			return social.LogID{}, away("receive notices", err)
		}
		tried = false
		if log, ok := noticed(message); ok {
			return log, nil
		}
	}
}

// renew gives up a connection that does not answer.
func (n *Notices) renew(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	err := n.pubsub.Close()
	n.pubsub = n.client.Subscribe(ctx)
	logs := slices.Collect(maps.Keys(n.logs))
	if len(logs) == 0 {
		return err
	}
	return errors.Join(err, n.pubsub.Subscribe(ctx, channels(logs)...))
}

// Close ends a Receive that waits, and all later ones.
func (n *Notices) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	return n.pubsub.Close()
}

func noticed(message any) (social.LogID, bool) {
	channel := ""
	switch m := message.(type) {
	case *redis.Message:
		channel = m.Channel
	case *redis.Subscription:
		if m.Kind == "subscribe" {
			channel = m.Channel
		}
	}
	return logOf(channel)
}

func channels(logs []social.LogID) []string {
	names := make([]string, len(logs))
	for i, log := range logs {
		names[i] = logKey(log)
	}
	return names
}
