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
// may see. It reads the windows as far as these reach, one trip for all lists of a kind, where what is dropped is
// replaced by what follows it, and the relational store beyond and where there are none.
func (r *Relations) Lists(ctx context.Context, viewer social.Viewer, asks []PlayerListAsk) (map[PlayerListAsk]social.Page[social.PlayerEdge], social.People, error) {
	p := &playerPages{Relations: r, viewer: viewer}
	for _, ask := range unique(asks) {
		p.open = append(p.open, &playerPage{ask: ask, below: ask.Below, want: ask.First + 1})
	}
	all := p.open
	for round := 0; round < refills && len(p.open) > 0; round++ {
		if err := p.fromWindows(ctx); err != nil {
			return nil, p.people, err
		}
	}
	p.open = append(p.cold, p.open...)
	for len(p.open) > 0 {
		if err := p.fromStore(ctx); err != nil {
			return nil, p.people, err
		}
	}
	pages := make(map[PlayerListAsk]social.Page[social.PlayerEdge], len(all))
	for _, page := range all {
		pages[page.ask] = social.Cut(page.edges, page.ask.First)
	}
	return pages, p.people, nil
}

// playerPage is a page of a list of players while it is put together.
type playerPage struct {
	ask   PlayerListAsk
	edges []social.PlayerEdge
	// below is the edge below which the page goes on, want how many entries it takes in all.
	below int64
	want  int
}

func (p *playerPage) missing() int { return p.want - len(p.edges) }

// playerPages are several pages while they are put together.
type playerPages struct {
	*Relations
	viewer social.Viewer
	people social.People
	// open are the pages that lack entries, cold those whose windows have no more to give.
	open, cold []*playerPage
	// lacking says that Redis has not all of the windows, so that the relational store stands in for them.
	lacking bool
}

// byList sorts the open pages' places by the kind of their lists.
func (p *playerPages) byList() map[social.RelationList][]int {
	places := map[social.RelationList][]int{}
	for i, page := range p.open {
		places[page.ask.List] = append(places[page.ask.List], i)
	}
	return places
}

// fromWindows reads a piece of each open page's window.
func (p *playerPages) fromWindows(ctx context.Context) error {
	read := make([]social.WindowPage, len(p.open))
	for list, places := range p.byList() {
		asks := make([]social.WindowAsk, len(places))
		for i, at := range places {
			asks[i] = social.WindowAsk{ID: int64(p.open[at].ask.Owner), After: p.open[at].below, Limit: p.open[at].missing()}
		}
		found, err := p.lists.relation(list).Read(ctx, asks)
		if err != nil {
			p.lacking = true
			p.cold, p.open = append(p.cold, p.open...), nil
			return ctx.Err()
		}
		for i, at := range places {
			read[at] = found[i]
		}
	}
	lacked := make([]int, len(p.open))
	found := make([][]social.PlayerEdge, len(p.open))
	for i, page := range p.open {
		lacked[i] = page.missing()
		for _, e := range read[i].Entries {
			found[i] = append(found[i], social.PlayerEdge{Player: social.PlayerID(e.Member), Edge: social.EdgeID(e.Key)})
		}
	}
	if err := p.add(ctx, found); err != nil {
		return err
	}
	p.sort(read, lacked)
	return nil
}

// sort tells the pages that their windows have filled from those that lack more, and what is not there is built
// behind the answer.
func (p *playerPages) sort(read []social.WindowPage, lacked []int) {
	var open []*playerPage
	for i, page := range p.open {
		window := read[i]
		if window.State == social.WindowAbsent || window.Unfinished {
			p.lists.wantRelation(page.ask.List, page.ask.Owner)
		}
		switch {
		case window.State == social.WindowAbsent:
			p.lacking = true
			p.cold = append(p.cold, page)
		case window.Ended || page.missing() == 0:
		case len(window.Entries) < lacked[i]:
			p.cold = append(p.cold, page)
		default:
			open = append(open, page)
		}
	}
	p.open = open
}

// fromStore reads what the open pages lack, of whom the viewer may see. Whom he may not see any more since leaves
// a page open.
func (p *playerPages) fromStore(ctx context.Context) error {
	limits := make([]int, len(p.open))
	found := make([][]social.PlayerEdge, len(p.open))
	for list, places := range p.byList() {
		asks := make([]ListAsk[social.PlayerID], len(places))
		for i, at := range places {
			limits[at] = p.open[at].missing()
			asks[i] = ListAsk[social.PlayerID]{Of: p.open[at].ask.Owner, Below: p.open[at].below, Limit: limits[at]}
		}
		more, err := fallback(ctx, p.lists.gate.onlyIf(p.lacking), func() ([][]social.PlayerEdge, error) {
			return p.store.PlayerLists(ctx, list, p.viewer.Player, asks)
		})
		if err != nil {
			return err
		}
		for i, at := range places {
			found[at] = more[i]
		}
	}
	if err := p.add(ctx, found); err != nil {
		return err
	}
	var open []*playerPage
	for i, page := range p.open {
		if page.missing() > 0 && len(found[i]) == limits[i] {
			open = append(open, page)
		}
	}
	p.open = open
	return nil
}

// add reads who was found for each open page and keeps whom the viewer may see there.
func (p *playerPages) add(ctx context.Context, found [][]social.PlayerEdge) error {
	var ids []social.PlayerID
	for i, edges := range found {
		for _, e := range edges {
			ids = append(ids, e.Player)
		}
		if len(edges) > 0 {
			ids = append(ids, p.open[i].ask.Owner)
		}
	}
	more, err := p.People(ctx, p.viewer, absent(ids, p.people.Players))
	if err != nil {
		return err
	}
	p.people = p.people.With(more)
	for i, page := range p.open {
		apart := p.people.Relations[page.ask.Owner].Apart()
		for _, e := range found[i] {
			page.below = int64(e.Edge)
			if !apart && !page.ask.leavesOut(p.people.Relations[e.Player]) {
				page.edges = append(page.edges, e)
			}
		}
	}
	return nil
}
