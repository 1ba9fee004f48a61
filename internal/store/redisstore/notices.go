package redisstore

import (
	"context"
	"errors"
	"net"
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

	mu      sync.Mutex
	pubsub  *redis.PubSub
	players map[social.PlayerID]struct{}
	closed  bool
}

// Notices begins with no player. It connects when it is first used; Close it before the Store.
func (s *Store) Notices() *Notices {
	client := s.servers[logKeys.role].client
	return &Notices{
		client: client, silence: maxSilence,
		pubsub: client.Subscribe(context.Background()), players: make(map[social.PlayerID]struct{}),
	}
}

// Subscribe adds players, at least one. Once the server has taken the subscription, Receive tells of each
// of them, then and after each reconnection, because what came before was not noticed. So an error means no
// more than that all this comes later.
func (n *Notices) Subscribe(ctx context.Context, players ...social.PlayerID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range players {
		n.players[p] = struct{}{}
	}
	if err := n.pubsub.Subscribe(ctx, channels(players)...); err != nil {
		return away("subscribe", err)
	}
	return nil
}

// Unsubscribe takes players away again, at least one.
func (n *Notices) Unsubscribe(ctx context.Context, players ...social.PlayerID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range players {
		delete(n.players, p)
	}
	if err := n.pubsub.Unsubscribe(ctx, channels(players)...); err != nil {
		return away("unsubscribe", err)
	}
	return nil
}

// Receive waits for a player whose log should be read. After an error, but that of a Close, it may be
// called again: it connects anew. The end of the context is noticed within 5 seconds, Close at once.
func (n *Notices) Receive(ctx context.Context) (social.PlayerID, error) {
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
				return 0, away("receive notices", errors.Join(err, n.renew(ctx)))
			}
			tried = true
			if err := pubsub.Ping(ctx); err != nil {
				return 0, away("receive notices", err)
			}
			continue
		case err != nil:
			return 0, away("receive notices", err)
		}
		tried = false
		if player, ok := noticed(message); ok {
			return player, nil
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
	players := make([]social.PlayerID, 0, len(n.players))
	for p := range n.players {
		players = append(players, p)
	}
	if len(players) == 0 {
		return err
	}
	return errors.Join(err, n.pubsub.Subscribe(ctx, channels(players)...))
}

// Close ends a Receive that waits, and all later ones.
func (n *Notices) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	return n.pubsub.Close()
}

func noticed(message any) (social.PlayerID, bool) {
	channel := ""
	switch m := message.(type) {
	case *redis.Message:
		channel = m.Channel
	case *redis.Subscription:
		if m.Kind == "subscribe" {
			channel = m.Channel
		}
	}
	number, ok := logKeys.number(channel)
	return social.PlayerID(number), ok
}

func channels(players []social.PlayerID) []string {
	names := make([]string, len(players))
	for i, p := range players {
		names[i] = logKeys.key(int64(p))
	}
	return names
}
