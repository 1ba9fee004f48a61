package service

import (
	"context"

	"circle/internal/social"
)

// Inbox reads a piece of the messages that the viewer received, with their players, newest first: from the window as far as it
// reaches, from the relational store beyond and where there is none. The window may hold what is deleted
// or too old; what is dropped is replaced by what follows it.
func (m *Messages) Inbox(ctx context.Context, viewer social.Viewer, args social.PageArgs) (social.Page[*social.Message], social.People, error) {
	p := &inboxPage{Messages: m, viewer: viewer, oldest: m.oldest()}
	p.below, p.want = social.MessageID(args.Below()), args.First+1
	done, err := p.fromWindow(ctx)
	if err == nil && !done {
		err = p.fromStore(ctx)
	}
	return social.Cut(p.items, args.First), p.people, err
}

// inboxPage is a page of the inbox while it is put together.
type inboxPage struct {
	*Messages
	messagePage
	viewer social.Viewer
	oldest social.MessageID
	// lacking says that Redis has no inbox to read, so that the relational store stands in for it.
	lacking bool
}

// fromWindow reads the window; done says that the page is full or the list ended.
func (p *inboxPage) fromWindow(ctx context.Context) (done bool, err error) {
	for range refills {
		ask := social.WindowAsk{ID: int64(p.viewer.Player), After: int64(p.below), Limit: p.missing()}
		pages, cacheErr := p.lists.Inboxes.Read(ctx, []social.WindowAsk{ask})
		if cacheErr != nil {
			p.lacking = true
			return false, ctx.Err()
		}
		page := pages[0]
		if page.State == social.WindowAbsent || page.Unfinished {
			p.lists.wantInbox(p.viewer.Player)
		}
		if page.State == social.WindowAbsent {
			p.lacking = true
			return false, nil
		}
		ids := make([]social.MessageID, len(page.Entries))
		for i, e := range page.Entries {
			ids[i] = social.MessageID(e.Member)
		}
		if err := p.add(ctx, ids); err != nil {
			return false, err
		}
		if page.Ended || p.missing() == 0 || p.below < p.oldest {
			return true, nil
		}
		if len(ids) < ask.Limit {
			return false, nil
		}
	}
	return false, nil
}

// fromStore reads the rows. What turns out to be gone since is replaced.
func (p *inboxPage) fromStore(ctx context.Context) error {
	for p.missing() > 0 {
		limit := p.missing()
		ids, err := fallback(ctx, p.lists.gate.onlyIf(p.lacking), func() ([]social.MessageID, error) {
			return p.store.ReceivedMessages(ctx, p.viewer.Player, p.below, p.oldest, limit, false)
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

// add reads messages and keeps those that the viewer received and sees.
func (p *inboxPage) add(ctx context.Context, ids []social.MessageID) error {
	if len(ids) == 0 {
		return nil
	}
	found, people, err := p.Visible(ctx, p.viewer, ids)
	if err != nil {
		return err
	}
	p.take(ids, found, people)
	return nil
}
