package service

import (
	"cmp"
	"context"
	"slices"

	"circle/internal/social"
)

// FriendCounts tells how many of the viewer's friends like each of the feeds.
func (l *Likes) FriendCounts(ctx context.Context, viewer social.Viewer, ids []social.FeedID) (map[social.FeedID]int, error) {
	if viewer.Anonymous() || len(ids) == 0 {
		return nil, nil
	}
	ids = unique(ids)
	asks := make([]social.WindowAsk, len(ids))
	for i, id := range ids {
		asks[i] = social.WindowAsk{ID: int64(id), After: social.MaxID + 1, Limit: likersAhead}
	}
	f := &friendLikes{Likes: l, viewer: viewer}
	if _, err := f.probe(ctx, asks, ids); err != nil {
		return nil, err
	}
	counts := make(map[social.FeedID]int, len(ids))
	for id, friends := range f.known {
		if friends.all {
			counts[id] = len(friends.likes)
		}
	}
	missing := absent(ids, counts)
	if len(missing) == 0 {
		return counts, nil
	}
	found, err := fallback(ctx, l.lists.gate.onlyIf(f.lacking), func() (map[social.FeedID]int, error) {
		return l.store.FriendLikeCounts(ctx, viewer.Player, missing)
	})
	for id, n := range found {
		counts[id] = n
	}
	return counts, err
}

// friendLikes finds the friends of a viewer among the likers of feeds. It walks through the shorter of
// the two lists and asks the other one for its members.
type friendLikes struct {
	*Likes
	viewer social.Viewer
	// known holds the feeds of which something is known.
	known map[social.FeedID]knownFriends
	// friends are the newest friends; complete when they have Ended.
	friends social.WindowPage
	// lacking says that Redis has not all of the windows, so that the relational store stands in for them.
	lacking bool
}

// knownFriends are the newest likes of a feed by friends, or all of them.
type knownFriends struct {
	likes []social.Like
	all   bool
}

// probe reads pieces of likers, and finds the friends among the likers of some of the feeds. What is not
// there is wanted.
func (f *friendLikes) probe(ctx context.Context, asks []social.WindowAsk, of []social.FeedID) ([]social.WindowPage, error) {
	read, err := f.cache.Likers(ctx, f.viewer.Player, asks)
	if err != nil {
		f.lacking = true
		return make([]social.WindowPage, len(asks)), ctx.Err()
	}
	f.friends = read.Friends
	if !f.viewer.Anonymous() && (f.friends.State == social.WindowAbsent || f.friends.Unfinished) {
		f.lists.wantRelation(social.ListFriends, f.viewer.Player)
		f.lacking = f.lacking || f.friends.State == social.WindowAbsent
	}
	pages := make(map[social.FeedID]social.WindowPage, len(asks))
	for i, page := range read.Pages {
		feed := social.FeedID(asks[i].ID)
		if page.State == social.WindowAbsent || page.Unfinished {
			f.lists.wantLikers(feed)
			f.lacking = f.lacking || page.State == social.WindowAbsent
		}
		if asks[i].After <= social.MaxID {
			page.Entries, page.Ended = nil, false // not from the beginning
		}
		if old, ok := pages[feed]; !ok || len(old.Entries) < len(page.Entries) {
			pages[feed] = page
		}
	}
	return read.Pages, f.find(ctx, of, pages)
}

// find finds the friends among the likers of feeds. An error of Redis leaves them unknown.
func (f *friendLikes) find(ctx context.Context, feeds []social.FeedID, pages map[social.FeedID]social.WindowPage) error {
	f.known = make(map[social.FeedID]knownFriends, len(feeds))
	if f.friends.State == social.WindowAbsent || f.friends.Floor != 0 {
		return nil
	}
	likers := make(map[social.FeedID][]social.Entry, len(feeds)) // all there are
	var long, byFriends []social.FeedID
	for _, feed := range feeds {
		switch page := pages[feed]; {
		case page.State == social.WindowAbsent:
		case page.Ended:
			likers[feed] = page.Entries
		case page.Floor == 0 && page.Size < f.friends.Size:
			long = append(long, feed)
		default:
			byFriends = append(byFriends, feed)
		}
	}
	if f.readAll(ctx, long, pages, likers) != nil || f.amongLikers(ctx, likers) != nil || f.amongFriends(ctx, byFriends) != nil {
		f.lacking = true
	}
	return ctx.Err()
}

