package service

import (
	"context"

	"circle/internal/social"
)

// LikedFeed is a feed among those that a player likes.
type LikedFeed struct {
	FeedEntry
	// Like is its place in the list.
	Like social.LikeID
}

// LikedFeeds reads a piece of the feeds that the viewer likes and may see, newest like first. What turns out to be
// gone since it was listed is replaced.
func (l *Likes) LikedFeeds(ctx context.Context, viewer social.Viewer, args social.PageArgs) (social.Page[LikedFeed], error) {
	below, want := args.Below(), args.First+1
	var found []LikedFeed
	for len(found) < want {
		limit := want - len(found)
		likes, err := l.store.LikedFeeds(ctx, viewer, below, limit)
		if err != nil {
			return social.Page[LikedFeed]{}, err
		}
		ids := make([]social.FeedID, len(likes))
		order := make(map[social.FeedID]social.LikeID, len(likes))
		for i, like := range likes {
			ids[i], order[like.Key.Feed], below = like.Key.Feed, like.Order, int64(like.Order)
		}
		entries, err := l.feeds.entries(ctx, viewer, ids)
		if err != nil {
			return social.Page[LikedFeed]{}, err
		}
		for _, e := range entries {
			if e.Feed.Guard().VisibleTo(viewer, e.Relation) {
				e.Reason = likedReason(viewer, e)
				found = append(found, LikedFeed{e, order[e.Feed.ID]})
			}
		}
		if len(likes) < limit {
			break
		}
	}
	return social.Cut(found, args.First), nil
}

func likedReason(viewer social.Viewer, e FeedEntry) social.FeedReason {
	if e.Feed.AuthorID == viewer.Player || e.Relation.Following {
		return homeReason(viewer, e.Feed)
	}
	return social.ReasonProfile
}
