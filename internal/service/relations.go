package service

import (
	"context"

	"circle/internal/social"
)

// Relations makes and reads what players are to each other.
type Relations struct {
	*writer
	store   RelationStore
	cache   PageCache
	lists   *lists
	players *Players
	limit   int
}

// Of tells how the viewer stands to each of the players, strangers absent; nothing for an anonymous
// viewer.
func (r *Relations) Of(ctx context.Context, viewer social.Viewer, players []social.PlayerID) (map[social.PlayerID]social.Relation, error) {
	if viewer.Anonymous() || len(players) == 0 {
		return nil, nil
	}
	players = unique(players)
	known, err := r.cache.People(ctx, viewer.Player, nil, players)
	return r.complete(ctx, viewer.Player, players, known, err)
}

// complete adds to what the windows know of relations what only the relational store can tell.
func (r *Relations) complete(ctx context.Context, viewer social.PlayerID, players []social.PlayerID, known social.People, cacheErr error) (map[social.PlayerID]social.Relation, error) {
	if cacheErr != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if known.FollowingAbsent {
		r.lists.wantRelation(social.ListFollowing, viewer)
	}
	if known.FansAbsent {
		r.lists.wantRelation(social.ListFans, viewer)
	}
	missing := absent(players, known.Relations)
	if len(missing) == 0 {
		return known.Relations, nil
	}
	found, err := fallback(ctx, r.lists.gate, func() (map[social.PlayerID]social.Relation, error) {
		return r.store.Relations(ctx, viewer, missing)
	})
	if err != nil {
		return nil, err
	}
	for player, relation := range known.Relations {
		found[player] = relation
	}
	return found, nil
}

// PlayerListAsk asks for a page of a player's list of players.
type PlayerListAsk struct {
	Owner social.PlayerID
	List  social.RelationList
	First int
	// Below is the edge below which the page begins.
	Below int64
}

// Lists reads pages of lists of players, newest edge first: from the windows as far as these reach, one
// trip for all lists of a kind, and from the relational store beyond.
func (r *Relations) Lists(ctx context.Context, asks []PlayerListAsk) (map[PlayerListAsk]social.Page[social.PlayerEdge], error) {
	pages := make(map[PlayerListAsk]social.Page[social.PlayerEdge], len(asks))
	byList := map[social.RelationList][]PlayerListAsk{}
	for _, ask := range asks {
		byList[ask.List] = append(byList[ask.List], ask)
	}
	for list, asks := range byList {
		found, err := r.readLists(ctx, list, asks)
		if err != nil {
			return nil, err
		}
		for i, a := range asks {
			pages[a] = social.Cut(found[i], a.First)
		}
	}
	return pages, nil
}

// readLists reads one more entry than each of the pages has.
func (r *Relations) readLists(ctx context.Context, list social.RelationList, asks []PlayerListAsk) ([][]social.PlayerEdge, error) {
	read, err := r.readWindows(ctx, list, asks)
	if err != nil {
		return nil, err
	}
	found := make([][]social.PlayerEdge, len(asks))
	var rest []ListAsk[social.PlayerID]
	var places []int
	lacking := false
	for i, page := range read {
		below := asks[i].Below
		for _, e := range page.Entries {
			found[i] = append(found[i], social.PlayerEdge{Player: social.PlayerID(e.Member), Edge: social.EdgeID(e.Key)})
			below = e.Key
		}
		if missing := asks[i].First + 1 - len(found[i]); missing > 0 && !page.Ended {
			rest = append(rest, ListAsk[social.PlayerID]{Of: asks[i].Owner, Below: below, Limit: missing})
			places = append(places, i)
			lacking = lacking || page.State == social.WindowAbsent
		}
	}
	if len(rest) == 0 {
		return found, nil
	}
	more, err := fallback(ctx, r.lists.gate.onlyIf(lacking), func() ([][]social.PlayerEdge, error) {
		return r.store.PlayerLists(ctx, list, rest)
	})
	if err != nil {
		return nil, err
	}
	for i, at := range places {
		found[at] = append(found[at], more[i]...)
	}
	return found, nil
}

