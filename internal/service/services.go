package service

import (
	"context"
	"log/slog"
	"time"

	"circle/internal/social"
)

// Caches are the entities that Redis holds.
type Caches struct {
	Players  Cache[social.PlayerID, *social.Player]
	Details  Cache[social.PlayerID, *social.PlayerDetail]
	Feeds    Cache[social.FeedID, *social.Feed]
	Bodies   Cache[social.FeedID, *social.FeedBody]
	Counters Cache[social.FeedID, *social.FeedCounters]
	Comments Cache[social.CommentID, *social.Comment]
	Messages Cache[social.MessageID, *social.Message]
	Pages    PageCache
}

// Truths are the same entities in the relational store.
type Truths struct {
	Players  Truth[social.PlayerID, *social.Player]
	Details  Truth[social.PlayerID, *social.PlayerDetail]
	Feeds    Truth[social.FeedID, *social.Feed]
	Bodies   Truth[social.FeedID, *social.FeedBody]
	Counters Truth[social.FeedID, *social.FeedCounters]
	Messages Truth[social.MessageID, *social.Message]
	Comments Truth[social.CommentID, *social.Comment]
}

// Lists are the lists and relations in the relational store.
type Lists interface {
	PlayerStore
	RelationStore
	FeedStore
	LikeStore
	CommentStore
	ReportStore
	MessageStore
}

// Deps is what the services are made of.
type Deps struct {
	Store  TxStore
	Lists  Lists
	Truths Truths
	Caches Caches
	// Windows and their Sources are the lists in Redis and what they are built of.
	Windows Windows
	Sources WindowStore
	Near    Near
	Observe Observer
	IDs     IDs
	Now     func() time.Time
	Log     *slog.Logger
	// FollowLimit is how many players one player may follow.
	FollowLimit int
	// FallbackReads is how many reads may fill what Redis lacks from the relational store at once.
	FallbackReads int
}

// Entities are the kinds of entities that Redis holds over the relational store.
type Entities struct {
	Players  *Entity[social.PlayerID, *social.Player]
	Details  *Entity[social.PlayerID, *social.PlayerDetail]
	Feeds    *Entity[social.FeedID, *social.Feed]
	Bodies   *Entity[social.FeedID, *social.FeedBody]
	Counters *Entity[social.FeedID, *social.FeedCounters]
	Messages *Entity[social.MessageID, *social.Message]
	Comments *Entity[social.CommentID, *social.Comment]
}

func newEntities(d Deps, gate *gate) Entities {
	return Entities{
		Players:  &Entity[social.PlayerID, *social.Player]{truth: d.Truths.Players, cache: d.Caches.Players, gate: gate, log: d.Log},
		Details:  &Entity[social.PlayerID, *social.PlayerDetail]{truth: d.Truths.Details, cache: d.Caches.Details, gate: gate, log: d.Log},
		Feeds:    &Entity[social.FeedID, *social.Feed]{truth: d.Truths.Feeds, cache: d.Caches.Feeds, gate: gate, log: d.Log},
		Bodies:   &Entity[social.FeedID, *social.FeedBody]{truth: d.Truths.Bodies, cache: d.Caches.Bodies, gate: gate, log: d.Log},
		Counters: &Entity[social.FeedID, *social.FeedCounters]{truth: d.Truths.Counters, cache: d.Caches.Counters, gate: gate, log: d.Log},
		Messages: &Entity[social.MessageID, *social.Message]{truth: d.Truths.Messages, cache: d.Caches.Messages, gate: gate, log: d.Log},
		Comments: &Entity[social.CommentID, *social.Comment]{truth: d.Truths.Comments, cache: d.Caches.Comments, gate: gate, log: d.Log},
	}
}

// Services are the use cases.
type Services struct {
	Entities  Entities
	Players   *Players
	Relations *Relations
	Feeds     *Feeds
	Home      *Home
	Likes     *Likes
	Comments  *Comments
	// Moderation is for moderators, and for what players report to them.
	Moderation *Moderation
	Messages   *Messages
	Indexes    *Indexes
	// Build builds windows that were found absent, until its context ends. Run several of it.
	Build func(context.Context)
}

// New joins the services.
func New(d Deps) *Services {
	gate := newGate(d.FallbackReads)
	e := newEntities(d, gate)
	w := &writer{store: d.Store, near: d.Near, ids: d.IDs}
	players := &Players{writer: w, store: d.Lists, simple: e.Players, details: e.Details}
	lists := &lists{Windows: d.Windows, builder: newBuilder(d.Log, d.Observe), gate: gate, store: d.Sources, rows: d.Lists, now: d.Now}
	relations := &Relations{writer: w, store: d.Lists, cache: d.Caches.Pages, lists: lists, players: players, limit: d.FollowLimit}
	feeds := &Feeds{
		writer: w, store: d.Lists, likes: d.Lists, relations: relations, lists: lists, cache: d.Caches.Pages, now: d.Now,
		players: e.Players, heads: e.Feeds, bodies: e.Bodies, counters: e.Counters,
	}
	comments := &Comments{writer: w, store: d.Lists, feeds: feeds, lists: lists, comments: e.Comments, now: d.Now}
	messages := &Messages{writer: w, store: d.Lists, relations: relations, lists: lists, messages: e.Messages, now: d.Now, log: d.Log}
	return &Services{
		Entities:   e,
		Players:    players,
		Relations:  relations,
		Feeds:      feeds,
		Home:       &Home{store: d.Lists, feeds: feeds, lists: lists, observe: d.Observe},
		Likes:      &Likes{writer: w, store: d.Lists, feeds: feeds, lists: lists, cache: d.Caches.Pages},
		Comments:   comments,
		Moderation: &Moderation{writer: w, store: d.Lists, feeds: feeds, comments: comments, messages: messages},
		Messages:   messages,
		Indexes:    &Indexes{lists: lists, feeds: feeds, comments: comments, messages: messages},
		Build:      lists.work,
	}
}
