package redisstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"circle/internal/social"
)

// Config says where the data of each role is and how it is reached.
type Config struct {
	// URLs has the deployment of each role, as topology.go describes; roles with equal URLs share a
	// client.
	URLs map[Role]string
	// Plain is for servers that don't know the first line of a script, "#!lua": the embedded one. On
	// real servers that line makes a script be refused before it starts when memory is full.
	Plain bool
	// Hooks are added to every client, for metrics and traces. They see one call per trip, and not
	// the handshakes of new connections.
	Hooks []redis.Hook
	// Log is told when a node goes away and comes back; nil for the default logger.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Timeout bounds a dial, a write and a read; 0 means 500 ms.
	Timeout time.Duration
	// ListCap bounds every window further than its kind does, unless it is 0: with a few entries each, what
	// happens at the end of windows happens often.
	ListCap int
}

// OneURL is a Config's URLs with the same deployment for every role.
func OneURL(url string) map[Role]string {
	urls := make(map[Role]string)
	for _, role := range Roles() {
		urls[role] = url
	}
	return urls
}

// Store reads and writes the entities in Redis. It is safe for use by many goroutines. All its
// errors have the code UNAVAILABLE and mean: ask the relational store instead.
type Store struct {
	servers map[Role]*server
	scripts scripts
	splits  map[social.RelationList]*Split
	listCap int
	plain   bool
	epochs  map[Role]*atomic.Uint32
	// logsEnded is told of each new epoch of the logs.
	logsEnded chan struct{}
	telling   sync.Mutex // of refusals
	now       func() time.Time
}

// ticket draws a ticket for a fill.
func (s *Store) ticket() string {
	b := binary.BigEndian.AppendUint32(nil, uint32(s.now().Unix()))
	random := binary.BigEndian.AppendUint64(nil, rand.Uint64())
	return string(append(b, random[:ticketLength-len(b)]...))
}

// Open makes the clients. It fails only for a malformed URL, never because Redis is away: clients
// connect when they are first used. The context bounds nothing beyond the call. Close the Store.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	log := cfg.Log
	if log == nil {
		log = slog.Default()
	}
	topologies := make(map[Role]topology)
	for _, role := range Roles() {
		t, err := parseTopology(cfg.URLs[role])
		if err == nil && t.scheme == schemeRing && role != Detail {
			err = errors.New("redis-ring:// is for the detail role alone")
		}
		if err != nil {
			return nil, fmt.Errorf("CIRCLE_REDIS_%s_URL or CIRCLE_REDIS_URL: %w", strings.ToUpper(string(role)), err)
		}
		t.timeout = cmp.Or(cfg.Timeout, ioTimeout)
		topologies[role] = t
	}
	s := &Store{servers: make(map[Role]*server), scripts: newScripts(cfg.Plain), plain: cfg.Plain, epochs: make(map[Role]*atomic.Uint32), logsEnded: make(chan struct{}, 1), now: cfg.Now, listCap: cfg.ListCap}
	if s.now == nil {
		s.now = time.Now
	}
	s.splits = make(map[social.RelationList]*Split, len(relationKeys))
	for list, keys := range relationKeys {
		s.splits[list] = s.newSplit(keys.one, keys.parts)
	}
	shared := make(map[string]*server)
	for _, role := range Roles() {
		url := cfg.URLs[role]
		if shared[url] == nil {
			shared[url] = newServer(topologies[role], cfg.Hooks, log)
		}
		s.servers[role] = shared[url]
		s.epochs[role] = new(atomic.Uint32)
	}
	s.epochs[logEpoch] = new(atomic.Uint32)
	return s, nil
}

// Close closes all connections. Calls after it fail.
func (s *Store) Close() error {
	var errs []error
	for _, server := range s.distinct() {
		errs = append(errs, server.client.Close())
	}
	return errors.Join(errs...)
}

// Ping asks every node that takes writes whether it is there.
func (s *Store) Ping(ctx context.Context) error {
	for _, server := range s.distinct() {
		err := server.each(ctx, func(ctx context.Context, node *redis.Client) error { return node.Ping(ctx).Err() })
		if err != nil {
			return away("ping", err)
		}
	}
	return nil
}

// SetEpochs sets the index epoch by the name of the role, and that of the live logs; others keep theirs,
// which is 0 at first. Values written under another epoch are absent from then on.
func (s *Store) SetEpochs(epochs map[string]uint32) {
	for role, epoch := range epochs {
		current := s.epochs[Role(role)]
		if current == nil || current.Swap(epoch) == epoch || Role(role) != logEpoch {
			continue
		}
		select {
		case s.logsEnded <- struct{}{}:
		default: // told already
		}
	}
}

// limits are the encoding limits below which entries take about twice the memory, and why.
var limits = map[string]struct {
	least int
	what  string
}{
	"zset-max-listpack-entries": {1024, "timelines"},
	"hash-max-listpack-value":   {bucketSize, "simple infos of players"},
	"hash-max-listpack-entries": {bucketSize, "simple infos of players"},
}

// Warnings tells which settings of the servers cost memory, a sentence for each. Servers that are
// away or don't tell their settings are passed over.
func (s *Store) Warnings(ctx context.Context) []string {
	var mu sync.Mutex // nodes are asked at the same time
	unique := make(map[string]bool)
	for _, server := range s.distinct() {
		_ = server.each(ctx, func(ctx context.Context, node *redis.Client) error {
			settings, _ := node.ConfigGet(ctx, "*-max-listpack-*").Result()
			mu.Lock()
			defer mu.Unlock()
			for name, limit := range limits {
				if n, err := strconv.Atoi(settings[name]); err == nil && n < limit.least {
					unique[fmt.Sprintf("redis %s: %s is %d; set it to %d or more, or %s take about twice the memory",
						node.Options().Addr, name, n, limit.least, limit.what)] = true
				}
			}
			return nil
		})
	}
	return slices.Sorted(maps.Keys(unique))
}

// distinct lists the clients, each once.
func (s *Store) distinct() []*server {
	var servers []*server
	for _, role := range Roles() {
		if !slices.Contains(servers, s.servers[role]) {
			servers = append(servers, s.servers[role])
		}
	}
	return servers
}

// away marks an error as one that the relational store can make good.
func away(what string, err error) error {
	return social.Unavailable(fmt.Errorf("redis %s: %w", what, err))
}
