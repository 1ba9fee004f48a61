package fanout

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// logs notes what is written into them.
type logs struct {
	written []string
	err     error
}

func (l *logs) Append(_ context.Context, to []social.LogID, entry social.LiveEntry) ([]social.LogID, error) {
	for _, log := range to {
		l.written = append(l.written, fmt.Sprintf("%d/%d %c%d.%d", log.Kind, log.Of, entry.Kind, entry.ID, entry.Version))
	}
	return to, l.err
}

// said are comments; what is not in it is unknown.
type said map[social.CommentID]*social.Comment

func (s said) Load(context.Context, []social.CommentID) (map[social.CommentID]*social.Comment, error) {
	return s, nil
}

func TestWhoeverListensToAFeedIsTold(t *testing.T) {
	stands, deleted := said{300: {ID: 300}}, said{300: {ID: 300, Deleted: true}}
	comment := social.Event{Kind: social.EventComment, Actor: 5, Subject: 30, Object: 300}
	replay := comment
	replay.Replay = true
	edit := social.Event{Kind: social.EventFeed, Actor: author, Subject: 30, Object: 31}
	for _, c := range []struct {
		name    string
		event   social.Event
		said    said
		feed    *social.Feed
		written []string
	}{
		{name: "a comment", event: comment, said: stands, written: []string{"2/30 c300.300"}},
		{name: "a deleted comment", event: comment, said: deleted, written: []string{"2/30 x300.300"}},
		{name: "an unknown comment", event: comment, written: []string{"2/30 x300.300"}},
		{name: "a replay", event: replay, said: stands},
		{name: "a new feed", event: social.Event{Kind: social.EventFeed, Actor: author, Subject: 30, Object: 30}, feed: &social.Feed{Version: 30}},
		{name: "an edit", event: edit, feed: &social.Feed{Version: 31}, written: []string{"2/30 e30.31"}},
		{name: "a deletion", event: edit, feed: &social.Feed{Version: 31, Deleted: true}, written: []string{"2/30 r30.31"}},
		{name: "a hiding", event: edit, feed: &social.Feed{Version: 31, Hidden: true}, written: []string{"2/30 r30.31"}},
		{name: "a replayed edit", event: social.Event{Kind: social.EventFeed, Actor: author, Subject: 30, Object: 31, Replay: true}, feed: &social.Feed{Version: 31}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &logs{}
			of := &circleOf{head: c.feed}
			if c.feed != nil {
				c.feed.ID, c.feed.AuthorID, c.feed.Visibility = 30, author, social.Private
			}
			far := of.far()
			far.Logs = l
			run := map[social.EventKind]func(context.Context, social.Event, []byte, func(context.Context, []byte) error) error{
				social.EventComment: (&CommentFar{Comments: c.said, Logs: l}).Far,
				social.EventFeed:    far.Far,
			}[c.event.Kind]
			require.NoError(t, run(t.Context(), c.event, nil, nil))
			require.Equal(t, c.written, l.written)
			if c.written == nil {
				return
			}
			l.err = social.Unavailable(errors.New("away"))
			require.Equal(t, social.CodeUnavailable, social.CodeOf(run(t.Context(), c.event, nil, nil)))
		})
	}
}

func TestCountersAreToldOnceTheyAreRight(t *testing.T) {
	events := []social.Event{
		{Kind: social.EventLike, Actor: 5, Subject: 30, Object: 5}, {Kind: social.EventComment, Actor: 5, Subject: 31, Object: 300},
		{Kind: social.EventLike, Actor: 6, Subject: 30, Object: 6}, {Kind: social.EventLike, Actor: 6, Subject: 32, Object: 6, Replay: true},
		{Kind: social.EventFeed, Actor: 6, Subject: 33, Object: 34}, {Kind: social.EventEdge, Actor: 6, Subject: 6, Object: 7},
	}
	var e entities
	require.NoError(t, e.near().Near(t.Context(), events))
	require.Equal(t, []string{"2/30 n0.0", "2/31 n0.0"}, e.logs.written, "once, and not of what is done again")

	e = entities{}
	require.NoError(t, e.near().Near(t.Context(), events[3:]))
	require.Empty(t, e.logs.written)

	e = entities{counters: recorder[social.FeedID]{err: errors.New("bad")}}
	require.Error(t, e.near().Near(t.Context(), events))
	require.Empty(t, e.logs.written, "they are still to be made right")

	e = entities{logs: logs{err: social.Unavailable(errors.New("away"))}}
	require.Equal(t, social.CodeUnavailable, social.CodeOf(e.near().Near(t.Context(), events)))
}
