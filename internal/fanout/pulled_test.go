package fanout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// pulls knows from where on the author is pulled, by whom, and who listens.
type pulls struct {
	fanCount int
	first    social.FeedID
	// pulling has the position of each fan who was told, in parts the listeners, of whom the even ones
	// are fans.
	pulling map[social.PlayerID]social.FeedID
	parts   [][]social.PlayerID
	// steps counts calls, of which the one at breakAt fails.
	steps, breakAt int
}

var errBroken = errors.New("broken")

func (p *pulls) step() error {
	if p.steps++; p.steps == p.breakAt {
		return errBroken
	}
	return nil
}

func (p *pulls) PullAbove(ctx context.Context, limit int, author social.PlayerID, feed social.FeedID) (social.FeedID, error) {
	if p.first == 0 && p.fanCount > limit {
		p.first = feed
	}
	return p.PulledFrom(ctx, author)
}

func (p *pulls) PulledFrom(context.Context, social.PlayerID) (social.FeedID, error) {
	return p.first, p.step()
}

func (p *pulls) Pull(_ context.Context, fans []social.PlayerID, _ social.PlayerID, position social.FeedID) error {
	for _, fan := range fans {
		if p.pulling == nil {
			p.pulling = map[social.PlayerID]social.FeedID{}
		}
		p.pulling[fan] = position
	}
	return p.step()
}

func (p *pulls) Listeners(_ context.Context, part int) (players []social.PlayerID, next int, err error) {
	if len(p.parts) == 0 {
		return nil, 0, p.step()
	}
	return p.parts[part], (part + 1) % len(p.parts), p.step()
}

func (p *pulls) FansAmong(_ context.Context, _ social.PlayerID, players []social.PlayerID) ([]social.PlayerID, error) {
	return slices.DeleteFunc(slices.Clone(players), func(p social.PlayerID) bool { return p%2 == 1 }), p.step()
}

func TestFeedsOfPulledAuthorsGoToThoseWhoListen(t *testing.T) {
	made := social.Event{Kind: social.EventFeed, Actor: author, Subject: 20, Object: 20}
	changed := social.Event{Kind: social.EventFeed, Actor: author, Subject: 20, Object: 30}
	replayed := made
	replayed.Replay = true
	all, listening := append([]social.PlayerID{author}, fans(2)...), []social.PlayerID{author, 102, 200}
	for _, c := range []struct {
		name     string
		fanCount int
		first    social.FeedID
		event    social.Event
		head     social.Feed
		// pulled is from where the author is pulled afterwards, told who pulls, want who was pushed to.
		pulled social.FeedID
		told   []social.PlayerID
		want   []social.PlayerID
	}{
		{"few fans", 10, 0, made, social.Feed{}, 0, nil, all},
		{"at the limit's crossing", 11, 0, made, social.Feed{}, 20, all[1:], listening},
		{"at the crossing, again", 11, 20, made, social.Feed{}, 20, all[1:], listening},
		{"at the crossing, fewer fans since", 3, 20, made, social.Feed{}, 20, all[1:], listening},
		{"at the crossing, deleted since", 11, 20, made, social.Feed{Deleted: true}, 20, all[1:], nil},
		{"at the crossing, replayed", 11, 20, replayed, social.Feed{}, 20, all[1:], []social.PlayerID{author}},
		{"deleted before it could cross", 11, 0, made, social.Feed{Deleted: true}, 0, nil, nil},
		{"PRIVATE, which does not cross", 11, 0, made, social.Feed{Visibility: social.Private}, 0, nil, all[:1]},
		{"a change, which does not cross", 11, 0, changed, social.Feed{Version: 30}, 0, nil, all},
		{"after the crossing", 11, 10, made, social.Feed{}, 10, nil, listening},
		{"after the crossing, replayed", 11, 10, replayed, social.Feed{}, 10, nil, []social.PlayerID{author}},
		{"before the crossing, late", 11, 21, made, social.Feed{}, 21, nil, all},
		{"before the crossing, edited", 11, 21, changed, social.Feed{Version: 30}, 21, nil, listening},
		{"after the crossing, edited", 11, 10, changed, social.Feed{Version: 30}, 10, nil, listening},
		{"after the crossing, deleted", 11, 10, changed, social.Feed{Version: 30, Deleted: true}, 10, nil, listening},
		{"after the crossing, PRIVATE", 11, 10, made, social.Feed{Visibility: social.Private}, 10, nil, all[:1]},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.head.ID, c.head.AuthorID = 20, author
			if c.head.Visibility == 0 {
				c.head.Visibility = social.Public
			}
			circle := &circleOf{head: &c.head, fans: fans(2), pulls: pulls{
				fanCount: c.fanCount, first: c.first, parts: [][]social.PlayerID{{101, 102}, nil, {200, 201}},
			}}
			save := func(context.Context, []byte) error { return nil }
			require.NoError(t, circle.far().Far(t.Context(), c.event, nil, save))
			require.Equal(t, c.pulled, circle.first)
			require.Len(t, circle.pulling, len(c.told))
			for _, fan := range c.told {
				require.EqualValues(t, 19, circle.pulling[fan])
			}
			var got []social.PlayerID
			for _, p := range circle.pushed {
				got = append(got, p.players...)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestAPulledFeedGoesOnWhereItStopped breaks the stage at each of its steps, after which it comes again.
func TestAPulledFeedGoesOnWhereItStopped(t *testing.T) {
	for breakAt := 1; ; breakAt++ {
		circle := &circleOf{head: &social.Feed{ID: 20, AuthorID: author, Visibility: social.Public}, fans: fans(2*fansPerPush + 1),
			pulls: pulls{fanCount: 11, breakAt: breakAt, parts: [][]social.PlayerID{{102}, {103}, {104}, {106}}}}
		var place []byte
		run := func() error {
			return circle.far().Far(t.Context(), social.Event{Subject: 20, Object: 20}, place, func(_ context.Context, p []byte) error {
				place = p
				return nil
			})
		}
		err := run()
		broken := err != nil
		if broken {
			require.ErrorIs(t, err, errBroken)
			require.NoError(t, run())
		}
		name := fmt.Sprint("broken at step ", breakAt)
		require.EqualValues(t, 20, circle.first, name)
		require.Len(t, circle.pulling, len(circle.fans), name)
		reached := map[social.PlayerID]bool{}
		for _, p := range circle.pushed {
			for _, player := range p.players {
				reached[player] = true
			}
		}
		require.Equal(t, map[social.PlayerID]bool{author: true, 102: true, 104: true, 106: true}, reached, name)
		if !broken {
			require.Greater(t, breakAt, 10)
			return
		}
	}
}
