package service

import (
	"context"
	"maps"
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
	maps.DeleteFunc(heads, func(_ social.FeedID, head *social.Feed) bool { return head.Deleted })
	return heads, unseen(ctx, f.relations, viewer, heads, (*social.Feed).Guard)
}

// Live reads a feed as the viewer may see it now; nil when there is none. A tombstone or a hidden feed is
// judged as the feed that it was, so that who could see a feed can be told that it is gone.
func (f *Feeds) Live(ctx context.Context, viewer social.Viewer, id social.FeedID) (*social.Feed, error) {
	heads, err := f.heads.Get(ctx, []social.FeedID{id})
	if err != nil {
		return nil, err
	}
	err = unseen(ctx, f.relations, viewer, heads, (*social.Feed).GuardBefore)
	return heads[id], err
}

// VisibleCounters reads the counters of feeds that the viewer may see; others are absent.
func (f *Feeds) VisibleCounters(ctx context.Context, viewer social.Viewer, ids []social.FeedID) (map[social.FeedID]*social.FeedCounters, error) {
	counters, err := f.counters.Get(ctx, ids)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(counters, func(_ social.FeedID, c *social.FeedCounters) bool { return c.Deleted })
	return counters, unseen(ctx, f.relations, viewer, counters, (*social.FeedCounters).Guard)
}

// unseen takes out what the viewer may not see.
func unseen[V any](ctx context.Context, r *Relations, viewer social.Viewer, found map[social.FeedID]V, guard func(V) social.Guard) error {
	authors := make([]social.PlayerID, 0, len(found))
	for _, v := range found {
		authors = append(authors, guard(v).Author)
	}
	relations, err := r.Of(ctx, viewer, authors)
	if err != nil {
		return err
	}
	maps.DeleteFunc(found, func(_ social.FeedID, v V) bool { return !guard(v).VisibleTo(viewer, relations[guard(v).Author]) })
	return nil
}

// Counters reads counters without asking who may see them: for feeds that were read as visible.
func (f *Feeds) Counters(ctx context.Context, ids []social.FeedID) (map[social.FeedID]*social.FeedCounters, error) {
	return f.counters.Get(ctx, ids)
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
