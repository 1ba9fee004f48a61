package app_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"circle/internal/fanout"
	"circle/internal/service"
	"circle/internal/social"
	"circle/internal/store/redisstore"
	"circle/internal/store/sqlstore"
	"circle/internal/testkit/freshdb"
)

// post is services over real stores, with a clock that is moved by hand and near stages that run twice,
// late and out of order.
type post struct {
	*service.Services
	near  *fanout.Near
	flush func()
	next  social.PlayerID

	mu   sync.Mutex
	at   time.Time
	late []social.Event
}

func (p *post) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

func (p *post) advance(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = p.at.Add(d)
}

// messageTx gives the services the store's transactions.
type messageTx struct{ *sqlstore.Store }

// InTx implements service.TxStore.
func (t messageTx) InTx(ctx context.Context, fn func(service.Tx) error) error {
	return t.Store.InTx(ctx, func(tx *sqlstore.Tx) error { return fn(tx) })
}

// unobserved counts nothing.
type unobserved struct{}

func (unobserved) HomeRefilled() {}

func (unobserved) HomeFellBack(bool) {}

func (unobserved) HomeAskedPulled(int) {}

func (unobserved) HomePulled() {}

func (unobserved) WindowBuilt(string) {}

// RunInline implements service.Near.
func (p *post) RunInline(ctx context.Context, events []social.Event) {
	p.mu.Lock()
	if rand.IntN(4) == 0 {
		p.late = append(p.late, events...)
	}
	skip := rand.IntN(4) == 0 && len(p.late) > 0 && p.late[len(p.late)-1] == events[len(events)-1]
	p.mu.Unlock()
	if !skip {
		_ = p.near.Near(ctx, events)
	}
}

// settle runs what was put off.
func (p *post) settle(t require.TestingT) {
	p.mu.Lock()
	late := p.late
	p.late = nil
	p.mu.Unlock()
	rand.Shuffle(len(late), func(i, j int) { late[i], late[j] = late[j], late[i] })
	for _, event := range late {
		require.NoError(t, p.near.Near(context.Background(), []social.Event{event}))
	}
}

func newPost(t *testing.T) *post {
	t.Helper()
	p := &post{at: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)}
	url := freshdb.SQLite(t)
	if server := os.Getenv(freshdb.Variable); server != "" {
		url = freshdb.MySQL(t, server)
	}
	store, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: url, Owner: 1, Now: p.now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	require.NoError(t, store.Migrate(t.Context()))
	redis := p.redis(t)
	log := slog.New(slog.DiscardHandler)
	p.Services = service.New(service.Deps{
		Store: messageTx{store}, Lists: store, Sources: store,
		Truths: service.Truths{Players: store.Players(), Details: store.Details(), Messages: store.Messages()},
		Caches: service.Caches{Players: redis.Players(), Details: redis.Details(), Messages: redis.Messages(), Pages: redis},
		Windows: service.Windows{
			Inboxes: redis.Inboxes(), Following: redis.Following(), Fans: redis.Fans(),
			Blocked: redis.Blocked(), Blockers: redis.Blockers(), Muted: redis.Muted(),
		},
		Near: p, IDs: social.NewIDSource(1, p.ticking, p.at.Add(-time.Hour), p.at.AddDate(60, 0, 0)), Now: p.now, Log: log,
		FollowLimit: 10, FallbackReads: 4, Observe: unobserved{},
	})
	p.near = &fanout.Near{Lists: p.Indexes, Messages: p.Entities.Messages}
	ctx, cancel := context.WithCancel(context.Background())
	var building sync.WaitGroup
	building.Go(func() { p.Build(ctx) })
	t.Cleanup(func() { cancel(); building.Wait() })
	for i := range social.PlayerID(40) {
		_, err := store.CreateAccount(t.Context(), social.NewAccount{
			ID: i + 1, Name: "p", NameKey: strings.Repeat("p", int(i)+1), JoinedAt: p.at, Version: 1,
			Event: social.Event{ID: social.EventID(i + 1), Kind: social.EventPlayer, Actor: i + 1, Subject: int64(i + 1)},
		})
		require.NoError(t, err)
	}
	return p
}

// ticking moves the clock on, so that no identifier waits for it.
func (p *post) ticking() time.Time {
	p.advance(time.Millisecond)
	return p.now()
}

func (p *post) redis(t *testing.T) *redisstore.Store {
	t.Helper()
	cfg := redisstore.Config{URLs: redisstore.OneURL(os.Getenv("CIRCLE_TEST_REDIS_URL"))}
	if cfg.URLs[redisstore.Feed] == "" {
		embedded, err := redisstore.StartEmbedded(t.Context())
		require.NoError(t, err)
		t.Cleanup(embedded.Close)
		cfg = redisstore.Config{URLs: redisstore.OneURL(embedded.URL()), Plain: true}
	}
	url := cfg.URLs[redisstore.Feed]
	var client redis.UniversalClient
	if hosts, cluster := strings.CutPrefix(url, "redis-cluster://"); cluster {
		client = redis.NewClusterClient(&redis.ClusterOptions{Addrs: strings.Split(hosts, ",")})
	} else {
		options, err := redis.ParseURL(url)
		require.NoError(t, err)
		client = redis.NewClient(options)
	}
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	p.flush = func() {
		ctx := context.Background()
		if cluster, ok := client.(*redis.ClusterClient); ok {
			_ = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return node.FlushAll(ctx).Err() })
			return
		}
		client.FlushAll(ctx)
	}
	p.flush()
	store, err := redisstore.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}
