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
)

// startLive starts the delivery of live events to the subscriptions of this process.
func (a *App) startLive(ctx context.Context, o Options, cache *redisstore.Store, registry *prometheus.Registry) *live.Hub {
	hub := live.New(live.Config{Logs: cache.Logs(), Notices: cache.Notices(), Ended: cache.Logs().Ended(), Metrics: registry, Log: o.Log})
	hub.Start(context.WithoutCancel(ctx))
	a.closers.add("live delivery", hub.Stop)
	return hub
}

// farStages are what workers do after events' near stages.
func farStages(b *base, cache *redisstore.Store, registry *prometheus.Registry) map[social.EventKind]outbox.FarHandler {
	push := &pusher{timelines: cache.Timelines(), logs: cache.Logs(), appends: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "circle_live_log_appends_total", Help: "Entries written into the live logs of home pages, repeated ones included.",
	})}
	registry.MustRegister(push.appends)
	return map[social.EventKind]outbox.FarHandler{
		social.EventFeed: &fanout.FeedFar{Heads: b.store.Feeds(), Fans: b.store, Pusher: push},
	}
}

// pushesPerTrip bounds the players of one trip: the embedded Redis must answer in time too.
const pushesPerTrip = 200

// pusher is the fan-out's way to players: into the timelines that are there, then into the logs of
// those who listen.
type pusher struct {
	timelines *redisstore.Windows
	logs      *redisstore.Logs
	appends   prometheus.Counter
}

// Push implements fanout.Pusher. What was removed stays in timelines, where readers drop it.
func (p *pusher) Push(ctx context.Context, players []social.PlayerID, entry social.LiveEntry, replay bool) error {
	if entry.Kind != social.LiveFeedRemoved {
		ids := make([]int64, len(players))
		for i, player := range players {
			ids[i] = int64(player)
		}
		if err := p.timelines.Push(ctx, ids, social.Entry{Member: entry.ID, Key: entry.ID}); err != nil {
			return err
		}
	}
	if replay {
		return nil
	}
	homes := make([]social.LogID, len(players))
	for i, player := range players {
		homes[i] = social.LogID{Kind: social.LogHome, Of: int64(player)}
	}
	for some := range slices.Chunk(homes, pushesPerTrip) {
		listening, err := p.logs.Append(ctx, some, entry)
		if err != nil {
			return err
		}
		p.appends.Add(float64(len(listening)))
	}
	return nil
}
