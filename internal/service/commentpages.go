package service

import (
	"context"

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
// first, with their authors. All are read together:
// from the windows as far as these reach, where what is dropped is replaced by what follows it, and from
// the relational store beyond and where there are none.
func (c *Comments) Pages(ctx context.Context, viewer social.Viewer, asks []CommentsAsk) (map[CommentsAsk]social.Page[*social.Comment], social.People, error) {
	p := &commentPages{Comments: c, viewer: viewer}
	for _, ask := range unique(asks) {
		p.open = append(p.open, &commentPage{ask: ask, after: ask.After, want: ask.First + 1})
	}
	all := p.open
	for round := 0; round < refills && len(p.open) > 0; round++ {
		if err := p.fromWindows(ctx); err != nil {
			return nil, p.people, err
		}
	}
	p.open = append(p.cold, p.open...)
	for len(p.open) > 0 {
		if err := p.fromStore(ctx); err != nil {
			return nil, p.people, err
		}
	}
	pages := make(map[CommentsAsk]social.Page[*social.Comment], len(all))
	for _, page := range all {
		pages[page.ask] = social.Cut(page.comments, page.ask.First)
	}
	return pages, p.people, nil
}

// commentPage is a page of comments while it is put together.
type commentPage struct {
	ask      CommentsAsk
	comments []*social.Comment
	// after is the id behind which the page goes on, want how many comments it takes in all.
	after int64
	want  int
}

func (p *commentPage) missing() int { return p.want - len(p.comments) }

// commentPages are several pages while they are put together.
type commentPages struct {
	*Comments
	viewer social.Viewer
	people social.People
	// open are the pages that lack comments, cold those whose windows have no more to give.
	open, cold []*commentPage
	// lacking says that Redis has not all of the windows, so that the relational store stands in for them.
	lacking bool
}

// fromWindows reads a piece of each open page's window, in one trip for each of the two kinds of lists.
func (p *commentPages) fromWindows(ctx context.Context) error {
	read := make([]social.WindowPage, len(p.open))
	for _, heads := range []bool{true, false} {
		var asks []social.WindowAsk
		var places []int
		for i, page := range p.open {
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
			p.lacking = true
			p.cold, p.open = append(p.cold, p.open...), nil
			return ctx.Err()
		}
		for i, place := range places {
			read[place] = found[i]
		}
	}
	return p.take(ctx, read)
}

// take adds what the windows gave and sorts the pages by what they lack then.
func (p *commentPages) take(ctx context.Context, read []social.WindowPage) error {
	lacked := make([]int, len(p.open))
	found := make([][]social.CommentID, len(p.open))
	for i, page := range p.open {
		lacked[i] = page.missing()
		for _, e := range read[i].Entries {
			found[i] = append(found[i], social.CommentID(e.Member))
		}
	}
	if err := p.add(ctx, found); err != nil {
		return err
	}
	var open []*commentPage
	for i, page := range p.open {
		switch window := read[i]; {
		case window.State == social.WindowAbsent:
			p.lacking = true
			p.lists.wantThread(page.ask.Thread)
			p.cold = append(p.cold, page)
		case window.Ended || page.missing() == 0:
		case len(window.Entries) < lacked[i]:
			p.cold = append(p.cold, page)
		default:
			open = append(open, page)
		}
	}
	p.open = open
	return nil
}

// fromStore reads what the open pages lack. What turns out to be gone since leaves a page open.
func (p *commentPages) fromStore(ctx context.Context) error {
	asks := make([]social.ThreadAsk, len(p.open))
	for i, page := range p.open {
		asks[i] = social.ThreadAsk{Thread: page.ask.Thread, After: page.after, Limit: page.missing()}
	}
	found, err := fallback(ctx, p.lists.gate.onlyIf(p.lacking), func() ([][]social.CommentID, error) {
		return p.store.CommentLists(ctx, p.viewer.Player, asks)
	})
	if err != nil {
		return err
	}
	if err := p.add(ctx, found); err != nil {
		return err
	}
	var open []*commentPage
	for i, page := range p.open {
		if page.missing() > 0 && len(found[i]) == asks[i].Limit {
			open = append(open, page)
		}
	}
	p.open = open
	return nil
}

// add reads what was found for each open page and keeps what the viewer may see.
func (p *commentPages) add(ctx context.Context, found [][]social.CommentID) error {
	var ids []social.CommentID
	for _, some := range found {
		ids = append(ids, some...)
	}
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
	for i, page := range p.open {
		for _, id := range found[i] {
			page.after = int64(id)
			if comment := seen[id]; comment != nil {
				page.comments = append(page.comments, comment)
			}
		}
	}
	return nil
}
