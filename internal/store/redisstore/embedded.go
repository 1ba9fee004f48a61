package redisstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Embedded is a Redis inside this process, for trying things out: nothing of it outlives the
// process, and it is slower than a real one. It takes plain scripts only (Config.Plain).
type Embedded struct {
	server   *miniredis.Miniredis
	password string
	stop     chan struct{}
	stopped  chan struct{}
}

// StartEmbedded starts a server on a free loopback port, behind a random password. It does not
// end with the context; Close it.
func StartEmbedded(ctx context.Context) (*Embedded, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := &Embedded{
		server:   miniredis.NewMiniRedis(),
		password: rand.Text(),
		stop:     make(chan struct{}),
		stopped:  make(chan struct{}),
	}
	e.server.RequireAuth(e.password)
	if err := e.server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start the embedded redis: %w", err)
	}
	go e.tick()
	return e, nil
}

// tick lets keys grow older: the server does not look at the clock itself. Its own way to do so
// would sort all keys at each command.
func (e *Embedded) tick() {
	defer close(e.stopped)
	const step = time.Second
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			e.server.FastForward(step)
		case <-e.stop:
			return
		}
	}
}

// URL is the server's address with its password, for Config.URLs.
func (e *Embedded) URL() string {
	u := url.URL{Scheme: schemeSingle, User: url.UserPassword("", e.password), Host: e.server.Addr(), Path: "/0"}
	return u.String()
}

// Close ends the server and waits until it has ended. It must be called once.
func (e *Embedded) Close() {
	close(e.stop)
	<-e.stopped
	e.server.Close()
}
