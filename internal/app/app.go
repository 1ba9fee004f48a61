// Package app joins all the others into a process: what a server is made of, in which order it
// starts and stops, and the commands that run beside it.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"circle/graph"
	"circle/internal/auth"
	"circle/internal/config"
	"circle/internal/fanout"
	"circle/internal/httpserver"
	"circle/internal/outbox"
	"circle/internal/service"
	"circle/internal/social"
	"circle/internal/store/redisstore"
	"circle/web"
)

const (
	// fallbackReads bounds the reads that lean on the relational store at once because Redis lacks
	// what they ask for: as many as it has connections to give without starving writes.
	fallbackReads = 24
	// builders is how many windows are built at once: each is one statement or two at a time.
	builders = 4
	// drainTime is how long a stopping server waits for what is under way; all of a stop stays
	// below 10 s.
	drainTime = 5 * time.Second
	stopTime  = 9 * time.Second
)

// Options are what a server is made with beyond its settings. Log and Now are required.
type Options struct {
	Config config.Config
	Log    *slog.Logger
	Now    func() time.Time
	// RedisHooks and OnStatement see each trip to the stores.
	RedisHooks  []redis.Hook
	OnStatement func()
	// RedisTimeout bounds a trip to Redis; 0 means the store's own bound.
	RedisTimeout time.Duration
	// ListCap bounds the windows further than their kinds do; 0 means no further.
	ListCap int
	// PasswordMemory is what the hash of a password takes, in KiB; 0 means what is safe.
	PasswordMemory uint32
}

// App is a server.
type App struct {
	Services *service.Services
	Accounts *auth.Accounts
	base     *base
	http     *httpserver.Server
	log      *slog.Logger
	closers  closers
}

// Open starts everything but the listener, each part after those that it leans on:
//
//	data folder, relational store and migrations, node lease, Redis, fences, index epochs,
//	services and outbox workers, live delivery, access changes, outside identity, HTTP.
//
// Close stops them in the opposite order.
func Open(ctx context.Context, o Options) (_ *App, err error) {
	a := &App{log: o.Log}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	registry := prometheus.NewRegistry()
	base, err := openBase(ctx, o, server, &a.closers)
	if err != nil {
		return nil, err
	}
	cache, epochs, err := openRedis(ctx, o, base, registry, &a.closers)
	if err != nil {
		return nil, err
	}
	a.base = base
	runner := a.startServices(ctx, o, base, cache, epochs, registry)
	hub := a.startLive(ctx, o, cache, registry)
	if err := a.startAccounts(ctx, o, base, runner); err != nil {
		return nil, err
	}
	authenticator, err := a.authenticator(o)
	if err != nil {
		return nil, err
	}
	faults := graph.Errors{Log: o.Log}
	a.http = httpserver.New(httpserver.Config{
		Addr:           o.Config.Server.Addr,
		AllowedOrigins: o.Config.Server.AllowedOrigins,
		Production:     o.Config.Server.Production,
		RateLimits:     o.Config.Server.RateLimited(),
	}, httpserver.Deps{
		Schema: graph.NewSchema(&graph.Resolver{
			Services: a.Services,
			Accounts: a.Accounts,
			Live:     hub,
			Cursors:  graph.NewCursors(auth.DeriveKey(base.secret, "cursor")),
		}),
		Extensions:   []graphql.HandlerExtension{graph.Loading{Services: a.Services}},
		Authenticate: authenticator.Authenticate,
		Ready:        base.store.Ping,
		Present:      faults.Present,
		Recover:      faults.Recover,
		Playground:   web.Playground(),
		Metrics:      registry,
		Log:          o.Log,
		Now:          o.Now,
	})
	return a, nil
}

