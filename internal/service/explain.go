package service

import (
	"context"
	"slices"

	"circle/internal/social"
)

// Explainer finds out why a feed is, or isn't, on a player's home page. It reads rows, and the timeline
// where that can be reached.
type Explainer struct {
	Feeds     Truth[social.FeedID, *social.Feed]
	Relations RelationStore
	Lists     FeedStore
	Sources   WindowStore
	// Homes is nil where Redis can't be reached.
	Homes HomeWindows
}

// TimelineView is what a player's timeline in Redis says of a feed.
type TimelineView uint8

// The views.
const (
	// TimelineUnknown: Redis was not asked.
	TimelineUnknown TimelineView = iota
	// TimelineAbsent: there is none, so that pages come from the relational store.
	TimelineAbsent
	// TimelineShort: it ends before it reaches the feed; pages go on from the relational store.
	TimelineShort
	// TimelineHolds: the feed is in it.
	TimelineHolds
	// TimelineLacks: it reaches the feed and does not hold it.
	TimelineLacks
	// TimelinePulls: it does not hold the feed yet, whose author is pulled; the next page brings it.
	TimelinePulls
)

// Explanation is why a feed is, or isn't, on a player's home page.
type Explanation struct {
	Player social.PlayerID
	Head   *social.Feed
	// Relation is how the player stands to the author.
	Relation social.Relation
	// Visible says that the player may see the feed, wherever it is listed.
	Visible bool
	// Defined says that the SQL definition of the home page holds the feed.
	Defined bool
	// Place is the feed's place among those that belong into the timeline, from 1 on; 0 when it is none of the
	// newest that a timeline holds.
	Place    int
	Timeline TimelineView
}

// Explain finds out; nil when there is no such feed.
func (e Explainer) Explain(ctx context.Context, viewer social.Viewer, feed social.FeedID) (*Explanation, error) {
	heads, err := e.Feeds.Load(ctx, []social.FeedID{feed})
	if err != nil || heads[feed] == nil {
		return nil, err
	}
	player := viewer.Player
	x := &Explanation{Player: player, Head: heads[feed]}
	relations, err := e.Relations.Relations(ctx, player, []social.PlayerID{x.Head.AuthorID})
	if err != nil {
		return nil, err
	}
	x.Relation = relations[x.Head.AuthorID]
	x.Visible = !x.Head.Deleted && x.Head.Guard().VisibleTo(viewer, x.Relation)
	next, err := e.Lists.HomeFeeds(ctx, viewer, int64(feed)+1, 1)
	if err != nil {
		return nil, err
	}
	x.Defined = slices.Contains(next, feed)
	newest, err := e.Sources.TimelineFeeds(ctx, player, social.MaxID+1, timelineLength)
	if err != nil {
		return nil, err
	}
	x.Place = slices.Index(newest, feed) + 1
	if e.Homes != nil {
		x.Timeline, err = e.view(ctx, player, x.Head)
	}
	return x, err
}

// view asks the timeline.
func (e Explainer) view(ctx context.Context, player social.PlayerID, feed *social.Feed) (TimelineView, error) {
	// What stands right behind the feed's next larger id is the feed, if it is there.
	home, err := e.Homes.Read(ctx, social.WindowAsk{ID: int64(player), After: int64(feed.ID) + 1, Limit: 1})
	if err != nil {
		return TimelineUnknown, err
	}
	switch {
	case home.State == social.WindowAbsent:
		return TimelineAbsent, nil
	case slices.Contains(home.Entries, feedEntry(feed.ID)):
		return TimelineHolds, nil
	case home.Floor >= int64(feed.ID):
		return TimelineShort, nil
	case home.Pulls(feed):
		return TimelinePulls, nil
	}
	return TimelineLacks, nil
}

// Shown says whether the player's home page shows the feed, as far as is known.
func (x *Explanation) Shown() bool { return x.Defined && x.Timeline != TimelineLacks }
