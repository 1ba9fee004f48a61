package service

import (
	"context"

	"circle/internal/social"
)

// PlayerListAsk asks for a page of a player's list of players.
type PlayerListAsk struct {
	Owner social.PlayerID
	List  social.RelationList
	First int
	// Below is the edge below which the page begins.
	Below int64
}

// leavesOut says whether a player is left out of a list, whatever the viewer is to its owner.
func (a PlayerListAsk) leavesOut(relation social.Relation) bool {
	switch a.List {
	case social.ListBlocked, social.ListBlockers:
		return false
	case social.ListMuted:
		return relation.Unknown()
	}
	return relation.Apart()
}

// Count counts a list of players that has no counter.
func (r *Relations) Count(ctx context.Context, list social.RelationList, player social.PlayerID) (int, error) {
	return r.store.CountPlayers(ctx, list, player)
}

// Lists reads pages of lists of players, newest edge first, with the players in them: only those whom the viewer
// may see.
func (r *Relations) Lists(ctx context.Context, viewer social.Viewer, asks []PlayerListAsk) (map[PlayerListAsk]social.Page[social.PlayerEdge], social.People, error) {
	var pages []*playerPage
	for _, ask := range unique(asks) {
		pages = append(pages, &playerPage{ask: ask, after: ask.Below, want: ask.First + 1})
	}
	source := &playerPages{Relations: r, viewer: viewer}
	if err := fillPages(ctx, source, r.lists.gate, pages); err != nil {
		return nil, source.people, err
	}
	return cutPages(pages, func(ask PlayerListAsk) int { return ask.First }), source.people, nil
}

type playerPage = listPage[PlayerListAsk, social.PlayerEdge]

// playerPages is the source of pages of lists of players. Lists of a kind are read in one trip.
type playerPages struct {
	*Relations
	viewer social.Viewer
	people social.People
}

// byList sorts the pages' places by the kind of their lists.
func byList(pages []*playerPage) map[social.RelationList][]int {
	places := map[social.RelationList][]int{}
	for i, page := range pages {
		places[page.ask.List] = append(places[page.ask.List], i)
	}
	return places
}

func (p *playerPages) fromWindows(ctx context.Context, pages []*playerPage) ([]social.WindowPage, error) {
	read := make([]social.WindowPage, len(pages))
	for list, places := range byList(pages) {
		asks := make([]social.WindowAsk, len(places))
		for i, at := range places {
			asks[i] = social.WindowAsk{ID: int64(pages[at].ask.Owner), After: pages[at].after, Limit: pages[at].missing()}
		}
		found, err := p.lists.relation(list).Read(ctx, asks)
		if err != nil {
			return nil, err
		}
		for i, at := range places {
			read[at] = found[i]
		}
	}
	return read, nil
}

func (p *playerPages) entry(e social.Entry) social.PlayerEdge {
	return social.PlayerEdge{Player: social.PlayerID(e.Member), Edge: social.EdgeID(e.Key)}
}

func (p *playerPages) wanted(ask PlayerListAsk) { p.lists.wantRelation(ask.List, ask.Owner) }

func (p *playerPages) fromStore(ctx context.Context, g *gate, pages []*playerPage) ([][]social.PlayerEdge, error) {
	found := make([][]social.PlayerEdge, len(pages))
	for list, places := range byList(pages) {
		asks := make([]ListAsk[social.PlayerID], len(places))
		for i, at := range places {
			asks[i] = ListAsk[social.PlayerID]{Of: pages[at].ask.Owner, Below: pages[at].after, Limit: pages[at].missing()}
		}
		more, err := fallback(ctx, g, func() ([][]social.PlayerEdge, error) {
			return p.store.PlayerLists(ctx, list, p.viewer.Player, asks)
		})
		if err != nil {
			return nil, err
		}
		for i, at := range places {
			found[at] = more[i]
		}
	}
	return found, nil
}

func (p *playerPages) add(ctx context.Context, pages []*playerPage, found [][]social.PlayerEdge) error {
	var ids []social.PlayerID
	for i, edges := range found {
		for _, e := range edges {
			ids = append(ids, e.Player)
		}
		if len(edges) > 0 {
			ids = append(ids, pages[i].ask.Owner)
		}
	}
	more, err := p.People(ctx, p.viewer, absent(ids, p.people.Players))
	if err != nil {
		return err
	}
	p.people = p.people.With(more)
	for i, page := range pages {
		apart := p.people.Relations[page.ask.Owner].Apart()
		for _, e := range found[i] {
			page.after = int64(e.Edge)
			if !apart && !page.ask.leavesOut(p.people.Relations[e.Player]) {
				page.items = append(page.items, e)
			}
		}
	}
	return nil
}
