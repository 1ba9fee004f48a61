package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"circle/internal/config"
	"circle/internal/fence"
	"circle/internal/store/redisstore"
)

// epochInterval is how soon a server notices that the epochs of the indexes were raised.
const epochInterval = time.Second

// openRedis opens the indexes, in this process where no URL is set, keeps their epochs and
// watches their fences.
func openRedis(ctx context.Context, o Options, b *base, registry *prometheus.Registry, ends *closers) (*redisstore.Store, error) {
	cfg := redisstore.Config{URLs: redisURLs(o.Config.Redis), Hooks: o.RedisHooks, Log: o.Log, Timeout: o.RedisTimeout, ListCap: o.ListCap}
	if o.Config.Redis.Embedded() {
		embedded, err := redisstore.StartEmbedded(ctx)
		if err != nil {
			return nil, err
		}
		ends.add("embedded redis", func(context.Context) error { embedded.Close(); return nil })
		cfg.URLs, cfg.Plain = redisstore.OneURL(embedded.URL()), true
	}
	store, err := redisstore.Open(ctx, cfg)
	if err != nil {
		return nil, err
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
			return nil, err
		}
		ends.every(fence.Interval, "comparing the fences", o.Log, guard.RunOnce)
	}
	readEpochs := func(ctx context.Context) error {
		epochs, err := b.store.Epochs(ctx)
		if err == nil {
			store.SetEpochs(epochs)
		}
		return err
	}
	if err := readEpochs(ctx); err != nil {
		return nil, err
	}
	ends.every(epochInterval, "reading the index epochs", o.Log, readEpochs)
	return store, nil
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