// startServices makes the services and starts the workers of the outbox, which lean on each other:
// a mutation runs the near stage of its events, which refreshes the services' entities.
func (a *App) startServices(ctx context.Context, o Options, b *base, cache *redisstore.Store, epochs *epochs, registry *prometheus.Registry) *outbox.Runner {
	near, timelines := &fanout.Near{Logs: cache.Logs()}, &fanout.TimelinesFar{}
	far := a.farStages(b, cache, o.Config.Social.PushLimit, registry)
	far[social.EventTimelines] = timelines
	runner := outbox.New(outbox.Config{
		Store: b.store, Near: nearStage{near, epochs}, Far: far, Metrics: registry, Now: o.Now, Log: o.Log,
	})
	a.Services = service.New(service.Deps{
		Store: transactions{b.store},
		Lists: b.store,
		Truths: service.Truths{
			Players: b.store.Players(), Details: b.store.Details(),
			Feeds: b.store.Feeds(), Bodies: b.store.Bodies(), Counters: b.store.Counters(),
			Comments: b.store.Comments(), Messages: b.store.Messages(),
		},
		Caches: service.Caches{
			Players: cache.Players(), Details: cache.Details(),
			Feeds: cache.Feeds(), Bodies: cache.Bodies(), Counters: cache.Counters(),
			Messages: cache.Messages(), Pages: cache,
			Comments: cache.Comments(),
		},
		Windows: service.Windows{
			Timelines: cache.Timelines(), Homes: cache.Homes(), Pulls: cache.Pulls(), Liked: cache.Liked(), Profiles: cache.Profiles(),
			Likes: cache.Likes(), Following: cache.Following(), Fans: cache.Fans(),
			Inboxes: cache.Inboxes(), Friends: cache.Friends(),
			Blocked: cache.Blocked(), Blockers: cache.Blockers(), Muted: cache.Muted(),
			Comments: cache.CommentHeads(), Replies: cache.Replies(),
		},
		Sources: b.store,
		Observe: newObserver(registry),
		Near:    runner, IDs: b.ids, Now: o.Now, Log: o.Log,
		FollowLimit: o.Config.Social.FollowLimit, FallbackReads: fallbackReads,
	})
	e := a.Services.Entities
	near.Simple, near.Details = e.Players, e.Details
	near.Heads, near.Bodies, near.Counters = e.Feeds, e.Bodies, e.Counters
	near.Comments, near.Messages = a.Services.Comments, e.Messages
	near.Lists, timelines.Timelines = a.Services.Indexes, a.Services.Indexes
	for range builders {
		a.closers.run("building of windows", a.Services.Build)
	}
	runner.Start(context.WithoutCancel(ctx))
	a.closers.add("outbox", runner.Stop)
	return runner
}

func (a *App) startAccounts(ctx context.Context, o Options, b *base, near auth.Near) error {
	a.Accounts = newAccounts(o, b, near)
	if err := a.Accounts.Changes.RunOnce(ctx); err != nil {
		return err
	}
	a.closers.run("access changes", a.Accounts.Changes.Watch)
	a.closers.every(cleaningInterval, "cleaning", o.Log, (&cleaning{accounts: a.Accounts, store: b.store, messages: a.Services.Messages, now: o.Now}).runOnce)
	return nil
}

// authenticator checks Circle's own tokens and, where one is set, those of an outside provider.
func (a *App) authenticator(o Options) (*auth.Authenticator, error) {
	authenticator := &auth.Authenticator{Tokens: a.Accounts.Tokens}
	c := o.Config.Auth
	if c.JWKSURL == "" {
		return authenticator, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.closers.add("outside identity", func(context.Context) error { cancel(); return nil })
	var err error
	authenticator.Provider, err = auth.NewProvider(ctx, auth.ProviderConfig{
		JWKSURL: c.JWKSURL, Issuer: c.Issuer, Audience: c.Audience,
	}, a.Accounts)
	return authenticator, err
}

// Serve answers what comes in on ln until ctx ends, then takes nothing new and lets what is under
// way come to its end. Close the App afterwards.
func (a *App) Serve(ctx context.Context, ln net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- a.http.Serve(ln) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := a.http.Shutdown(drain); err != nil {
		a.log.Warn("requests were cut off", "error", err)
	}
	return <-served
}

// Outbox counts the events that are not done.
func (a *App) Outbox(ctx context.Context) (social.OutboxStats, error) {
	return a.base.store.OutboxStats(ctx)
}

// Close stops everything that Open started, within 10 seconds.
func (a *App) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime-drainTime)
	defer cancel()
	return a.closers.close(ctx)
}
