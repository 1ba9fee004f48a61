package fanout

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// recorder is a Refresher that notes what it was asked for.
type recorder[K comparable] struct {
	mu    sync.Mutex
	asked [][]K
	err   error
}

func (r *recorder[K]) Refresh(_ context.Context, keys []K) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, keys)
	return r.err
}

type entities struct {
	simple, details         recorder[social.PlayerID]
	heads, bodies, counters recorder[social.FeedID]
}

func (e *entities) near() *Near {
	return &Near{Simple: &e.simple, Details: &e.details, Heads: &e.heads, Bodies: &e.bodies, Counters: &e.counters}
}

type (
	players = [][]social.PlayerID
	feeds   = [][]social.FeedID
)

func TestNearRefreshesWhatAnEventTouches(t *testing.T) {
	player := social.Event{Kind: social.EventPlayer, Actor: 1, Subject: 1}
	feed := social.Event{Kind: social.EventFeed, Actor: 2, Subject: 20}
	edge := social.Event{Kind: social.EventEdge, Actor: 3, Subject: 3, Object: 4}
	like := social.Event{Kind: social.EventLike, Actor: 5, Subject: 10, Object: 5}
	for _, c := range []struct {
		name            string
		events          []social.Event
		simple, details players
		heads, counters feeds
	}{
		{name: "player", events: []social.Event{player}, simple: players{{1}}, details: players{{1}}},
		{name: "feed", events: []social.Event{feed}, details: players{{2}}, heads: feeds{{20}}, counters: feeds{{20}}},
		{name: "edge", events: []social.Event{edge}, details: players{{3, 4}}},
		{name: "like", events: []social.Event{like}, counters: feeds{{10}}},
		{
			name:   "several, one refresh per entity",
			events: []social.Event{like, edge, feed, player, like, feed},
			simple: players{{1}}, details: players{{1, 2, 3, 4}}, heads: feeds{{20}}, counters: feeds{{10, 20}},
		},
		{name: "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e entities
			require.NoError(t, e.near().Near(t.Context(), c.events))
			require.Equal(t, c.simple, e.simple.asked)
			require.Equal(t, c.details, e.details.asked)
			require.Equal(t, c.heads, e.heads.asked)
			require.Equal(t, c.heads, e.bodies.asked)
			require.Equal(t, c.counters, e.counters.asked)
		})
	}
}

func TestNearTellsWhatFailedAndDoesTheRest(t *testing.T) {
	bad, worse := errors.New("bad"), social.Unavailable(errors.New("worse"))
	e := entities{heads: recorder[social.FeedID]{err: bad}, details: recorder[social.PlayerID]{err: worse}}
	err := e.near().Near(t.Context(), []social.Event{{Kind: social.EventFeed, Actor: 2, Subject: 20}})
	require.ErrorIs(t, err, bad)
	require.Equal(t, social.CodeUnavailable, social.CodeOf(err))
	require.Equal(t, feeds{{20}}, e.counters.asked)
	require.Equal(t, feeds{{20}}, e.bodies.asked)
}

func TestNearRefusesUnknownKinds(t *testing.T) {
	var e entities
	require.ErrorContains(t, e.near().Near(t.Context(), []social.Event{{Kind: 99}}), "99")
}
