package service

import (
	"context"
	"slices"

	"circle/internal/social"
)

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

// fromFriends says that the page may hold entries of the friends' part.
func (a LikersAsk) fromFriends(viewer social.Viewer) bool {
	return a.Order == social.FriendsFirst && !viewer.Anonymous() && (!a.Begun || a.After.Part == friendPart)
}

// below is the key below which the page begins in one part of its list.
func (a LikersAsk) below(part LikerPart) int64 {
	if a.Begun && (part != OtherLikers || a.After.Part == otherPart) {
		return a.After.Key
	}
	return social.MaxID + 1
}

// part is what the page consists of, once its friends are read.
func (a LikersAsk) part(viewer social.Viewer) LikerPart {
	if a.Order == social.Newest || viewer.Anonymous() {
		return AllLikers
	}
	return OtherLikers
}

// PositionOf is a like's place in a list of the given order.
func PositionOf(order social.LikeOrder, like *social.Like) social.Position {
	p := social.Position{Part: otherPart, Key: int64(like.Order)}
	if order == social.FriendsFirst && like.Friend {
		p.Part = friendPart
	}
	return p
}

// LikersPage is a page of the likers of a feed.
type LikersPage struct {
	social.Page[social.Like]
	// Friends is how many of the viewer's friends like the feed; nil where the page could do without.
	Friends *int
}

// Likers reads pages of likers of feeds that were read as visible, with the players: from the windows where these
// hold all of a page, else from the relational store, as also where somebody on the page may not be seen.
func (l *Likes) Likers(ctx context.Context, viewer social.Viewer, asks []LikersAsk) (map[LikersAsk]LikersPage, social.People, error) {
	asks = unique(asks)
	p := &likerPages{friendLikes: friendLikes{Likes: l, viewer: viewer}, found: make(map[LikersAsk][]social.Like, len(asks))}
	if err := p.fromWindows(ctx, asks); err != nil {
		return nil, p.people, err
	}
	for again := false; ; again = true {
		if err := p.fromStore(ctx); err != nil {
			return nil, p.people, err
		}
		if err := p.judge(ctx, asks); err != nil {
			return nil, p.people, err
		}
		if len(p.rest) == 0 || again { // whoever is taken out again has come to be unseen this moment
			break
		}
		for _, ask := range p.rest {
			delete(p.found, ask)
		}
	}
	pages := make(map[LikersAsk]LikersPage, len(asks))
	for _, ask := range asks {
		page := LikersPage{Page: social.Cut(p.found[ask], ask.First)}
		if friends, ok := p.known[ask.Feed]; ok && friends.all {
			n := len(friends.likes)
			page.Friends = &n
		}
		pages[ask] = page
	}
	return pages, p.people, nil
}

// judge takes out the likers whom the viewer may not see; the rest are the pages that held one.
func (p *likerPages) judge(ctx context.Context, asks []LikersAsk) error {
	var likers []social.PlayerID
	for _, ask := range asks {
		for _, like := range p.found[ask] {
			likers = append(likers, like.Key.Player)
		}
	}
	more, err := p.feeds.relations.People(ctx, p.viewer, absent(likers, p.people.Players))
	if err != nil {
		return err
	}
	p.people, p.rest = p.people.With(more), nil
	for _, ask := range asks {
		seen := slices.DeleteFunc(slices.Clone(p.found[ask]), func(like social.Like) bool {
			return p.people.Relations[like.Key.Player].Apart()
		})
		if len(seen) < len(p.found[ask]) {
			p.found[ask] = seen
			p.rest = append(p.rest, ask)
		}
	}
	return nil
}

// likerPages are pages of likers while they are put together.
type likerPages struct {
	friendLikes
	found map[LikersAsk][]social.Like
	// people are the likers.
	people social.People
	// rest are the pages that the windows can't give.
	rest []LikersAsk
}

// likersAhead is how many more likers are read than a page takes, since some may be friends.
const likersAhead = 16

// fromWindows makes the pages that the windows hold all of.
func (p *likerPages) fromWindows(ctx context.Context, asks []LikersAsk) error {
	of := make([]social.WindowAsk, len(asks))
	for i, ask := range asks {
		of[i] = social.WindowAsk{ID: int64(ask.Feed), After: ask.below(ask.part(p.viewer)), Limit: ask.First + 1 + likersAhead}
	}
	var first []social.FeedID
	for _, ask := range asks {
		if ask.fromFriends(p.viewer) {
			first = append(first, ask.Feed)
		}
	}
	read, err := p.probe(ctx, of, unique(first))
	if err != nil {
		return err
	}
	var open []*openLikers
	for i, ask := range asks {
		if read[i].State == social.WindowAbsent || !p.friendsFirst(ask) {
			p.leave(ask)
		} else if len(p.found[ask]) <= ask.First {
			open = append(open, &openLikers{ask, of[i], read[i]})
		}
	}
	for round := 1; len(open) > 0; round++ {
		if open, err = p.take(ctx, open, round == refills); err != nil || len(open) == 0 {
			return err
		}
		if err := p.readOn(ctx, open); err != nil {
			return err
		}
	}
	return nil
}

