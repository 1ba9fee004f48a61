package service

import (
	"context"

	"circle/internal/social"
)

// listPage is a page of a list while it is put together.
type listPage[A, T any] struct {
	ask   A
	items []T
	// after is the key behind which the page goes on, want how many items it takes in all.
	after int64
	want  int
}

func (p *listPage[A, T]) missing() int { return p.want - len(p.items) }

// pageSource is where pages of one kind of list come from. An F is what lists hold, a T what is made of it.
type pageSource[A, F, T any] interface {
	// fromWindows reads a piece of each page's window.
	fromWindows(ctx context.Context, pages []*listPage[A, T]) ([]social.WindowPage, error)
	// entry is what an entry of a window stands for.
	entry(social.Entry) F
	// wanted asks for a list's window to be built.
	wanted(ask A)
	// fromStore reads through the gate what each page lacks, of what the viewer may see.
	fromStore(ctx context.Context, g *gate, pages []*listPage[A, T]) ([][]F, error)
	// add moves each page behind what was found for it and keeps of that what the viewer may see.
	add(ctx context.Context, pages []*listPage[A, T], found [][]F) error
}

// pageFiller fills pages of several lists together.
type pageFiller[A, F, T any] struct {
	source pageSource[A, F, T]
	gate   *gate
	// open are the pages that lack items, cold those whose windows have no more to give.
	open, cold []*listPage[A, T]
	// lacking says that Redis has not all of the windows, so that the relational store stands in for them.
	lacking bool
}

// fillPages fills pages of lists: from the windows as far as these reach, where what is dropped is replaced by
// what follows it, and from the relational store beyond and where there are none.
func fillPages[A, F, T any](ctx context.Context, source pageSource[A, F, T], g *gate, pages []*listPage[A, T]) error {
	f := &pageFiller[A, F, T]{source: source, gate: g, open: pages}
	for round := 0; round < refills && len(f.open) > 0; round++ {
		if err := f.fromWindows(ctx); err != nil {
			return err
		}
	}
	f.open = append(f.cold, f.open...)
	for len(f.open) > 0 {
		if err := f.fromStore(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fromWindows reads a piece of each open page's window. What is not there, or could be longer, is built behind the
// answer.
func (f *pageFiller[A, F, T]) fromWindows(ctx context.Context) error {
	read, err := f.source.fromWindows(ctx, f.open)
	if err != nil {
		f.lacking = true
		f.cold, f.open = append(f.cold, f.open...), nil
		return ctx.Err()
	}
	found := make([][]F, len(f.open))
	lacked := make([]int, len(f.open))
	for i, page := range f.open {
		lacked[i] = page.missing()
		for _, e := range read[i].Entries {
			found[i] = append(found[i], f.source.entry(e))
		}
	}
	if err := f.source.add(ctx, f.open, found); err != nil {
		return err
	}
	var open []*listPage[A, T]
	for i, page := range f.open {
		window := read[i]
		if window.State == social.WindowAbsent || window.Unfinished {
			f.source.wanted(page.ask)
		}
		switch {
		case window.State == social.WindowAbsent:
			f.lacking = true
			f.cold = append(f.cold, page)
		case window.Ended || page.missing() == 0:
		case len(window.Entries) < lacked[i]:
			f.cold = append(f.cold, page)
		default:
			open = append(open, page)
		}
	}
	f.open = open
	return nil
}

// fromStore reads what the open pages lack. What turns out to be gone since leaves a page open.
func (f *pageFiller[A, F, T]) fromStore(ctx context.Context) error {
	lacked := make([]int, len(f.open))
	for i, page := range f.open {
		lacked[i] = page.missing()
	}
	found, err := f.source.fromStore(ctx, f.gate.onlyIf(f.lacking), f.open)
	if err != nil {
		return err
	}
	if err := f.source.add(ctx, f.open, found); err != nil {
		return err
	}
	var open []*listPage[A, T]
	for i, page := range f.open {
		if page.missing() > 0 && len(found[i]) == lacked[i] {
			open = append(open, page)
		}
	}
	f.open = open
	return nil
}

// cutPages gives the pages to those who asked.
func cutPages[A comparable, T any](pages []*listPage[A, T], first func(A) int) map[A]social.Page[T] {
	cut := make(map[A]social.Page[T], len(pages))
	for _, page := range pages {
		cut[page.ask] = social.Cut(page.items, first(page.ask))
	}
	return cut
}
