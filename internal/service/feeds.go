package service

import (
	"context"
	"time"

	"circle/internal/social"
)

// Feeds reads feeds; feedwrites.go writes them.
type Feeds struct {
	*writer
	store     FeedStore
	likes     LikeStore
	relations *Relations
	lists     *lists
	cache     PageCache
	players   *Entity[social.PlayerID, *social.Player]
	heads     *Entity[social.FeedID, *social.Feed]
	bodies    *Entity[social.FeedID, *social.FeedBody]
	counters  *Entity[social.FeedID, *social.FeedCounters]
	now       func() time.Time
}

// Visible reads the feeds that are there and that the viewer may see; others are absent.
func (f *Feeds) Visible(ctx context.Context, viewer social.Viewer, ids []social.FeedID) (map[social.FeedID]*social.Feed, error) {
	heads, err := f.heads.Get(ctx, ids)
	if err != nil {
		return nil, err
	}
	guards := make(map[social.FeedID]guard, len(heads))
	for id, head := range heads {
		guards[id] = guard{head.AuthorID, head.Visibility, head.Deleted}
	}
	seen, err := f.seen(ctx, viewer, guards)
	if err != nil {
		return nil, err
	}
	for id := range heads {
		if !seen[id] {
			delete(heads, id)
		}
	}
	return heads, nil
}

// Live reads a feed as the viewer may see it now; nil when there is none. A tombstone is judged as the feed
// that it was, so that who could see a feed can be told that it is gone.
func (f *Feeds) Live(ctx context.Context, viewer social.Viewer, id social.FeedID) (*social.Feed, error) {
	heads, err := f.heads.Get(ctx, []social.FeedID{id})
	if err != nil || heads[id] == nil {
		return nil, err
	}
	head := heads[id]
	seen, err := f.seen(ctx, viewer, map[social.FeedID]guard{id: {head.AuthorID, head.Visibility, false}})
	if err != nil || !seen[id] {
		return nil, err
	}
	return head, nil
}

// VisibleCounters reads the counters of feeds that the viewer may see; others are absent.
func (f *Feeds) VisibleCounters(ctx context.Context, viewer social.Viewer, ids []social.FeedID) (map[social.FeedID]*social.FeedCounters, error) {
	counters, err := f.counters.Get(ctx, ids)
	if err != nil {
		return nil, err
	}
	guards := make(map[social.FeedID]guard, len(counters))
	for id, c := range counters {
		guards[id] = guard{c.AuthorID, c.Visibility, c.Deleted}
	}
	seen, err := f.seen(ctx, viewer, guards)
	if err != nil {
		return nil, err
	}
	for id := range counters {
		if !seen[id] {
			delete(counters, id)
		}
	}
	return counters, nil
}

// Counters reads counters without asking who may see them: for feeds that were read as visible.
func (f *Feeds) Counters(ctx context.Context, ids []social.FeedID) (map[social.FeedID]*social.FeedCounters, error) {
	return f.counters.Get(ctx, ids)
}

// guard is what decides who may see a feed.
type guard struct {
	author     social.PlayerID
	visibility social.Visibility
	deleted    bool
}

// seen tells which feeds the viewer may see. It asks for relations only where they decide.
func (f *Feeds) seen(ctx context.Context, viewer social.Viewer, guards map[social.FeedID]guard) (map[social.FeedID]bool, error) {
	var authors []social.PlayerID
	for _, g := range guards {
		if !g.deleted && (g.visibility == social.Fans || g.visibility == social.Friends) && g.author != viewer.Player {
			authors = append(authors, g.author)
		}
	}
	relations, err := f.relations.Of(ctx, viewer, authors)
	if err != nil {
		return nil, err
	}
	seen := make(map[social.FeedID]bool, len(guards))
	for id, g := range guards {
		seen[id] = !g.deleted && g.visibility.VisibleTo(g.author, viewer.Player, relations[g.author])
	}
	return seen, nil
}

// Contents reads the whole texts of feeds that were read as visible. A feed that was deleted
// meanwhile has an empty one.
func (f *Feeds) Contents(ctx context.Context, feeds []*social.Feed) (map[social.FeedID]string, error) {
	contents := make(map[social.FeedID]string, len(feeds))
	var long []social.FeedID
	for _, feed := range feeds {
		if feed.Whole {
			contents[feed.ID] = feed.Excerpt
		} else {
			long = append(long, feed.ID)
		}
	}
	if len(long) == 0 {
		return contents, nil
	}
	bodies, err := f.bodies.Get(ctx, long)
	if err != nil {
		return nil, err
	}
	for id, body := range bodies {
		contents[id] = body.Content
	}
	return contents, f.shortened(ctx, absent(long, bodies), contents)
}

// shortened finds the texts of feeds that had a body when their head was read and have none now:
// they were edited or deleted in between.
func (f *Feeds) shortened(ctx context.Context, ids []social.FeedID, contents map[social.FeedID]string) error {
	if len(ids) == 0 {
		return nil
	}
	heads, err := f.heads.truth.Load(ctx, ids)
	if err != nil {
		return err
	}
	for id, head := range heads {
		contents[id] = head.Excerpt
	}
	return nil
}