// leave leaves a page to the relational store.
func (p *likerPages) leave(ask LikersAsk) {
	delete(p.found, ask)
	p.rest = append(p.rest, ask)
}

// friendsFirst takes the friends that a page begins with; false when not all that it needs are known.
func (p *likerPages) friendsFirst(ask LikersAsk) bool {
	if !ask.fromFriends(p.viewer) {
		return true
	}
	friends, ok := p.known[ask.Feed]
	if !ok {
		return false
	}
	for _, like := range friends.likes {
		if int64(like.Order) < ask.below(FriendLikers) && len(p.found[ask]) <= ask.First {
			p.found[ask] = append(p.found[ask], like)
		}
	}
	return friends.all || len(p.found[ask]) > ask.First
}

// openLikers is a page that lacks entries, with the piece of the window that comes next.
type openLikers struct {
	ask  LikersAsk
	of   social.WindowAsk
	read social.WindowPage
}

// take takes from what was read what belongs on the pages, and gives those that need more. The last time,
// these are left to the relational store.
func (p *likerPages) take(ctx context.Context, open []*openLikers, last bool) (still []*openLikers, err error) {
	var members []int64
	for _, o := range open {
		for _, e := range o.read.Entries {
			members = append(members, e.Member)
		}
	}
	friend, err := p.areFriends(ctx, unique(members))
	if err != nil {
		p.lacking = true
		for _, o := range open {
			p.leave(o.ask)
		}
		return nil, ctx.Err()
	}
	for _, o := range open {
		all := true
		for _, e := range o.read.Entries {
			presence := social.PresenceNo
			if !p.viewer.Anonymous() {
				presence = friend[e.Member]
			}
			all = all && presence != social.PresenceUnknown
			o.of.After = e.Key
			isFriend := presence == social.PresenceYes
			if isFriend && o.ask.part(p.viewer) == OtherLikers {
				continue
			}
			p.found[o.ask] = append(p.found[o.ask], likeOf(o.ask.Feed, e, isFriend))
		}
		switch {
		case !all:
			p.leave(o.ask)
		case o.read.Ended || len(p.found[o.ask]) > o.ask.First:
		case last || len(o.read.Entries) < o.of.Limit:
			p.leave(o.ask)
		default:
			still = append(still, o)
		}
	}
	return still, nil
}

// readOn reads what comes next of the windows.
func (p *likerPages) readOn(ctx context.Context, open []*openLikers) error {
	asks := make([]social.WindowAsk, len(open))
	for i, o := range open {
		asks[i] = o.of
	}
	read, err := p.lists.Likes.Read(ctx, asks)
	if err != nil {
		// What could not be read is absent, and so left to the relational store.
		read = make([]social.WindowPage, len(open))
	}
	for i, o := range open {
		o.read = read[i]
	}
	return ctx.Err()
}

// fromStore reads the pages that the windows could not give.
func (p *likerPages) fromStore(ctx context.Context) error {
	var friends, plain, others []LikersAsk
	for _, ask := range p.rest {
		switch {
		case ask.fromFriends(p.viewer):
			friends = append(friends, ask)
		case ask.part(p.viewer) == AllLikers:
			plain = append(plain, ask)
		default:
			others = append(others, ask)
		}
	}
	if err := p.readRows(ctx, AllLikers, plain); err != nil {
		return err
	}
	if err := p.readRows(ctx, FriendLikers, friends); err != nil {
		return err
	}
	for _, ask := range friends {
		if len(p.found[ask]) <= ask.First {
			others = append(others, ask)
		}
	}
	return p.readRows(ctx, OtherLikers, others)
}

// readRows adds to each page what it lacks from one part of its list.
func (p *likerPages) readRows(ctx context.Context, part LikerPart, asks []LikersAsk) error {
	if len(asks) == 0 {
		return nil
	}
	of := make([]ListAsk[social.FeedID], len(asks))
	for i, ask := range asks {
		of[i] = ListAsk[social.FeedID]{Of: ask.Feed, Below: ask.below(part), Limit: ask.First + 1 - len(p.found[ask])}
	}
	found, err := fallback(ctx, p.lists.gate.onlyIf(p.lacking), func() ([][]social.Like, error) {
		return p.store.Likers(ctx, part, p.viewer.Player, of)
	})
	if err != nil {
		return err
	}
	for i, ask := range asks {
		p.found[ask] = append(p.found[ask], found[i]...)
	}
	return nil
}

func likeOf(feed social.FeedID, e social.Entry, friend bool) social.Like {
	return social.Like{
		Key: social.LikeKey{Feed: feed, Player: social.PlayerID(e.Member)}, Order: social.LikeID(e.Key), Friend: friend,
	}
}
