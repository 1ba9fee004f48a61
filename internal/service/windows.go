package service

import (
	"context"
	"time"

	"circle/internal/social"
)

// Windows are the ordered lists that Redis holds.
type Windows struct {
	// Timelines are the feeds on players' home pages; Liked, by feed id, those that players like.
	Timelines MergeWindow
	Liked     Window
	// Homes reads timelines; Pulls are the pulled authors whom players follow, by position. A timeline
	// is never there before the list of pulled authors that goes with it.
	Homes HomeWindows
	Pulls DropWindow
	// Profiles are the feeds that players made, of every visibility.
	Profiles FeedWindow
	// Inboxes are the messages that players received.
	Inboxes Window
	// Likes are the players who like a feed, by like.
	Likes EachWindow
	// Following, Fans and Friends are players by edge.
	Following PlayerWindow
	Fans      Window
	Friends   Window
	// Blocked, Blockers and Muted are players whom a player blocks, who block him, and whom he mutes.
	Blocked  Window
	Blockers Window
	Muted    Window
	// Comments are the heads on feeds and Replies the answers below heads, oldest first.
	Comments Window
	Replies  Window
}

// WindowStore reads from the relational store what windows are built of.
type WindowStore interface {
	// TimelineFeeds lists a player's own feeds and all but the private ones of followed players,
	// newest first, without deleted ones.
	TimelineFeeds(ctx context.Context, viewer social.PlayerID, below int64, limit int) ([]social.FeedID, error)
	// LikedBelow lists feeds that a player likes, those with the largest ids first.
	LikedBelow(ctx context.Context, player social.PlayerID, below int64, limit int) ([]social.FeedID, error)
	// NewestOf lists the newest feeds of an author, deleted ones too.
	NewestOf(ctx context.Context, author social.PlayerID, limit int) ([]social.FeedID, error)
	// EdgeOf reads what two players are to each other, as the first sees it.
	EdgeOf(ctx context.Context, player, peer social.PlayerID) (social.Edge, error)
	// LikesByKeys reads likes that stand; others are absent.
	LikesByKeys(ctx context.Context, keys []social.LikeKey) (map[social.LikeKey]social.LikeID, error)
	PulledStore
}

// lists joins windows with what they are built of.
type lists struct {
	Windows
	*builder
	gate  *gate
	store WindowStore
	rows  Lists
	now   func() time.Time
}

// wantTimeline asks for a player's timeline to be built behind the answer, and for his list of pulled
// authors where that is absent.
func (l *lists) wantTimeline(player social.PlayerID) {
	l.wantBuild(l.timelineBuild(player))
}

func (l *lists) timelineBuild(player social.PlayerID) build {
	read := func(ctx context.Context, list, after int64, limit int) ([]social.Entry, error) {
		return feedEntries(l.store.TimelineFeeds(ctx, social.PlayerID(list), after, limit))
	}
	return build{buildKey{"timeline", int64(player)}, []part{{window: l.Pulls, read: l.pulls, short: true}, {window: l.Timelines, read: read}}}
}

// wantLiked asks for the feeds that a player likes.
func (l *lists) wantLiked(player social.PlayerID) {
	l.want("liked", int64(player), l.Liked, func(ctx context.Context, list, after int64, limit int) ([]social.Entry, error) {
		return feedEntries(l.store.LikedBelow(ctx, social.PlayerID(list), after, limit))
	})
}

// wantInbox asks for the messages that a player received.
func (l *lists) wantInbox(player social.PlayerID) {
	l.want("inbox", int64(player), l.Inboxes, func(ctx context.Context, list, after int64, limit int) ([]social.Entry, error) {
		ids, err := l.rows.ReceivedMessages(ctx, social.PlayerID(list), social.MessageID(after), 0, limit, true)
		entries := make([]social.Entry, len(ids))
		for i, id := range ids {
			entries[i] = social.Entry{Member: int64(id), Key: int64(id)}
		}
		return entries, err
	})
}

