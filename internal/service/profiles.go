package service

import (
	"context"

	"circle/internal/social"
)

// ProfileAsk asks for a page of a player's profile list.
type ProfileAsk struct {
	Author social.PlayerID
	First  int
	// Below is the feed id below which the page begins.
	Below int64
}

// Profiles reads pages of profile lists, newest first: only what the viewer may see. All are read
// together: from the windows as far as these reach, where what is dropped is replaced by what follows
// it, and from the relational store beyond and where there are none.
func (f *Feeds) Profiles(ctx context.Context, viewer social.Viewer, asks []ProfileAsk) (map[ProfileAsk]social.Page[FeedEntry], error) {
	p := &profiles{Feeds: f, viewer: viewer}
	for _, ask := range unique(asks) {
		p.open = append(p.open, &profilePage{ask: ask, below: ask.Below, want: ask.First + 1})
	}
	all := p.open
	for round := 0; round < refills && len(p.open) > 0; round++ {
		if err := p.fromWindows(ctx); err != nil {
			return nil, err
		}
	}
	p.open = append(p.cold, p.open...)
	for len(p.open) > 0 {
		if err := p.fromStore(ctx); err != nil {
			return nil, err
		}
	}
	pages := make(map[ProfileAsk]social.Page[FeedEntry], len(all))
	for _, page := range all {
		pages[page.ask] = social.Cut(page.entries, page.ask.First)
	}
	return pages, nil
}

// profilePage is a page of a profile list while it is put together.
type profilePage struct {
	ask     ProfileAsk
	entries []FeedEntry
	// below is the id below which the page goes on, want how many entries it takes in all.
	below int64
	want  int
}

func (p *profilePage) missing() int { return p.want - len(p.entries) }

// profiles are several pages while they are put together.
type profiles struct {
	*Feeds
	viewer social.Viewer
	// open are the pages that lack entries, cold those whose windows have no more to give.
	open, cold []*profilePage
	// lacking says that Redis has not all of the windows, so that the relational store stands in for them.
	lacking bool
}

// fromWindows reads a piece of each open page's window.
func (p *profiles) fromWindows(ctx context.Context) error {
	asks := make([]social.WindowAsk, len(p.open))
	for i, page := range p.open {
		asks[i] = social.WindowAsk{ID: int64(page.ask.Author), After: page.below, Limit: page.missing()}
	}
	read, err := p.lists.Profiles.Read(ctx, asks)
	if err != nil {
		p.lacking = true
		p.cold, p.open = append(p.cold, p.open...), nil
		return ctx.Err()
	}
	found := make([][]social.FeedID, len(p.open))
	for i, window := range read {
		for _, e := range window.Entries {
			found[i] = append(found[i], social.FeedID(e.Member))
		}
	}
	if err := p.add(ctx, found); err != nil {
		return err
	}
	var open []*profilePage
	for i, page := range p.open {
		switch window := read[i]; {
		case window.State == social.WindowAbsent:
			p.lacking = true
			p.lists.wantProfile(page.ask.Author)
			p.cold = append(p.cold, page)
		case window.Ended || page.missing() == 0:
		case len(window.Entries) < asks[i].Limit:
			p.cold = append(p.cold, page)
		default:
			open = append(open, page)
		}
	}
	p.open = open
	return nil
}

// fromStore reads what the open pages lack, of what the viewer may see. What turns out to be gone since
// leaves a page open.
func (p *profiles) fromStore(ctx context.Context) error {
	authors := make([]social.PlayerID, len(p.open))
	for i, page := range p.open {
		authors[i] = page.ask.Author
	}
	relations, err := p.relations.Of(ctx, p.viewer, authors)
	if err != nil {
		return err
	}
	asks := make([]AuthorFeedsAsk, len(p.open))
	for i, page := range p.open {
		asks[i] = AuthorFeedsAsk{
			ListAsk:      ListAsk[social.PlayerID]{Of: page.ask.Author, Below: page.below, Limit: page.missing()},
			Visibilities: visibilities(page.ask.Author, p.viewer, relations[page.ask.Author]),
			Hidden:       p.viewer.SeesHidden() || page.ask.Author == p.viewer.Player,
		}
	}
	found, err := fallback(ctx, p.lists.gate.onlyIf(p.lacking), func() ([][]social.FeedID, error) {
		return p.store.AuthorFeeds(ctx, asks)
	})
	if err != nil {
		return err
	}
	if err := p.add(ctx, found); err != nil {
		return err
	}
	var open []*profilePage
	for i, page := range p.open {
		if page.missing() > 0 && len(found[i]) == asks[i].Limit {
			open = append(open, page)
		}
	}
	p.open = open
	return nil
}

// add hydrates what was found for each open page and keeps what the viewer may see.
func (p *profiles) add(ctx context.Context, found [][]social.FeedID) error {
	var ids []social.FeedID
	for _, some := range found {
		ids = append(ids, some...)
	}
	if len(ids) == 0 {
		return nil
	}
	entries, err := p.entries(ctx, p.viewer, unique(ids))
	if err != nil {
		return err
	}
	seen := make(map[social.FeedID]FeedEntry, len(entries))
	for _, e := range entries {
		if e.Feed.Guard().VisibleTo(p.viewer, e.Relation) {
			e.Reason = social.ReasonProfile
			seen[e.Feed.ID] = e
		}
	}
	for i, page := range p.open {
		for _, id := range found[i] {
			page.below = int64(id)
			if e, ok := seen[id]; ok {
				page.entries = append(page.entries, e)
			}
		}
	}
	return nil
}

func visibilities(author social.PlayerID, viewer social.Viewer, relation social.Relation) []social.Visibility {
	var may []social.Visibility
	for _, v := range social.Visibilities() {
		if (social.Guard{Author: author, Visibility: v}).VisibleTo(viewer, relation) {
			may = append(may, v)
		}
	}
	return may
}