// readAll reads the likers of feeds that have fewer of them than the viewer has friends.
func (f *friendLikes) readAll(ctx context.Context, feeds []social.FeedID, pages map[social.FeedID]social.WindowPage, likers map[social.FeedID][]social.Entry) error {
	if len(feeds) == 0 {
		return nil
	}
	asks := make([]social.WindowAsk, len(feeds))
	for i, feed := range feeds {
		// A few may have come since.
		asks[i] = social.WindowAsk{ID: int64(feed), After: social.MaxID + 1, Limit: pages[feed].Size + likersAhead}
	}
	read, err := f.lists.Likes.Read(ctx, asks)
	for i, page := range read {
		if page.Ended {
			likers[feeds[i]] = page.Entries
		}
	}
	return err
}

// amongLikers finds the friends among all likers of feeds.
func (f *friendLikes) amongLikers(ctx context.Context, likers map[social.FeedID][]social.Entry) error {
	var members []int64
	for _, entries := range likers {
		for _, e := range entries {
			members = append(members, e.Member)
		}
	}
	friend, err := f.areFriends(ctx, unique(members))
	if err != nil {
		return err
	}
	for feed, entries := range likers {
		known := knownFriends{all: true}
		for _, e := range entries {
			known.all = known.all && friend[e.Member] != social.PresenceUnknown
			if friend[e.Member] == social.PresenceYes {
				known.likes = append(known.likes, likeOf(feed, e, true))
			}
		}
		if known.all {
			f.known[feed] = known
		}
	}
	return nil
}

// amongFriends asks the likers of feeds for all friends. Those who liked a feed before its window begins
// stay unknown; they come behind the others.
func (f *friendLikes) amongFriends(ctx context.Context, feeds []social.FeedID) error {
	if len(feeds) == 0 {
		return nil
	}
	if !f.friends.Ended {
		// A few may have come since.
		ask := social.WindowAsk{ID: int64(f.viewer.Player), After: social.MaxID + 1, Limit: f.friends.Size + likersAhead}
		read, err := f.lists.Friends.Read(ctx, []social.WindowAsk{ask})
		if err != nil || !read[0].Ended {
			return err
		}
		f.friends = read[0]
	}
	ids, members := make([]int64, len(feeds)), make([]int64, len(f.friends.Entries))
	for i, feed := range feeds {
		ids[i] = int64(feed)
	}
	for i, e := range f.friends.Entries {
		members[i] = e.Member
	}
	each, err := f.lists.Likes.HasEach(ctx, ids, members)
	if err != nil {
		return err
	}
	for i, feed := range feeds {
		if each[i].State == social.WindowAbsent {
			continue
		}
		known := knownFriends{all: true}
		for j, m := range each[i].Answers {
			known.all = known.all && m.Presence != social.PresenceUnknown
			if m.Presence == social.PresenceYes && m.Key > each[i].Floor {
				known.likes = append(known.likes, likeOf(feed, social.Entry{Member: members[j], Key: m.Key}, true))
			}
		}
		slices.SortFunc(known.likes, func(a, b social.Like) int { return cmp.Compare(b.Order, a.Order) })
		f.known[feed] = known
	}
	return nil
}

// areFriends tells which players are the viewer's friends, without a trip where all of these are at hand.
func (f *friendLikes) areFriends(ctx context.Context, members []int64) (map[int64]social.Presence, error) {
	known := make(map[int64]social.Presence, len(members))
	if f.viewer.Anonymous() || len(members) == 0 {
		return known, nil
	}
	if f.friends.State == social.WindowWhole && f.friends.Ended {
		for _, m := range members {
			known[m] = social.PresenceNo
		}
		for _, e := range f.friends.Entries {
			known[e.Member] = social.PresenceYes
		}
		return known, nil
	}
	answers, err := f.lists.Friends.Has(ctx, int64(f.viewer.Player), members)
	for i, m := range answers {
		known[members[i]] = m.Presence
	}
	return known, err
}
