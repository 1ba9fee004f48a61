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

// FriendCounts tells how many of the viewer's friends like each of the feeds.
func (l *Likes) FriendCounts(ctx context.Context, viewer social.Viewer, ids []social.FeedID) (map[social.FeedID]int, error) {
	if viewer.Anonymous() || len(ids) == 0 {
		return nil, nil
	}
	return l.store.FriendLikeCounts(ctx, viewer.Player, unique(ids))
}

// ByKeys reads likes that stand, of feeds that the viewer may see; others are absent.
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
		if visible[key.Feed] != nil {
			likes[key] = &social.Like{Key: key, Order: order, Friend: relations[key.Player].Friend()}
		}
	}
	return likes, nil
}

// The parts of a list of likes that stands friends first.
const (
	friendPart uint8 = iota
	otherPart
)

// LikersAsk asks for a page of the likers of a feed.
type LikersAsk struct {
	Feed  social.FeedID
	Order social.LikeOrder
	First int
	// Begun says that After is meant; else the page begins at the front.
	Begun bool
	After social.Position
}

// PositionOf is a like's place in a list of the given order.
func PositionOf(order social.LikeOrder, like *social.Like) social.Position {
	p := social.Position{Part: otherPart, Key: int64(like.Order)}
	if order == social.FriendsFirst && like.Friend {
		p.Part = friendPart
	}
	return p
}

// Likers reads pages of likers of feeds that were read as visible.
func (l *Likes) Likers(ctx context.Context, viewer social.Viewer, asks []LikersAsk) (map[LikersAsk]social.Page[social.Like], error) {
	found := make(map[LikersAsk][]social.Like, len(asks))
	var first, rest, plain []LikersAsk
	for _, ask := range unique(asks) {
		switch {
		case ask.Order == social.Newest || viewer.Anonymous():
			plain = append(plain, ask)
		case !ask.Begun || ask.After.Part == friendPart:
			first = append(first, ask)
		default:
			rest = append(rest, ask)
		}
	}
	if err := l.read(ctx, AllLikers, viewer, plain, found); err != nil {
		return nil, err
	}
	if err := l.read(ctx, FriendLikers, viewer, first, found); err != nil {
		return nil, err
	}
	for _, ask := range first {
		if len(found[ask]) <= ask.First {
			rest = append(rest, ask)
		}
	}
	if err := l.read(ctx, OtherLikers, viewer, rest, found); err != nil {
		return nil, err
	}
	pages := make(map[LikersAsk]social.Page[social.Like], len(found))
	for ask, likes := range found {
		pages[ask] = social.Cut(likes, ask.First)
	}
	return pages, nil
}

// read adds to each page what it lacks from one part of its list.
func (l *Likes) read(ctx context.Context, part LikerPart, viewer social.Viewer, asks []LikersAsk, found map[LikersAsk][]social.Like) error {
	if len(asks) == 0 {
		return nil
	}
	of := make([]ListAsk[social.FeedID], len(asks))
	for i, ask := range asks {
		below := int64(social.MaxID + 1)
		if ask.Begun && (part != OtherLikers || ask.After.Part == otherPart) {
			below = ask.After.Key
		}
		of[i] = ListAsk[social.FeedID]{Of: ask.Feed, Below: below, Limit: ask.First + 1 - len(found[ask])}
	}
	lists, err := l.store.Likers(ctx, part, viewer.Player, of)
	if err != nil {
		return err
	}
	for i, ask := range asks {
		found[ask] = append(found[ask], lists[i]...)
	}
	return nil
}
