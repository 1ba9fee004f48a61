package app

import (
	"context"

	"circle/internal/config"
	"circle/internal/store/redisstore"
)

// openRedis opens the indexes, in this process where no URL is set, and keeps their epochs.
func openRedis(ctx context.Context, o Options, b *base, ends *closers) (*redisstore.Store, error) {
	cfg := redisstore.Config{URLs: redisURLs(o.Config.Redis), Hooks: o.RedisHooks, Log: o.Log}
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
	for _, warning := range store.Warnings(ctx) {
		o.Log.WarnContext(ctx, warning)
	}
	e := &epochs{read: b.store.Epochs, set: store.SetEpochs, log: o.Log}
	if err := e.runOnce(ctx); err != nil {
		return nil, err
	}
	ends.run("index epochs", e.watch)
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
