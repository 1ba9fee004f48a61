package service

import (
	"context"

	"golang.org/x/sync/errgroup"

	"circle/internal/social"
)

const (
	// settleRounds bounds how often a near stage follows a row that moves under it. Whoever moved it
	// last has a near stage of his own.
	settleRounds = 5
	// timelineLength is how many feeds a timeline holds, mergeLimit how many of an author come into it: one
	// more, so that it does not take the last for the end.
	timelineLength = 1000
	mergeLimit     = timelineLength + 1
)

// Indexes makes the windows say what the rows say, for near stages: it reads a row, changes the windows
// accordingly, reads the row again and repeats what has moved. So near stages may meet, and come twice
// and late.
type Indexes struct {
	lists    *lists
	feeds    *Feeds
	comments *Comments
	messages *Messages
}

func settle[R comparable](ctx context.Context, read func(context.Context) (R, error), apply func(context.Context, R) error) error {
	row, err := read(ctx)
	for range settleRounds {
		if err != nil {
			return err
		}
		if err = apply(ctx, row); err != nil {
			return err
		}
		applied := row
		if row, err = read(ctx); err == nil && row == applied {
			return nil
		}
	}
	return err
}

// Like settles whether a feed is among those that a player likes, and the player among those who like it.
func (x *Indexes) Like(ctx context.Context, key social.LikeKey) error {
	read := func(ctx context.Context) (social.LikeID, error) {
		found, err := x.lists.store.LikesByKeys(ctx, []social.LikeKey{key})
		return found[key], err
	}
	return settle(ctx, read, func(ctx context.Context, like social.LikeID) error {
		liker := social.Entry{Member: int64(key.Player), Key: int64(like)}
		if err := put(ctx, x.lists.Likes, int64(key.Feed), liker, like != 0); err != nil {
			return err
		}
		return put(ctx, x.lists.Liked, int64(key.Player), feedEntry(key.Feed), like != 0)
	})
}

// put makes an entry be in a list, or not.
func put(ctx context.Context, w Window, list int64, e social.Entry, there bool) error {
	if there {
		return w.Push(ctx, []int64{list}, e)
	}
	return w.Remove(ctx, []int64{list}, []int64{e.Member})
}

// Edge settles what two players are to each other, and whether the feeds of the second are in the
// timeline of the first: when he follows, the newest of them, and none when he does not.
func (x *Indexes) Edge(ctx context.Context, player, peer social.PlayerID) error {
	read := func(ctx context.Context) (social.Edge, error) { return x.lists.store.EdgeOf(ctx, player, peer) }
	return settle(ctx, read, func(ctx context.Context, e social.Edge) error {
		var sides errgroup.Group
		for _, side := range []social.Edge{e, e.Mirror()} {
			for _, list := range social.RelationLists() {
				entry := social.Entry{Member: int64(side.Peer), Key: int64(side.In(list))}
				sides.Go(func() error {
					return put(ctx, x.lists.relation(list), int64(side.Player), entry, entry.Key != 0)
				})
			}
		}
		if err := sides.Wait(); err != nil {
			return err
		}
		return x.timeline(ctx, e)
	})
}

// timeline merges the newest feeds of a followed player into the follower's timeline, or takes them out.
// The relation windows are right by then, so who posts at this moment sees the new fan, or is read here.
// A pulled player comes among the follower's pulled authors behind his feeds and leaves ahead of them.
func (x *Indexes) timeline(ctx context.Context, e social.Edge) error {
	list, follows := []int64{int64(e.Player)}, e.Following != 0
	if !follows {
		if err := x.lists.Pulls.Remove(ctx, list, []int64{int64(e.Peer)}); err != nil {
			return err
		}
	}
	settled := x.lists.settled()
	ids, err := x.lists.store.NewestOf(ctx, e.Peer, mergeLimit)
	if err != nil {
		return err
	}
	entries, _ := feedEntries(ids, nil)
	if !follows {
		members := make([]int64, len(ids))
		for i, id := range ids {
			members[i] = int64(id)
		}
		return x.lists.Timelines.Remove(ctx, list, members)
	}
	if err := x.lists.Timelines.Merge(ctx, int64(e.Player), entries); err != nil {
		return err
	}
	pulledFrom, err := x.lists.store.PulledFrom(ctx, e.Peer)
	if err != nil || pulledFrom == 0 {
		return err
	}
	return x.lists.Pulls.Push(ctx, list, social.Entry{Member: int64(e.Peer), Key: settled})
}

// Feed settles whether a feed is in its author's profile list and own timeline.
func (x *Indexes) Feed(ctx context.Context, id social.FeedID) error {
	type row struct {
		author  social.PlayerID
		deleted bool
	}
	read := func(ctx context.Context) (row, error) {
		heads, err := x.feeds.heads.truth.Load(ctx, []social.FeedID{id})
		if head := heads[id]; head != nil {
			return row{head.AuthorID, head.Deleted}, err
		}
		return row{}, err
	}
	return settle(ctx, read, func(ctx context.Context, r row) error {
		if r.author == 0 {
			return nil
		}
		if err := put(ctx, x.lists.Profiles, int64(r.author), feedEntry(id), !r.deleted); err != nil {
			return err
		}
		return put(ctx, x.lists.Timelines, int64(r.author), feedEntry(id), !r.deleted)
	})
}

// Comment settles whether a comment is in its list, and whether an emptied head of its thread still is.
func (x *Indexes) Comment(ctx context.Context, id social.CommentID) error {
	type place struct {
		thread  social.Thread
		id      social.CommentID
		listed  bool
		emptied bool
	}
	type row struct{ own, head place }
	read := func(ctx context.Context, id social.CommentID) (place, error) {
		found, err := x.comments.comments.truth.Load(ctx, []social.CommentID{id})
		if c := found[id]; c != nil {
			return place{social.Thread{Feed: c.FeedID, Head: c.RootID}, id, c.Listed(), c.Deleted && c.Head()}, err
		}
		return place{}, err
	}
	both := func(ctx context.Context) (r row, err error) {
		if r.own, err = read(ctx, id); err == nil && r.own.thread.Head != 0 {
			r.head, err = read(ctx, r.own.thread.Head)
		}
		return r, err
	}
	apply := func(ctx context.Context, p place) error {
		entry := social.Entry{Member: int64(p.id), Key: int64(p.id)}
		return put(ctx, x.lists.threads(p.thread.Head == 0), x.lists.threadList(p.thread), entry, p.listed)
	}
	return settle(ctx, both, func(ctx context.Context, r row) error {
		if r.own.id == 0 {
			return nil
		}
		if err := apply(ctx, r.own); err != nil || !r.head.emptied {
			return err
		}
		return apply(ctx, r.head)
	})
}

// Message settles whether a message is in its recipient's inbox.
func (x *Indexes) Message(ctx context.Context, id social.MessageID, recipient social.PlayerID) error {
	read := func(ctx context.Context) (bool, error) {
		found, err := x.messages.messages.truth.Load(ctx, []social.MessageID{id})
		return found[id] != nil && found[id].Hidden == social.Shown, err
	}
	return settle(ctx, read, func(ctx context.Context, there bool) error {
		return put(ctx, x.lists.Inboxes, int64(recipient), social.Entry{Member: int64(id), Key: int64(id)}, there)
	})
}
