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
		entries = append(entries, FeedEntry{Feed: head, Counters: counters[id], Reason: homeReason(viewer, head)})
	}
	return entries, nil
}

func homeReason(viewer social.Viewer, head *social.Feed) social.FeedReason {
	if head.AuthorID == viewer.Player {
		return social.ReasonOwn
	}
	return social.ReasonFollowed
}

// Live tells which of the feeds belong on the viewer's home page now: the viewer's own, and those of followed
// players that the viewer may see. Tombstones are judged as the feeds that they were, so that who could see a
// feed can be told that it is gone. Counters are not read.
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
		relation := relations[head.AuthorID]
		own := head.AuthorID == viewer.Player
		if (own || relation.Following) && head.Visibility.VisibleTo(head.AuthorID, viewer.Player, relation) {
			entries[id] = FeedEntry{Feed: head, Reason: homeReason(viewer, head)}
		}
	}
	return entries, nil
}
