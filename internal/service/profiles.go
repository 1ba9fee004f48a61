package service

import (
	"context"
	"slices"

	"circle/internal/social"
)

// ProfileAsk asks for a page of a player's profile list.
type ProfileAsk struct {
	Author social.PlayerID
	First  int
	// Below is the feed id below which the page begins.
	Below int64
}

// Profiles reads pages of profile lists, newest first: only what the viewer may see.
func (f *Feeds) Profiles(ctx context.Context, viewer social.Viewer, asks []ProfileAsk) (map[ProfileAsk]social.Page[FeedEntry], error) {
	var pages []*profilePage
	for _, ask := range unique(asks) {
		pages = append(pages, &profilePage{ask: ask, after: ask.Below, want: ask.First + 1})
	}
	if err := fillPages(ctx, profilePages{f, viewer}, f.lists.gate, pages); err != nil {
		return nil, err
	}
	return cutPages(pages, func(ask ProfileAsk) int { return ask.First }), nil
}

type profilePage = listPage[ProfileAsk, FeedEntry]

// profilePages is the source of pages of profile lists.
type profilePages struct {
	*Feeds
	viewer social.Viewer
}

func (p profilePages) fromWindows(ctx context.Context, pages []*profilePage) ([]social.WindowPage, error) {
	asks := make([]social.WindowAsk, len(pages))
	for i, page := range pages {
		asks[i] = social.WindowAsk{ID: int64(page.ask.Author), After: page.after, Limit: page.missing()}
	}
	return p.lists.Profiles.Read(ctx, asks)
}

func (p profilePages) entry(e social.Entry) social.FeedID { return social.FeedID(e.Member) }

func (p profilePages) wanted(ask ProfileAsk) { p.lists.wantProfile(ask.Author) }

func (p profilePages) fromStore(ctx context.Context, g *gate, pages []*profilePage) ([][]social.FeedID, error) {
	authors := make([]social.PlayerID, len(pages))
	for i, page := range pages {
		authors[i] = page.ask.Author
	}
	relations, err := p.relations.Of(ctx, p.viewer, authors)
	if err != nil {
		return nil, err
	}
	asks := make([]AuthorFeedsAsk, len(pages))
	for i, page := range pages {
		asks[i] = AuthorFeedsAsk{
			ListAsk:      ListAsk[social.PlayerID]{Of: page.ask.Author, Below: page.after, Limit: page.missing()},
			Visibilities: visibilities(page.ask.Author, p.viewer, relations[page.ask.Author]),
			Hidden:       p.viewer.SeesHidden() || page.ask.Author == p.viewer.Player,
		}
	}
	return fallback(ctx, g, func() ([][]social.FeedID, error) { return p.store.AuthorFeeds(ctx, asks) })
}

func (p profilePages) add(ctx context.Context, pages []*profilePage, found [][]social.FeedID) error {
	ids := slices.Concat(found...)
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
	for i, page := range pages {
		for _, id := range found[i] {
			page.after = int64(id)
			if e, ok := seen[id]; ok {
				page.items = append(page.items, e)
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
