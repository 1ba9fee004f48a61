package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"circle/internal/config"
	"circle/internal/fence"
	"circle/internal/outbox"
	"circle/internal/social"
	"circle/internal/store/redisstore"
	"circle/internal/store/sqlstore"
)

// epochInterval is how soon a server notices that the epochs of the indexes were raised.
const epochInterval = time.Second

// openRedis opens the indexes, in this process where no URL is set, keeps their epochs and
// watches their fences.
func openRedis(ctx context.Context, o Options, b *base, registry *prometheus.Registry, ends *closers) (*redisstore.Store, *epochs, error) {
	cfg := redisstore.Config{URLs: redisURLs(o.Config.Redis), Hooks: o.RedisHooks, Log: o.Log, Timeout: o.RedisTimeout, ListCap: o.ListCap}
	if o.Config.Redis.Embedded() {
		embedded, err := redisstore.StartEmbedded(ctx)
		if err != nil {
			return nil, nil, err
		}
		ends.add("embedded redis", func(context.Context) error { embedded.Close(); return nil })
		cfg.URLs, cfg.Plain = redisstore.OneURL(embedded.URL()), true
	}
	store, err := redisstore.Open(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	ends.add("redis", func(context.Context) error { return store.Close() })
	if err := store.Ping(ctx); err != nil {
		o.Log.WarnContext(ctx, "redis does not answer; serving from the relational store until it does", "error", err)
	}
	for _, warning := range store.Warnings(ctx) {
		o.Log.WarnContext(ctx, warning)
	}
	if !o.Config.Redis.Embedded() { // which begins and ends with this process, empty
		guard := fence.New(fence.Config{Redis: store, Store: b.store, Metrics: registry, Now: o.Now, Log: o.Log})
		// What happened while no server ran is noticed before this one serves.
		if err := guard.RunOnce(ctx); err != nil {
			return nil, nil, err
		}
		ends.every(fence.Interval, "comparing the fences", o.Log, guard.RunOnce)
	}
	epochs := &epochs{store: b.store, cache: store, log: o.Log}
	if err := epochs.read(ctx); err != nil {
		return nil, nil, err
	}
	ends.every(epochInterval, "reading the index epochs", o.Log, epochs.read)
	return store, epochs, nil
}

// epochs brings the index epochs from the relational store to the indexes.
type epochs struct {
	mu    sync.Mutex // so that what was read first is set first
	store *sqlstore.Store
	cache *redisstore.Store
	log   *slog.Logger
}

func (e *epochs) read(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	epochs, err := e.store.Epochs(ctx)
	if err == nil {
		e.cache.SetEpochs(epochs)
	}
	return err
}

// refused makes absent what could not be brought up to date because Redis takes no writes.
func (e *epochs) refused(ctx context.Context) error {
	return e.cache.Refusing(func(roles []string) error {
		e.log.WarnContext(ctx, "redis answers but takes no writes, what it holds counts as absent", "roles", roles)
		if err := e.store.RaiseEpochsOf(ctx, roles); err != nil {
			return err
		}
		return e.read(ctx)
	})
}

// nearStage is the near stage of servers.
type nearStage struct {
	outbox.NearHandler
	epochs *epochs
}

// Near implements outbox.NearHandler. Where it fails because Redis refused it, the old state is not read
// any more when it returns.
func (n nearStage) Near(ctx context.Context, events []social.Event) error {
	err := n.NearHandler.Near(ctx, events)
	if err != nil {
		return errors.Join(err, n.epochs.refused(ctx))
	}
	return nil
}

func redisURLs(c config.Redis) map[redisstore.Role]string {
	urls := redisstore.OneURL(c.URL)
	for role, url := range map[redisstore.Role]string{
		redisstore.Profile: c.Profile, redisstore.Detail: c.Detail, redisstore.Relation: c.Relation,
		redisstore.Feed: c.Feed, redisstore.Activity: c.Activity,
	} {
		if url != "" {
			urls[role] = url
		}
	}
	return urls
}
