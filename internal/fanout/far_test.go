package fanout

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

const author = social.PlayerID(7)

// circleOf is a feed, its author's fans, and what was pushed to whom.
type circleOf struct {
	head   *social.Feed
	fans   []social.PlayerID
	pushed []pushed
	logs   logs
	// failAt is the push that fails, from 1 on.
	failAt int
	pulls
}

type pushed struct {
	players []social.PlayerID
	entry   social.LiveEntry
	replay  bool
}

func (c *circleOf) Load(_ context.Context, ids []social.FeedID) (map[social.FeedID]*social.Feed, error) {
	if c.head == nil || ids[0] != c.head.ID {
		return nil, nil
	}
	return map[social.FeedID]*social.Feed{c.head.ID: c.head}, nil
}

func (c *circleOf) FansOf(_ context.Context, of, after social.PlayerID, limit int) ([]social.PlayerID, error) {
	if of != author {
		return nil, errors.New("somebody else's fans")
	}
	i, found := slices.BinarySearch(c.fans, after)
	if found {
		i++
	}
	return c.fans[i:min(i+limit, len(c.fans))], nil
}

func (c *circleOf) Push(_ context.Context, players []social.PlayerID, entry social.LiveEntry, replay bool) error {
	if c.failAt == len(c.pushed)+1 {
		c.failAt = 0
		return social.Unavailable(errors.New("away"))
	}
	c.pushed = append(c.pushed, pushed{players, entry, replay})
	return nil
}

func (c *circleOf) far() *FeedFar {
	return &FeedFar{Heads: c, Fans: c, Pusher: c, Logs: &c.logs, Pulled: &c.pulls, Limit: 10}
}

func fans(n int) []social.PlayerID {
	players := make([]social.PlayerID, n)
	for i := range players {
		players[i] = social.PlayerID(100 + 3*i)
	}
	return players
}

func unsaved(context.Context, []byte) error { return errors.New("nothing to save") }

func TestFarSaysWhatBecameOfAFeed(t *testing.T) {
	made := social.Event{Kind: social.EventFeed, Actor: author, Subject: 20, Object: 20}
	changed := social.Event{Kind: social.EventFeed, Actor: author, Subject: 20, Object: 30}
	replayed := made
	replayed.Replay = true
	all := []social.PlayerID{author, 100, 103}
	for _, c := range []struct {
		name  string
		event social.Event
		head  *social.Feed
		want  []pushed
	}{
		{"made", made, &social.Feed{Visibility: social.Public, Version: 20},
			[]pushed{{all, social.LiveEntry{Kind: social.LiveFeedAdded, ID: 20, Version: 20}, false}}},
		{"made and edited since", made, &social.Feed{Visibility: social.Friends, Version: 40},
			[]pushed{{all, social.LiveEntry{Kind: social.LiveFeedAdded, ID: 20, Version: 20}, false}}},
		{"made and deleted since", made, &social.Feed{Visibility: social.Public, Version: 40, Deleted: true}, nil},
		{"edited", changed, &social.Feed{Visibility: social.Fans, Version: 30},
			[]pushed{{all, social.LiveEntry{Kind: social.LiveFeedEdited, ID: 20, Version: 30}, false}}},
		{"edited again since", changed, &social.Feed{Visibility: social.Fans, Version: 40},
			[]pushed{{all, social.LiveEntry{Kind: social.LiveFeedEdited, ID: 20, Version: 40}, false}}},
		{"deleted", changed, &social.Feed{Visibility: social.Public, Version: 30, Deleted: true},
			[]pushed{{all, social.LiveEntry{Kind: social.LiveFeedRemoved, ID: 20, Version: 30}, false}}},
		{"private", made, &social.Feed{Visibility: social.Private, Version: 20},
			[]pushed{{all[:1], social.LiveEntry{Kind: social.LiveFeedAdded, ID: 20, Version: 20}, false}}},
		{"run again after Redis went back", replayed, &social.Feed{Visibility: social.Public, Version: 20},
			[]pushed{{all, social.LiveEntry{Kind: social.LiveFeedAdded, ID: 20, Version: 20}, true}}},
		{"unknown", made, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			circle := &circleOf{head: c.head, fans: fans(2)}
			if c.head != nil {
				c.head.ID, c.head.AuthorID = 20, author
			}
			require.NoError(t, circle.far().Far(t.Context(), c.event, nil, unsaved))
			require.Equal(t, c.want, circle.pushed)
		})
	}
}

func TestFarGoesOnWhereItStopped(t *testing.T) {
	for _, c := range []struct {
		name  string
		fans  int
		saves int
	}{{"none", 0, 0}, {"a few", 5, 0}, {"one chunk", fansPerPush, 1}, {"one more", fansPerPush + 1, 1}, {"several", 3*fansPerPush + 1, 3}} {
		for failAt := range c.saves + 2 {
			circle := &circleOf{head: &social.Feed{ID: 20, AuthorID: author, Visibility: social.Public}, fans: fans(c.fans), failAt: failAt}
			var place []byte
			saves := 0
			run := func() error {
				return circle.far().Far(t.Context(), social.Event{Subject: 20, Object: 20}, place, func(_ context.Context, p []byte) error {
					place = p
					saves++
					return nil
				})
			}
			err := run()
			if failed := failAt > 0 && circle.failAt == 0; failed {
				require.Equal(t, social.CodeUnavailable, social.CodeOf(err), c.name)
				err = run()
			}
			require.NoError(t, err, c.name)
			require.Equal(t, c.saves, saves, c.name)
			var got []social.PlayerID
			for _, p := range circle.pushed {
				require.LessOrEqual(t, len(p.players), fansPerPush+1)
				got = append(got, p.players...)
			}
			require.Equal(t, append([]social.PlayerID{author}, circle.fans...), got, "%s, failing at push %d: everybody once, the author first", c.name, failAt)
		}
	}
}

func TestFarStopsWhenItsPlaceIsNotSaved(t *testing.T) {
	circle := &circleOf{head: &social.Feed{ID: 20, AuthorID: author, Visibility: social.Public}, fans: fans(fansPerPush + 1)}
	require.Error(t, circle.far().Far(t.Context(), social.Event{Subject: 20, Object: 20}, nil, unsaved))
	require.Len(t, circle.pushed, 1)
}