// wantProfile asks for the feeds that a player made.
func (l *lists) wantProfile(author social.PlayerID) {
	l.want("profile", int64(author), l.Profiles, func(ctx context.Context, list, after int64, limit int) ([]social.Entry, error) {
		found, err := l.rows.AuthorFeeds(ctx, []AuthorFeedsAsk{{
			ListAsk:      ListAsk[social.PlayerID]{Of: social.PlayerID(list), Below: after, Limit: limit},
			Visibilities: social.Visibilities(), Hidden: true,
		}})
		if err != nil {
			return nil, err
		}
		return feedEntries(found[0], nil)
	})
}

// wantLikers asks for the players who like a feed.
func (l *lists) wantLikers(feed social.FeedID) {
	l.want("likes", int64(feed), l.Likes, func(ctx context.Context, list, after int64, limit int) ([]social.Entry, error) {
		found, err := l.rows.Likers(ctx, AllLikers, 0, []ListAsk[social.FeedID]{{Of: social.FeedID(list), Below: after, Limit: limit}})
		if err != nil {
			return nil, err
		}
		entries := make([]social.Entry, len(found[0]))
		for i, like := range found[0] {
			entries[i] = social.Entry{Member: int64(like.Key.Player), Key: int64(like.Order)}
		}
		return entries, nil
	})
}

// relation is the window of a player's lists of players.
func (l *lists) relation(of social.RelationList) Window {
	switch of {
	case social.ListFans:
		return l.Fans
	case social.ListFriends:
		return l.Friends
	case social.ListBlocked:
		return l.Blocked
	case social.ListBlockers:
		return l.Blockers
	case social.ListMuted:
		return l.Muted
	}
	return l.Following
}

// wantRelation asks for one of a player's lists of players.
func (l *lists) wantRelation(of social.RelationList, player social.PlayerID) {
	l.want(of.String(), int64(player), l.relation(of), func(ctx context.Context, list, after int64, limit int) ([]social.Entry, error) {
		found, err := l.rows.PlayerLists(ctx, of, 0, []ListAsk[social.PlayerID]{{Of: social.PlayerID(list), Below: after, Limit: limit}})
		if err != nil {
			return nil, err
		}
		entries := make([]social.Entry, len(found[0]))
		for i, e := range found[0] {
			entries[i] = social.Entry{Member: int64(e.Player), Key: int64(e.Edge)}
		}
		return entries, nil
	})
}

// threads are the windows of feeds' heads, or of the answers below heads.
func (l *lists) threads(heads bool) Window {
	if heads {
		return l.Comments
	}
	return l.Replies
}

// threadList is the number of a list of comments among those of its kind.
func (l *lists) threadList(t social.Thread) int64 {
	if t.Head == 0 {
		return int64(t.Feed)
	}
	return int64(t.Head)
}

// wantThread asks for a list of comments.
func (l *lists) wantThread(t social.Thread) {
	kind := "comments"
	if t.Head != 0 {
		kind = "replies"
	}
	l.wantOldest(kind, l.threadList(t), l.threads(t.Head == 0), func(ctx context.Context, _, after int64, limit int) ([]social.Entry, error) {
		found, err := l.rows.CommentLists(ctx, 0, []social.ThreadAsk{{Thread: t, After: after, Limit: limit}})
		if err != nil {
			return nil, err
		}
		entries := make([]social.Entry, len(found[0]))
		for i, id := range found[0] {
			entries[i] = social.Entry{Member: int64(id), Key: int64(id)}
		}
		return entries, nil
	})
}

func feedEntries(ids []social.FeedID, err error) ([]social.Entry, error) {
	entries := make([]social.Entry, len(ids))
	for i, id := range ids {
		entries[i] = feedEntry(id)
	}
	return entries, err
}

func feedEntry(id social.FeedID) social.Entry { return social.Entry{Member: int64(id), Key: int64(id)} }
