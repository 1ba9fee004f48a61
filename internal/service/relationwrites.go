package service

import (
	"context"

	"circle/internal/social"
)

// Follow makes the viewer follow a player. Errors: SELF_REFERENCE, NOT_FOUND, ALREADY_FOLLOWING,
// FOLLOW_LIMIT_REACHED, and BLOCKED where the viewer blocks the player.
func (r *Relations) Follow(ctx context.Context, viewer social.Viewer, player social.PlayerID) error {
	return r.change(ctx, viewer, player, func(edge *social.Edge, id social.EdgeID) error {
		switch {
		case edge.Block != 0:
			return social.Fail(social.CodeBlocked, "You block this player.", "playerId")
		case edge.Following != 0:
			return social.Fail(social.CodeAlreadyFollowing, "You follow this player already.", "playerId")
		}
		edge.Following = id
		return nil
	})
}

// Unfollow makes the viewer stop following a player. Errors: SELF_REFERENCE, NOT_FOUND,
// NOT_FOLLOWING.
func (r *Relations) Unfollow(ctx context.Context, viewer social.Viewer, player social.PlayerID) error {
	return r.change(ctx, viewer, player, func(edge *social.Edge, _ social.EdgeID) error {
		if edge.Following == 0 {
			return social.Fail(social.CodeNotFollowing, "You do not follow this player.", "playerId")
		}
		edge.Following = 0
		return nil
	})
}

// Block ends following both ways; from then on neither of the two sees the other. To block whom the viewer blocks
// already changes nothing. Errors: SELF_REFERENCE, NOT_FOUND.
func (r *Relations) Block(ctx context.Context, viewer social.Viewer, player social.PlayerID) error {
	return r.change(ctx, viewer, player, func(edge *social.Edge, id social.EdgeID) error {
		if edge.Block == 0 {
			edge.Block, edge.Following, edge.Fan = id, 0, 0
		}
		return nil
	})
}

// Unblock ends a block; what it ended stays ended. Errors: SELF_REFERENCE, NOT_FOUND.
func (r *Relations) Unblock(ctx context.Context, viewer social.Viewer, player social.PlayerID) error {
	return r.change(ctx, viewer, player, func(edge *social.Edge, _ social.EdgeID) error {
		edge.Block = 0
		return nil
	})
}

// Mute hides a player from the viewer's home page and notifications. To mute whom the viewer mutes already changes
// nothing. Errors: SELF_REFERENCE, NOT_FOUND.
func (r *Relations) Mute(ctx context.Context, viewer social.Viewer, player social.PlayerID) error {
	return r.change(ctx, viewer, player, func(edge *social.Edge, id social.EdgeID) error {
		if edge.Mute == 0 {
			edge.Mute = id
		}
		return nil
	})
}

// Unmute ends muting. Errors: SELF_REFERENCE, NOT_FOUND.
func (r *Relations) Unmute(ctx context.Context, viewer social.Viewer, player social.PlayerID) error {
	return r.change(ctx, viewer, player, func(edge *social.Edge, _ social.EdgeID) error {
		edge.Mute = 0
		return nil
	})
}

// change changes what the viewer is to a player, with the counts of both, in one transaction. Whoever is blocked
// is told what he would be told of an unknown player.
func (r *Relations) change(ctx context.Context, viewer social.Viewer, player social.PlayerID, apply func(edge *social.Edge, id social.EdgeID) error) error {
	if err := r.check(ctx, viewer, player); err != nil {
		return err
	}
	return r.do(ctx, func(tx Tx) error {
		before, err := tx.LockPair(ctx, viewer.Player, player)
		if err != nil {
			return err
		}
		if before.Relation().Unknown() {
			return social.NotFound("playerId")
		}
		id, err := nextID(ctx, r.ids)
		if err != nil {
			return err
		}
		after := before
		if err := apply(&after, social.EdgeID(id)); err != nil {
			return err
		}
		if after == before {
			return nil
		}
		after.Friend = 0
		if after.Following != 0 && after.Fan != 0 {
			after.Friend = max(after.Following, after.Fan)
		}
		if err := r.count(ctx, tx, before, after, id); err != nil {
			return err
		}
		if err := tx.SavePair(ctx, after); err != nil {
			return err
		}
		return r.changed(ctx, tx, before, after)
	})
}

func (r *Relations) check(ctx context.Context, viewer social.Viewer, player social.PlayerID) error {
	if err := viewer.Require(); err != nil {
		return err
	}
	if viewer.Player == player {
		return social.Fail(social.CodeSelfReference, "That is yourself.", "playerId")
	}
	found, err := r.players.ByIDs(ctx, []social.PlayerID{player})
	if err != nil {
		return err
	}
	if found[player] == nil {
		return social.NotFound("playerId")
	}
	return nil
}

// countsOf is what an edge adds to its player's counters.
func countsOf(e social.Edge) (c social.PlayerCounts) {
	for _, edge := range []struct {
		id social.EdgeID
		n  *int
	}{{e.Following, &c.Following}, {e.Fan, &c.Fans}, {e.Friend, &c.Friends}} {
		if edge.id != 0 {
			*edge.n = 1
		}
	}
	return c
}

// count changes the counters of both players, in id order.
func (r *Relations) count(ctx context.Context, tx Tx, before, after social.Edge, version int64) error {
	added := func(before, after social.Edge) social.PlayerCounts {
		old, now := countsOf(before), countsOf(after)
		return social.PlayerCounts{Following: now.Following - old.Following, Fans: now.Fans - old.Fans, Friends: now.Friends - old.Friends}
	}
	mine, theirs := added(before, after), added(before.Mirror(), after.Mirror())
	if mine == (social.PlayerCounts{}) && theirs == (social.PlayerCounts{}) {
		return nil
	}
	own := func() error {
		if mine.Following <= 0 {
			_, err := tx.AddCounts(ctx, after.Player, mine, version)
			return err
		}
		ok, err := tx.AddFollowing(ctx, after.Player, mine, r.limit, version)
		if err == nil && !ok {
			return social.Fail(social.CodeFollowLimitReached, "You follow as many players as is allowed.", "playerId")
		}
		return err
	}
	peer := func() error {
		ok, err := tx.AddCounts(ctx, after.Peer, theirs, version)
		if err == nil && !ok {
			return social.NotFound("playerId")
		}
		return err
	}
	steps := []func() error{own, peer}
	if after.Peer < after.Player {
		steps = []func() error{peer, own}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// changed tells of a change: of the pair; where the peer follows no more, once more as the peer sees it, for his
// timeline; and where a block began or ended, of what both have not read, since their conversation goes or comes.
func (r *Relations) changed(ctx context.Context, tx Tx, before, after social.Edge) error {
	me, peer := after.Player, after.Peer
	events := []social.Event{{Kind: social.EventEdge, Subject: int64(me), Object: int64(peer)}}
	if before.Fan != 0 && after.Fan == 0 {
		events = append(events, social.Event{Kind: social.EventEdge, Subject: int64(peer), Object: int64(me)})
	}
	if before.Block != after.Block {
		for _, player := range []social.PlayerID{me, peer} {
			events = append(events, social.Event{Kind: social.EventConversation, Object: int64(player)})
		}
	}
	for _, event := range events {
		event.Actor = me
		if err := tx.Append(ctx, event); err != nil {
			return err
		}
	}
	return nil
}
