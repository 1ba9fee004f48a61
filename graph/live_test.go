package graph

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"circle/graph/model"
	"circle/internal/service"
	"circle/internal/social"
)

// circle is a viewer, player 1, an author, player 2, and the author's feeds.
type circle struct {
	service.Lists
	feeds    map[social.FeedID]*social.Feed
	relation social.Relation
	away     bool
	broken   bool
}

var errAway = social.Unavailable(errors.New("away"))

func (c *circle) Load(_ context.Context, ids []social.FeedID) (map[social.FeedID]*social.Feed, error) {
	switch {
	case c.away:
		return nil, errAway
	case c.broken:
		panic("broken")
	}
	found := map[social.FeedID]*social.Feed{}
	for _, id := range ids {
		if feed := c.feeds[id]; feed != nil {
			found[id] = feed
		}
	}
	return found, nil
}

func (c *circle) Relations(context.Context, social.PlayerID, []social.PlayerID) (map[social.PlayerID]social.Relation, error) {
	return map[social.PlayerID]social.Relation{2: c.relation}, nil
}

// noCache has nothing and takes nothing.
type noCache struct{}

func (noCache) Get(context.Context, []social.FeedID) (map[social.FeedID]*social.Feed, error) {
	return nil, errAway
}

func (noCache) Reserve(context.Context, []social.FeedID, bool) (string, error) { return "", errAway }

func (noCache) Put(context.Context, map[social.FeedID]*social.Feed, string) error { return errAway }

func (noCache) Remove(context.Context, []social.FeedID) error { return errAway }

// noPages is a noCache for what lists show.
type noPages struct{}

func (noPages) Cards(context.Context, social.PlayerID, []social.FeedID) (social.Cards, error) {
	return social.Cards{}, errAway
}

func (noPages) People(context.Context, social.PlayerID, []social.PlayerID, []social.PlayerID) (social.People, error) {
	return social.People{}, errAway
}

func (noPages) Likers(context.Context, social.PlayerID, []social.WindowAsk) (social.Likers, error) {
	return social.Likers{}, errAway
}

// run is a stream of items, with turns given by hand.
type run struct {
	ctx    context.Context
	turns  chan struct{}
	items  chan social.LiveItem
	events chan model.HomeFeedEvent
	ended  func() error
}

func start(t *testing.T, c *circle) run {
	r := run{turns: make(chan struct{}, 1), items: make(chan social.LiveItem, 10), events: make(chan model.HomeFeedEvent)}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	ctx, r.ended = social.WithStreamEnd(ctx)
	ctx = graphql.WithOperationContext(ctx, &graphql.OperationContext{RecoverFunc: Errors{Log: slog.New(slog.DiscardHandler)}.Recover})
	r.ctx = context.WithValue(ctx, turnKey{}, r.turns)
	services := service.New(service.Deps{
		Lists: c, Truths: service.Truths{Feeds: c}, Caches: service.Caches{Feeds: noCache{}, Pages: noPages{}},
		Log: slog.New(slog.DiscardHandler), FallbackReads: 1,
	})
	resolver := &Resolver{Services: services, Cursors: NewCursors([]byte("key"))}
	s := stream[model.HomeFeedEvent]{
		cursors: resolver.Cursors, list: list{kind: listHomeLive, owner: 1},
		event: homeEvents{resolver, social.Viewer{Player: 1}}.event,
	}
	go s.run(r.ctx, func(ctx context.Context) (social.LiveItem, error) {
		item, ok := <-r.items
		if !ok {
			return item, social.Fail(social.CodeSlowConsumer, "Too slow.")
		}
		return item, nil
	}, r.events)
	return r
}

// event gives a turn and takes what comes of it; nil at the end.
func (r run) event() model.HomeFeedEvent {
	r.turns <- struct{}{}
	return <-r.events
}

func live(kind social.LiveKind, feed social.FeedID) social.LiveItem {
	return social.LiveItem{Kind: social.LiveEvent, Entry: social.LiveEntry{Kind: kind, ID: int64(feed)}}
}

func TestRightsAreThoseOfTheDelivery(t *testing.T) {
	c := &circle{
		relation: social.Relation{Following: true, Fan: true},
		feeds: map[social.FeedID]*social.Feed{
			20: {ID: 20, AuthorID: 2, Visibility: social.Friends}, 21: {ID: 21, AuthorID: 2, Visibility: social.Friends},
			22: {ID: 22, AuthorID: 2, Visibility: social.Fans}, 23: {ID: 23, AuthorID: 1, Visibility: social.Private},
			24: {ID: 24, AuthorID: 2, Visibility: social.Friends, Deleted: true}, 25: {ID: 25, AuthorID: 2, Visibility: social.Public, Deleted: true},
		},
	}
	r := start(t, c)
	for _, feed := range []social.FeedID{20, 21, 22} {
		r.items <- live(social.LiveFeedAdded, feed)
	}
	require.Equal(t, social.FeedID(20), r.event().(*model.FeedAdded).Edge.Node.ID)
	// The next item waits meanwhile. It is looked at when its turn comes.
	require.Eventually(t, func() bool { return len(r.items) == 1 }, 10*time.Second, time.Millisecond)
	c.relation.Fan = false
	require.Equal(t, social.FeedID(22), r.event().(*model.FeedAdded).Edge.Node.ID)

	r.items <- live(social.LiveFeedRemoved, 24)
	r.items <- live(social.LiveFeedAdded, 25)
	r.items <- live(social.LiveFeedEdited, 25)
	r.items <- live(social.LiveFeedRemoved, 25)
	require.Equal(t, social.FeedID(25).String(), r.event().(*model.FeedRemoved).FeedID, "what is gone was neither added nor edited")

	c.relation.Following = false
	r.items <- live(social.LiveFeedEdited, 22)
	r.items <- live(social.LiveFeedAdded, 99)
	r.items <- live(social.LiveFeedEdited, 23)
	require.Equal(t, social.FeedID(23), r.event().(*model.FeedEdited).Feed.ID, "one's own needs no relation")
	close(r.items)
	require.Nil(t, r.event())
	require.Equal(t, social.CodeSlowConsumer, social.CodeOf(r.ended()))
}

func TestAnEventThatCanNotBeCheckedEndsTheStream(t *testing.T) {
	for code, c := range map[social.Code]*circle{social.CodeUnavailable: {away: true}, social.CodeInternal: {broken: true}} {
		t.Run(string(code), func(t *testing.T) {
			r := start(t, c)
			r.items <- live(social.LiveFeedAdded, 20)
			require.Nil(t, r.event())
			require.Equal(t, code, social.CodeOf(r.ended()))
		})
	}
}
