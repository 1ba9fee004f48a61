package app

import (
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"circle/internal/fanout"
	"circle/internal/live"
	"circle/internal/outbox"
	"circle/internal/social"
	"circle/internal/store/redisstore"
	"circle/internal/store/sqlstore"
)

// startLive starts the delivery of live events to the subscriptions of this process.
func (a *App) startLive(ctx context.Context, o Options, cache *redisstore.Store, registry *prometheus.Registry) *live.Hub {
	hub := live.New(live.Config{Logs: cache.Logs(), Notices: cache.Notices(), Ended: cache.Logs().Ended(), Metrics: registry, Log: o.Log})
	hub.Start(context.WithoutCancel(ctx))
	a.closers.add("live delivery", hub.Stop)
	return hub
}

// farStages are what workers do after events' near stages.
func (a *App) farStages(b *base, cache *redisstore.Store, limit int, registry *prometheus.Registry) map[social.EventKind]outbox.FarHandler {
	logs := cache.Logs()
	push := &pusher{
		cache: cache,
		pushes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "circle_fanout_pushes_total", Help: "Timelines that feeds were pushed to, repeated pushes included.",
		}),
		appends: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "circle_live_log_appends_total", Help: "Entries written into the live logs of home pages, repeated ones included.",
		}),
	}
	registry.MustRegister(push.pushes, push.appends)
	feeds := &fanout.FeedFar{
		Heads: b.store.Feeds(), Fans: b.store, Pusher: push, Logs: logs,
		Pulled: &pulled{a: a, Store: b.store, Logs: logs, lists: cache.Pulls()}, Limit: limit,
	}
	return map[social.EventKind]outbox.FarHandler{
		social.EventConversation: &fanout.InboxFar{Messages: b.store.Messages(), Logs: logs},
		social.EventFeed:         feeds,
		social.EventFeedShown:    feeds,
		social.EventComment:      &fanout.CommentFar{Comments: b.store.Comments(), Logs: logs},
	}
}

// pulled is what the fan-out is to know of pulled authors, from where each is known.
type pulled struct {
	a *App // whose services are made later
	*sqlstore.Store
	*redisstore.Logs
	lists *redisstore.Windows
}

// Pull implements fanout.Pulled.
func (p *pulled) Pull(ctx context.Context, fans []social.PlayerID, author social.PlayerID, position social.FeedID) error {
	lists := make([]int64, len(fans))
	for i, fan := range fans {
		lists[i] = int64(fan)
	}
	return p.lists.Push(ctx, lists, social.Entry{Member: int64(author), Key: int64(position)})
}

// FansAmong implements fanout.Pulled.
func (p *pulled) FansAmong(ctx context.Context, author social.PlayerID, players []social.PlayerID) ([]social.PlayerID, error) {
	return p.a.Services.Relations.FansAmong(ctx, author, players)
}

// pusher is the fan-out's way to players: into the timelines that are there, and into the logs of those who
// listen.
type pusher struct {
	cache           *redisstore.Store
	pushes, appends prometheus.Counter
}

// Push implements fanout.Pusher. What was removed stays in timelines, where readers drop it.
func (p *pusher) Push(ctx context.Context, players []social.PlayerID, entry social.LiveEntry, replay bool) error {
	switch {
	case entry.Kind != social.LiveFeedRemoved && !replay:
		pushed, told, err := p.cache.PushHome(ctx, players, entry)
		p.pushes.Add(float64(pushed))
		p.appends.Add(float64(told))
		return err
	case !replay:
		return p.tell(ctx, players, entry)
	case entry.Kind != social.LiveFeedRemoved:
		ids := make([]int64, len(players))
		for i, player := range players {
			ids[i] = int64(player)
		}
		return p.cache.Timelines().Push(ctx, ids, social.Entry{Member: entry.ID, Key: entry.ID})
	}
	return nil
}

// logsPerTrip bounds the logs of one trip: the embedded Redis must answer in time too.
const logsPerTrip = 200

// tell writes into logs alone.
func (p *pusher) tell(ctx context.Context, players []social.PlayerID, entry social.LiveEntry) error {
	homes := make([]social.LogID, len(players))
	for i, player := range players {
		homes[i] = social.LogID{Kind: social.LogHome, Of: int64(player)}
	}
	for some := range slices.Chunk(homes, logsPerTrip) {
		listening, err := p.cache.Logs().Append(ctx, some, entry)
		if err != nil {
			return err
		}
		p.appends.Add(float64(len(listening)))
	}
	return nil
}
