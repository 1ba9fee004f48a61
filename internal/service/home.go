package service

import (
	"context"

	"circle/internal/social"
)

// Home reads home pages.
type Home struct {
	store FeedStore
	feeds *Feeds
}

// Page reads a piece of the viewer's home page, newest first. What turns out to be gone since the
// list was read is replaced by what follows it, so a page is never shorter than it could be.
func (h *Home) Page(ctx context.Context, viewer social.Viewer, args social.PageArgs) (social.Page[FeedEntry], error) {
	var entries []FeedEntry
	if err := viewer.Require(); err != nil {
		return social.Page[FeedEntry]{}, err
	}
	for below, want := args.Below(), args.First+1; len(entries) < want; {
		limit := want - len(entries)
		ids, err := h.store.HomeFeeds(ctx, viewer.Player, below, limit)
		if err != nil {
			return social.Page[FeedEntry]{}, err
		}
		if entries, err = h.hydrate(ctx, viewer, ids, entries); err != nil {
			return social.Page[FeedEntry]{}, err
		}
		if len(ids) < limit {
			break
		}
		below = int64(ids[len(ids)-1])
	}
	return social.Cut(entries, args.First), nil
}

func (h *Home) hydrate(ctx context.Context, viewer social.Viewer, ids []social.FeedID, entries []FeedEntry) ([]FeedEntry, error) {
	heads, counters, err := h.feeds.Cards(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		head := heads[id]
		if head == nil || head.Deleted {
			continue
		}
		reason := social.ReasonFollowed
		if head.AuthorID == viewer.Player {
			reason = social.ReasonOwn
		}
		entries = append(entries, FeedEntry{Feed: head, Counters: counters[id], Reason: reason})
	}
	return entries, nil
}
