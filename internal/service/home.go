package service

import (
	"context"

	"circle/internal/social"
)

// refills bounds how often a page is filled up from Redis where entries were dropped; what is missing
// then comes from the relational store, which reads only what is to be seen.
const refills = 3

// Home reads home pages.
type Home struct {
	store FeedStore
	feeds *Feeds
	lists *lists

	observe Observer
}

// Page reads a piece of the viewer's home page, newest first: from the timeline as far as it reaches,
// from the relational store beyond and where there is none. The timeline may hold too much; what is
// dropped is replaced by what follows it, so a page is never shorter than it could be.
func (h *Home) Page(ctx context.Context, viewer social.Viewer, args social.PageArgs) (social.Page[FeedEntry], error) {
	if err := viewer.Require(); err != nil {
		return social.Page[FeedEntry]{}, err
	}
	p := &homePage{Home: h, viewer: viewer, below: args.Below(), want: args.First + 1}
	done, err := p.fromTimeline(ctx)
	if err == nil && !done {
		err = p.fromStore(ctx)
	}
	return social.Cut(p.entries, args.First), err
}

// homePage is a page while it is put together.
type homePage struct {
	*Home
	viewer  social.Viewer
	entries []FeedEntry
	// below is the id below which the page goes on, want how many entries it takes in all.
	below int64
	want  int
	// lacking says that Redis has no timeline to read, so that the relational store stands in for it.
	lacking bool
}

// fromTimeline reads the timeline; done says that the page is full or the list ended.
func (p *homePage) fromTimeline(ctx context.Context) (done bool, err error) {
	for trip := range refills {
		if trip > 0 {
			p.observe.HomeRefilled()
		}
		limit := p.want - len(p.entries)
		ask := social.WindowAsk{ID: int64(p.viewer.Player), After: p.below, Limit: limit}
		page, cacheErr := p.read(ctx, ask)
		if cacheErr != nil {
			p.lacking = true
			return false, ctx.Err()
		}
		if page.State == social.WindowAbsent {
			p.lacking = true
			p.lists.wantTimeline(p.viewer.Player)
			return false, nil
		}
		ids := make([]social.FeedID, len(page.Entries))
		for i, e := range page.Entries {
			ids[i] = social.FeedID(e.Member)
		}
		if err := p.add(ctx, ids); err != nil {
			return false, err
		}
		if page.Ended || len(p.entries) >= p.want {
			return true, nil
		}
		if len(ids) < limit {
			return false, nil
		}
	}
	return false, nil
}

// fromStore reads the SQL definition of the home page, which holds only what is to be seen. What turns
// out to be gone since is replaced.
func (p *homePage) fromStore(ctx context.Context) error {
	p.observe.HomeFellBack(p.lacking)
	for len(p.entries) < p.want {
		limit := p.want - len(p.entries)
		ids, err := fallback(ctx, p.lists.gate.onlyIf(p.lacking), func() ([]social.FeedID, error) {
			return p.store.HomeFeeds(ctx, p.viewer, p.below, limit)
		})
		if err != nil {
			return err
		}
		if err := p.add(ctx, ids); err != nil || len(ids) < limit {
			return err
		}
	}
	return nil
}

// add hydrates feeds and keeps those that belong on the viewer's home page.
func (p *homePage) add(ctx context.Context, ids []social.FeedID) error {
	if len(ids) == 0 {
		return nil
	}
	p.below = int64(ids[len(ids)-1])
	entries, err := p.feeds.entries(ctx, p.viewer, ids)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if onHome(p.viewer, e.Feed.Guard(), e.Relation) {
			e.Reason = homeReason(p.viewer, e.Feed)
			p.entries = append(p.entries, e)
		}
	}
	return nil
}

// onHome says whether a feed belongs on the viewer's home page: the viewer's own, and those of followed
// players whom the viewer has not muted, as far as the viewer may see them.
func onHome(viewer social.Viewer, feed social.Guard, relation social.Relation) bool {
	return (feed.Author == viewer.Player || relation.Following && !relation.Muted) && feed.VisibleTo(viewer, relation)
}

func homeReason(viewer social.Viewer, head *social.Feed) social.FeedReason {
	if head.AuthorID == viewer.Player {
		return social.ReasonOwn
	}
	return social.ReasonFollowed
}

// Live tells which of the feeds belong on the viewer's home page now: the viewer's own, and those of followed
// players that the viewer may see. Tombstones and hidden feeds are judged as the feeds that they were, so that who
// could see a feed can be told that it is gone. Counters are not read.
func (h *Home) Live(ctx context.Context, viewer social.Viewer, ids []social.FeedID) (map[social.FeedID]FeedEntry, error) {
	heads, err := h.feeds.heads.Get(ctx, ids)
	if err != nil {
		return nil, err
	}
	var authors []social.PlayerID
	for _, head := range heads {
		if head.AuthorID != viewer.Player {
			authors = append(authors, head.AuthorID)
		}
	}
	relations, err := h.feeds.relations.Of(ctx, viewer, authors)
	if err != nil {
		return nil, err
	}
	entries := make(map[social.FeedID]FeedEntry, len(heads))
	for id, head := range heads {
		if onHome(viewer, head.GuardBefore(), relations[head.AuthorID]) {
			entries[id] = FeedEntry{Feed: head, Reason: homeReason(viewer, head)}
		}
	}
	return entries, nil
}
