package service

import (
	"context"

	"circle/internal/social"
)

// Likes gives, takes back and reads likes.
type Likes struct {
	*writer
	store LikeStore
	feeds *Feeds
	lists *lists
	cache PageCache
}

// LikeResult is a feed after a like or unlike, with counters from its transaction, or from the
// primary where the like changed nothing.
type LikeResult struct {
	Feed     *social.Feed
	Counters *social.FeedCounters
	Liked    bool
}

// Like makes the viewer like a feed. Errors: NOT_FOUND, and ALREADY_LIKED together with a result.
func (l *Likes) Like(ctx context.Context, viewer social.Viewer, id social.FeedID) (*LikeResult, error) {
	return l.change(ctx, viewer, id, true)
}

// Unlike takes the viewer's like of a feed back. Errors: NOT_FOUND, and NOT_LIKED together with a
// result.
func (l *Likes) Unlike(ctx context.Context, viewer social.Viewer, id social.FeedID) (*LikeResult, error) {
	return l.change(ctx, viewer, id, false)
}

func (l *Likes) change(ctx context.Context, viewer social.Viewer, id social.FeedID, like bool) (*LikeResult, error) {
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	heads, err := l.feeds.Visible(ctx, viewer, []social.FeedID{id})
	if err != nil {
		return nil, err
	}
	if heads[id] == nil {
		return nil, social.NotFound("feedId")
	}
	result := &LikeResult{Feed: heads[id], Liked: like}
	order, err := nextID(ctx, l.ids)
	if err != nil {
		return nil, err
	}
	err = l.do(ctx, func(tx Tx) error {
		result.Counters = nil
		changed, err := l.put(ctx, tx, social.LikeKey{Feed: id, Player: viewer.Player}, social.LikeID(order), like)
		if err != nil || !changed {
			return err
		}
		delta := 1
		if !like {
			delta = -1
		}
		if result.Counters, err = tx.AddLikes(ctx, id, delta, order); err != nil {
			return err
		}
		if result.Counters == nil {
			return social.NotFound("feedId")
		}
		return tx.Append(ctx, social.Event{
			Kind: social.EventLike, Actor: viewer.Player, Subject: int64(id), Object: int64(viewer.Player),
		})
	})
	if err != nil {
		return nil, err
	}
	if result.Counters != nil {
		return result, nil
	}
	return l.unchanged(ctx, result)
}

func (l *Likes) put(ctx context.Context, tx Tx, key social.LikeKey, order social.LikeID, like bool) (bool, error) {
	if like {
		return tx.PutLike(ctx, key, order)
	}
	return tx.RemoveLike(ctx, key)
}

// unchanged answers a like that was there already, or an unlike of none.
func (l *Likes) unchanged(ctx context.Context, result *LikeResult) (*LikeResult, error) {
	id := result.Feed.ID
	counters, err := l.feeds.counters.truth.Load(ctx, []social.FeedID{id})
	if err != nil {
		return nil, err
	}
	result.Counters = counters[id]
	if result.Counters == nil || result.Counters.Deleted {
		return nil, social.NotFound("feedId")
	}
	if result.Liked {
		return result, social.Fail(social.CodeAlreadyLiked, "You like this feed already.", "feedId")
	}
	return result, social.Fail(social.CodeNotLiked, "You do not like this feed.", "feedId")
}

// Liked tells which of the feeds the viewer likes.
func (l *Likes) Liked(ctx context.Context, viewer social.Viewer, ids []social.FeedID) (map[social.FeedID]bool, error) {
	return l.feeds.Liked(ctx, viewer, ids)
}

// ByKeys reads likes that stand, of feeds and by players that the viewer may see; others are absent.
func (l *Likes) ByKeys(ctx context.Context, viewer social.Viewer, keys []social.LikeKey) (map[social.LikeKey]*social.Like, error) {
	feeds := make([]social.FeedID, len(keys))
	players := make([]social.PlayerID, len(keys))
	for i, k := range keys {
		feeds[i], players[i] = k.Feed, k.Player
	}
	visible, err := l.feeds.Visible(ctx, viewer, feeds)
	if err != nil {
		return nil, err
	}
	orders, err := l.store.LikesByKeys(ctx, unique(keys))
	if err != nil {
		return nil, err
	}
	relations, err := l.feeds.relations.Of(ctx, viewer, players)
	if err != nil {
		return nil, err
	}
	likes := make(map[social.LikeKey]*social.Like, len(orders))
	for key, order := range orders {
		if visible[key.Feed] != nil && !relations[key.Player].Apart() {
			likes[key] = &social.Like{Key: key, Order: order, Friend: relations[key.Player].Friend()}
		}
	}
	return likes, nil
}
