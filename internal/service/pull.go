package service

import (
	"cmp"
	"context"
	"slices"
	"time"

	"circle/internal/social"
)

// Authors with very many fans are pulled: their feeds are not pushed to the fans, whose home pages take
// them from the authors' profile lists instead. Each player has a list of the pulled authors whom he
// follows, with a position: all of the author's feeds up to it are in the player's timeline.

const (
	// settleTime is how long after a feed's id was drawn it may be committed: a request's 10 s, and
	// what servers' clocks may differ by.
	settleTime = 15 * time.Second
	// positionLag is how far positions are let fall behind before they are moved. That costs a statement.
	positionLag = time.Minute
	// mostPulled is how many authors are read into a player's list. With as many it has no end, and his
	// home page comes from the relational store.
	mostPulled = buildStep
)

// PulledStore tells who is pulled.
type PulledStore interface {
	// PulledFrom is the first feed of an author that is not pushed to fans, 0 where all are.
	PulledFrom(ctx context.Context, author social.PlayerID) (social.FeedID, error)
	// PulledOf lists at most limit of the pulled authors whom a player follows.
	PulledOf(ctx context.Context, player social.PlayerID, limit int) ([]social.PlayerID, error)
	// FeedsAbove reads the feeds of several authors above the key of each, in the order asked, newest
	// first, without deleted and private ones.
	FeedsAbove(ctx context.Context, asks []social.AboveAsk) ([][]social.FeedID, error)
}

// settled is a position that no feed will be committed at or before.
func (l *lists) settled() int64 { return social.IDAt(l.now().Add(-settleTime)) }

// pulls reads a player's pulled authors for his list of them, which has begun to be built. What his
// timeline has said before is not held against the new positions: it goes first.
func (l *lists) pulls(ctx context.Context, list, _ int64, _ int) ([]social.Entry, error) {
	if err := l.Timelines.Drop(ctx, []int64{list}); err != nil {
		return nil, err
	}
	settled := l.settled()
	authors, err := l.store.PulledOf(ctx, social.PlayerID(list), mostPulled)
	entries := make([]social.Entry, len(authors))
	for i, author := range authors {
		entries[i] = social.Entry{Member: int64(author), Key: settled}
	}
	return entries, err
}

// read reads a piece of the viewer's timeline, into which it merges what is lacking of pulled authors.
func (p *homePage) read(ctx context.Context, ask social.WindowAsk) (social.HomeWindow, error) {
	home, err := p.lists.Homes.Read(ctx, ask)
	if err != nil || home.State == social.WindowAbsent {
		return home, err
	}
	// At or below the position nothing is lacking.
	authors := slices.DeleteFunc(home.Pulled, func(author social.Entry) bool { return author.Key >= ask.After })
	if len(authors) == 0 {
		return home, nil
	}
	feeds, moves, err := p.pulled(ctx, authors)
	if err != nil {
		return home, err
	}
	if len(moves) == 0 && holds(home.WindowPage, ask, feeds) {
		return home, nil
	}
	p.observe.HomePulled()
	return p.lists.Homes.Pull(ctx, ask, feeds, moves)
}

// holds says that a piece of a timeline has those of the feeds that belong into it. Those below the
// floor don't.
func holds(page social.WindowPage, ask social.WindowAsk, feeds []social.Entry) bool {
	last := page.Floor
	if n := len(page.Entries); n == ask.Limit {
		last = page.Entries[n-1].Key
	}
	for _, feed := range feeds {
		if feed.Key < ask.After && feed.Key > last && !slices.Contains(page.Entries, feed) {
			return false
		}
	}
	return true
}

// pulled reads the feeds of authors above their positions, newest first, as many as a timeline takes, and
// tells which positions may move once these are merged. Feeds come from profile lists, but before a
// position moves, they come from the primary: then it does not matter whether near stages are done, nor
// what Redis may have lost.
func (p *homePage) pulled(ctx context.Context, authors []social.Entry) (feeds []social.Entry, moves []social.PositionMove, err error) {
	settled := p.lists.settled()
	behind := settled - social.IDSpan(positionLag)
	var current, late []social.AboveAsk
	for _, author := range authors {
		ask := social.AboveAsk{ID: author.Member, Above: author.Key, Limit: mergeLimit}
		if author.Key >= behind {
			current = append(current, ask)
			continue
		}
		late = append(late, ask)
		moves = append(moves, social.PositionMove{Author: social.PlayerID(author.Member), From: author.Key, To: settled})
	}
	ids, lateErr := p.lists.store.FeedsAbove(ctx, late)
	if lateErr != nil { // then positions stay, and lists may do
		current, moves = append(current, late...), nil
	}
	pages, err := p.profiles(ctx, current)
	if err != nil {
		return nil, nil, err
	}
	for _, found := range append(ids, pages...) {
		entries, _ := feedEntries(found, nil)
		feeds = append(feeds, entries...)
	}
	slices.SortFunc(feeds, func(a, b social.Entry) int { return cmp.Compare(b.Key, a.Key) })
	return feeds[:min(len(feeds), mergeLimit)], moves, nil
}

// profiles reads authors' profile lists above keys, from the relational store where they don't reach.
func (p *homePage) profiles(ctx context.Context, asks []social.AboveAsk) ([][]social.FeedID, error) {
	pages, err := p.lists.Profiles.Above(ctx, asks)
	if err != nil {
		return nil, err
	}
	var found [][]social.FeedID
	var missing []social.AboveAsk
	for i, page := range pages {
		if page.State == social.WindowAbsent {
			p.lists.wantProfile(social.PlayerID(asks[i].ID))
		}
		if page.State == social.WindowAbsent || page.Floor > asks[i].Above && len(page.Entries) < asks[i].Limit {
			missing = append(missing, asks[i])
			continue
		}
		ids := make([]social.FeedID, len(page.Entries))
		for j, e := range page.Entries {
			ids[j] = social.FeedID(e.Member)
		}
		found = append(found, ids)
	}
	p.observe.HomeAskedPulled(len(missing))
	if len(missing) == 0 {
		return found, nil
	}
	rest, err := fallback(ctx, p.lists.gate, func() ([][]social.FeedID, error) { return p.lists.store.FeedsAbove(ctx, missing) })
	return append(found, rest...), err
}

// FansAmong tells which of the players follow an author, in their order.
func (r *Relations) FansAmong(ctx context.Context, author social.PlayerID, players []social.PlayerID) ([]social.PlayerID, error) {
	lists := make([]int64, len(players))
	for i, player := range players {
		lists[i] = int64(player)
	}
	known, err := r.lists.Following.In(ctx, lists, int64(author))
	if err != nil {
		return nil, err
	}
	var unknown []social.PlayerID
	for i, presence := range known {
		if presence == social.PresenceUnknown {
			unknown = append(unknown, players[i])
		}
	}
	var relations map[social.PlayerID]social.Relation
	if len(unknown) > 0 {
		if relations, err = r.store.Relations(ctx, author, unknown); err != nil {
			return nil, err
		}
	}
	var fans []social.PlayerID
	for i, player := range players {
		if known[i] == social.PresenceYes || relations[player].Fan {
			fans = append(fans, player)
		}
	}
	return fans, nil
}