// readWindows reads what the windows hold of the pages. Those that are not there are built behind the
// answer.
func (r *Relations) readWindows(ctx context.Context, list social.RelationList, asks []PlayerListAsk) ([]social.WindowPage, error) {
	of := make([]social.WindowAsk, len(asks))
	for i, a := range asks {
		of[i] = social.WindowAsk{ID: int64(a.Owner), After: a.Below, Limit: a.First + 1}
	}
	window, _ := r.lists.relation(list)
	read, err := window.Read(ctx, of)
	if err != nil {
		return make([]social.WindowPage, len(asks)), ctx.Err()
	}
	for i, page := range read {
		if page.State == social.WindowAbsent || page.Unfinished {
			r.lists.wantRelation(list, asks[i].Owner)
		}
	}
	return read, nil
}

// Follow makes the viewer follow a player. Errors: SELF_REFERENCE, NOT_FOUND, ALREADY_FOLLOWING,
// FOLLOW_LIMIT_REACHED.
func (r *Relations) Follow(ctx context.Context, viewer social.Viewer, player social.PlayerID) error {
	if err := r.check(ctx, viewer, player); err != nil {
		return err
	}
	return r.do(ctx, func(tx Tx) error {
		edge, err := tx.LockPair(ctx, viewer.Player, player)
		if err != nil {
			return err
		}
		if edge.Following != 0 {
			return social.Fail(social.CodeAlreadyFollowing, "You follow this player already.", "playerId")
		}
		id, err := nextID(ctx, r.ids)
		if err != nil {
			return err
		}
		edge.Following = social.EdgeID(id)
		mine, theirs := social.PlayerCounts{Following: 1}, social.PlayerCounts{Fans: 1}
		if edge.Fan != 0 {
			edge.Friend = max(edge.Following, edge.Fan)
			mine.Friends, theirs.Friends = 1, 1
		}
		if err := r.count(ctx, tx, edge, mine, theirs, id); err != nil {
			return err
		}
		return r.save(ctx, tx, edge)
	})
}

// Unfollow makes the viewer stop following a player. Errors: SELF_REFERENCE, NOT_FOUND,
// NOT_FOLLOWING.
func (r *Relations) Unfollow(ctx context.Context, viewer social.Viewer, player social.PlayerID) error {
	if err := r.check(ctx, viewer, player); err != nil {
		return err
	}
	return r.do(ctx, func(tx Tx) error {
		edge, err := tx.LockPair(ctx, viewer.Player, player)
		if err != nil {
			return err
		}
		if edge.Following == 0 {
			return social.Fail(social.CodeNotFollowing, "You do not follow this player.", "playerId")
		}
		id, err := nextID(ctx, r.ids)
		if err != nil {
			return err
		}
		mine, theirs := social.PlayerCounts{Following: -1}, social.PlayerCounts{Fans: -1}
		if edge.Friend != 0 {
			mine.Friends, theirs.Friends = -1, -1
		}
		edge.Following, edge.Friend = 0, 0
		if err := r.count(ctx, tx, edge, mine, theirs, id); err != nil {
			return err
		}
		return r.save(ctx, tx, edge)
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

// count changes the counters of both players, in id order.
func (r *Relations) count(ctx context.Context, tx Tx, edge social.Edge, mine, theirs social.PlayerCounts, version int64) error {
	own := func() error {
		if mine.Following < 0 {
			_, err := tx.AddCounts(ctx, edge.Player, mine, version)
			return err
		}
		ok, err := tx.AddFollowing(ctx, edge.Player, mine, r.limit, version)
		if err == nil && !ok {
			return social.Fail(social.CodeFollowLimitReached, "You follow as many players as is allowed.", "playerId")
		}
		return err
	}
	peer := func() error {
		ok, err := tx.AddCounts(ctx, edge.Peer, theirs, version)
		if err == nil && !ok {
			return social.NotFound("playerId")
		}
		return err
	}
	steps := []func() error{own, peer}
	if edge.Peer < edge.Player {
		steps = []func() error{peer, own}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Relations) save(ctx context.Context, tx Tx, edge social.Edge) error {
	if err := tx.SavePair(ctx, edge); err != nil {
		return err
	}
	return tx.Append(ctx, social.Event{
		Kind: social.EventEdge, Actor: edge.Player, Subject: int64(edge.Player), Object: int64(edge.Peer),
	})
}
