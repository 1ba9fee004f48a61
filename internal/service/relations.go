package service

import (
	"context"
	"maps"
	"slices"

	"circle/internal/social"
)

// Relations reads what players are to each other; playerlists.go reads lists of them, relationwrites.go makes
// and ends what they are.
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
	players = r.others(viewer, players)
	if len(players) == 0 {
		return nil, nil
	}
	known, err := r.cache.People(ctx, viewer.Player, nil, players)
	return r.complete(ctx, viewer.Player, players, known, err)
}

// others are the players to whom the viewer can be something.
func (r *Relations) others(viewer social.Viewer, players []social.PlayerID) []social.PlayerID {
	if viewer.Anonymous() {
		return nil
	}
	return slices.DeleteFunc(unique(players), func(p social.PlayerID) bool { return p == viewer.Player })
}

// People reads the simple info of players and what they are to the viewer, in one trip while all is warm.
func (r *Relations) People(ctx context.Context, viewer social.Viewer, ids []social.PlayerID) (social.People, error) {
	if len(ids) == 0 {
		return social.People{}, nil
	}
	others := r.others(viewer, ids)
	known, cacheErr := r.cache.People(ctx, viewer.Player, ids, others)
	players, err := r.players.simple.complete(ctx, ids, known.Players, cacheErr)
	if err != nil || len(others) == 0 {
		return social.People{Players: players}, err
	}
	relations, err := r.complete(ctx, viewer.Player, others, known, cacheErr)
	return social.People{Players: players, Relations: relations}, err
}

// Known reads players who are there for the viewer; of others there is no simple info, as of unknown ones.
func (r *Relations) Known(ctx context.Context, viewer social.Viewer, ids []social.PlayerID) (social.People, error) {
	people, err := r.People(ctx, viewer, ids)
	maps.DeleteFunc(people.Players, func(id social.PlayerID, _ *social.Player) bool { return people.Relations[id].Unknown() })
	return people, err
}

// complete adds to what the windows know of relations what only the relational store can tell.
func (r *Relations) complete(ctx context.Context, viewer social.PlayerID, players []social.PlayerID, known social.People, cacheErr error) (map[social.PlayerID]social.Relation, error) {
	if cacheErr != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, list := range known.Absent {
		r.lists.wantRelation(list, viewer)
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
