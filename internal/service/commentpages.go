package service

import (
	"context"
	"slices"

	"circle/internal/social"
)

// CommentsAsk asks for a page of a list of comments.
type CommentsAsk struct {
	social.Thread
	First int
	// After is the id of the comment behind which the page begins; 0 for the first page.
	After int64
}

// Pages reads pages of comments of feeds that were read as visible, and of answers to comments that were, oldest
// first, with their authors.
func (c *Comments) Pages(ctx context.Context, viewer social.Viewer, asks []CommentsAsk) (map[CommentsAsk]social.Page[*social.Comment], social.People, error) {
	var pages []*commentPage
	for _, ask := range unique(asks) {
		pages = append(pages, &commentPage{ask: ask, after: ask.After, want: ask.First + 1})
	}
	source := &commentPages{Comments: c, viewer: viewer}
	if err := fillPages(ctx, source, c.lists.gate, pages); err != nil {
		return nil, source.people, err
	}
	return cutPages(pages, func(ask CommentsAsk) int { return ask.First }), source.people, nil
}

type commentPage = listPage[CommentsAsk, *social.Comment]

// commentPages is the source of pages of comments.
type commentPages struct {
	*Comments
	viewer social.Viewer
	people social.People
}

// fromWindows takes one trip for each of the two kinds of lists.
func (p *commentPages) fromWindows(ctx context.Context, pages []*commentPage) ([]social.WindowPage, error) {
	read := make([]social.WindowPage, len(pages))
	for _, heads := range []bool{true, false} {
		var asks []social.WindowAsk
		var places []int
		for i, page := range pages {
			if (page.ask.Head == 0) == heads {
				asks = append(asks, social.WindowAsk{ID: p.lists.threadList(page.ask.Thread), After: page.after, Limit: page.missing()})
				places = append(places, i)
			}
		}
		if len(asks) == 0 {
			continue
		}
		found, err := p.lists.threads(heads).Read(ctx, asks)
		if err != nil {
			return nil, err
		}
		for i, place := range places {
			read[place] = found[i]
		}
	}
	return read, nil
}

func (p *commentPages) entry(e social.Entry) social.CommentID { return social.CommentID(e.Member) }

func (p *commentPages) wanted(ask CommentsAsk) { p.lists.wantThread(ask.Thread) }

func (p *commentPages) fromStore(ctx context.Context, g *gate, pages []*commentPage) ([][]social.CommentID, error) {
	asks := make([]social.ThreadAsk, len(pages))
	for i, page := range pages {
		asks[i] = social.ThreadAsk{Thread: page.ask.Thread, After: page.after, Limit: page.missing()}
	}
	return fallback(ctx, g, func() ([][]social.CommentID, error) {
		return p.store.CommentLists(ctx, p.viewer.Player, asks)
	})
}

func (p *commentPages) add(ctx context.Context, pages []*commentPage, found [][]social.CommentID) error {
	ids := slices.Concat(found...)
	if len(ids) == 0 {
		return nil
	}
	seen, err := p.comments.Get(ctx, unique(ids))
	if err != nil {
		return err
	}
	people, err := p.hide(ctx, p.viewer, seen, nil)
	if err != nil {
		return err
	}
	p.people = p.people.With(people)
	for i, page := range pages {
		for _, id := range found[i] {
			page.after = int64(id)
			if comment := seen[id]; comment != nil {
				page.items = append(page.items, comment)
			}
		}
	}
	return nil
}
