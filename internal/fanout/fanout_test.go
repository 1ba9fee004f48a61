package fanout

import (
	"context"
	"errors"
	"fmt"
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

// lists notes what was settled, and fails when it should.
type lists struct {
	mu      sync.Mutex
	settled []string
	err     error
}

func (l *lists) note(what string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled = append(l.settled, what)
	return l.err
}

func (l *lists) Feed(_ context.Context, id social.FeedID) error {
	return l.note(fmt.Sprint("feed ", int64(id)))
}

func (l *lists) Edge(_ context.Context, player, peer social.PlayerID) error {
	return l.note(fmt.Sprint("edge ", int64(player), " ", int64(peer)))
}

func (l *lists) Like(_ context.Context, key social.LikeKey) error {
	return l.note(fmt.Sprint("like ", int64(key.Feed), " ", int64(key.Player)))
}

func (l *lists) Comment(_ context.Context, id social.CommentID) error {
	return l.note(fmt.Sprint("comment ", int64(id)))
}

func (l *lists) Message(_ context.Context, id social.MessageID, recipient social.PlayerID) error {
	return l.note(fmt.Sprint("message ", int64(id), " ", int64(recipient)))
}

type entities struct {
	lists                   lists
	simple, details         recorder[social.PlayerID]
	heads, bodies, counters recorder[social.FeedID]
	comments                recorder[social.CommentID]
	messages                recorder[social.MessageID]
	logs                    logs
}

func (e *entities) near() *Near {
	return &Near{
		Lists: &e.lists, Simple: &e.simple, Details: &e.details, Heads: &e.heads, Bodies: &e.bodies, Counters: &e.counters,
		Comments: &e.comments, Messages: &e.messages, Logs: &e.logs,
	}
}

type (
	players  = [][]social.PlayerID
	feeds    = [][]social.FeedID
	comments = [][]social.CommentID
)

func TestNearRefreshesWhatAnEventTouches(t *testing.T) {
	player := social.Event{Kind: social.EventPlayer, Actor: 1, Subject: 1}
	feed := social.Event{Kind: social.EventFeed, Actor: 2, Subject: 20}
	edge := social.Event{Kind: social.EventEdge, Actor: 3, Subject: 3, Object: 4}
	like := social.Event{Kind: social.EventLike, Actor: 5, Subject: 10, Object: 5}
	comment := social.Event{Kind: social.EventComment, Actor: 5, Subject: 30, Object: 300}
	for _, c := range []struct {
		name            string
		events          []social.Event
		simple, details players
		heads, counters feeds
		comments        comments
		messages        [][]social.MessageID
	}{
		{name: "player", events: []social.Event{player}, simple: players{{1}}, details: players{{1}}},
		{name: "feed", events: []social.Event{feed}, details: players{{2}}, heads: feeds{{20}}, counters: feeds{{20}}},
		{name: "edge", events: []social.Event{edge}, details: players{{3, 4}}},
		{name: "like", events: []social.Event{like}, counters: feeds{{10}}},
		{name: "comment", events: []social.Event{comment}, counters: feeds{{30}}, comments: comments{{300}}},
		{
			name:   "several, one refresh per entity",
			events: []social.Event{like, edge, comment, feed, player, like, feed, comment},
			simple: players{{1}}, details: players{{1, 2, 3, 4}}, heads: feeds{{20}}, counters: feeds{{10, 20, 30}},
			comments: comments{{300}},
		},
		{
			name:     "messages, not what was read",
			events:   []social.Event{{Kind: social.EventConversation, Actor: 1, Subject: 70, Object: 2}, {Kind: social.EventConversation, Actor: 2, Object: 2}},
			messages: [][]social.MessageID{{70}},
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
			require.Equal(t, c.comments, e.comments.asked)
			require.Equal(t, c.messages, e.messages.asked)
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

func TestNearSettlesTheListsOfAnEvent(t *testing.T) {
	var e entities
	require.NoError(t, e.near().Near(t.Context(), []social.Event{
		{Kind: social.EventPlayer, Actor: 1, Subject: 1},
		{Kind: social.EventFeed, Actor: 2, Subject: 20, Object: 20},
		{Kind: social.EventEdge, Actor: 3, Subject: 3, Object: 4},
		{Kind: social.EventLike, Actor: 5, Subject: 10, Object: 5},
		{Kind: social.EventComment, Actor: 5, Subject: 10, Object: 300},
		{Kind: social.EventConversation, Actor: 5, Subject: 70, Object: 6},
		{Kind: social.EventConversation, Actor: 6, Object: 6},
	}))
	require.ElementsMatch(t, []string{"feed 20", "edge 3 4", "like 10 5", "comment 300", "message 70 6"}, e.lists.settled)

	bad := errors.New("bad")
	e = entities{lists: lists{err: bad}}
	require.ErrorIs(t, e.near().Near(t.Context(), []social.Event{{Kind: social.EventLike, Actor: 5, Subject: 10, Object: 5}}), bad)
	require.Equal(t, feeds{{10}}, e.counters.asked, "the rest is done all the same")
}

func TestNearRefusesUnknownKinds(t *testing.T) {
	var e entities
	require.ErrorContains(t, e.near().Near(t.Context(), []social.Event{{Kind: 99}}), "99")
}
