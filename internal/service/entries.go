package service

import (
	"context"

	"circle/internal/social"
)

// FeedEntry is a feed in a list, with all that lists show of it.
type FeedEntry struct {
	Feed     *social.Feed
	Counters *social.FeedCounters
	Author   *social.Player
	// Relation is what the author is to the viewer, Liked whether the viewer likes the feed.
	Relation social.Relation
	Liked    bool
	Reason   social.FeedReason
}

// entries hydrates feeds, in order, without those that are gone: two trips while all is warm, however
// many there are.
func (f *Feeds) entries(ctx context.Context, viewer social.Viewer, ids []social.FeedID) ([]FeedEntry, error) {
	cards, err := f.cards(ctx, viewer, ids)
	if err != nil {
		return nil, err
	}
	entries := make([]FeedEntry, 0, len(ids))
	authors := make([]social.PlayerID, 0, len(ids))
	for _, id := range ids {
		head := cards.Heads[id]
		if head == nil || head.Deleted {
			continue
		}
		entries = append(entries, FeedEntry{Feed: head, Counters: cards.Counters[id], Liked: cards.Liked[id]})
		authors = append(authors, head.AuthorID)
	}
	people, err := f.relations.People(ctx, viewer, unique(authors))
	if err != nil {
		return nil, err
	}
	for i := range entries {
		e := &entries[i]
		e.Author, e.Relation = people.Players[e.Feed.AuthorID], people.Relations[e.Feed.AuthorID]
	}
	return entries, nil
}

// cards reads heads, counters and the viewer's likes of feeds.
func (f *Feeds) cards(ctx context.Context, viewer social.Viewer, ids []social.FeedID) (social.Cards, error) {
	cards, cacheErr := f.cache.Cards(ctx, viewer.Player, ids)
	heads, err := f.heads.complete(ctx, ids, cards.Heads, cacheErr)
	if err != nil {
		return cards, err
	}
	counters, err := f.counters.complete(ctx, ids, cards.Counters, cacheErr)
	if err != nil {
		return cards, err
	}
	liked, err := f.completeLiked(ctx, viewer, ids, cards)
	return social.Cards{Heads: heads, Counters: counters, Liked: liked}, err
}

// Liked tells which of the feeds the viewer likes.
func (f *Feeds) Liked(ctx context.Context, viewer social.Viewer, ids []social.FeedID) (map[social.FeedID]bool, error) {
	if viewer.Anonymous() || len(ids) == 0 {
		return nil, nil
	}
	ids = unique(ids)
	members := make([]int64, len(ids))
	for i, id := range ids {
		members[i] = int64(id)
	}
	cards := social.Cards{Liked: make(map[social.FeedID]bool, len(ids))}
	known, err := f.lists.Liked.Has(ctx, int64(viewer.Player), members)
	if err == nil {
		cards.LikedAbsent = true
		for i, m := range known {
			if m.Presence != social.PresenceUnknown {
				cards.Liked[ids[i]] = m.Presence == social.PresenceYes
				cards.LikedAbsent = false
			}
		}
	} else if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return f.completeLiked(ctx, viewer, ids, cards)
}

// completeLiked adds what only the relational store can tell of the viewer's likes.
func (f *Feeds) completeLiked(ctx context.Context, viewer social.Viewer, ids []social.FeedID, known social.Cards) (map[social.FeedID]bool, error) {
	if viewer.Anonymous() {
		return nil, nil
	}
	if known.LikedAbsent {
		f.lists.wantLiked(viewer.Player)
	}
	missing := absent(ids, known.Liked)
	if len(missing) == 0 {
		return known.Liked, nil
	}
	liked, err := fallback(ctx, f.lists.gate, func() (map[social.FeedID]bool, error) {
		return f.likes.Liked(ctx, viewer.Player, missing)
	})
	if err != nil {
		return nil, err
	}
	for id, is := range known.Liked {
		liked[id] = is
	}
	return liked, nil
}
