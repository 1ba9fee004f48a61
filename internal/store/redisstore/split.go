package redisstore

import (
	"cmp"
	"context"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"

	"circle/internal/social"
)

const (
	// listParts is the width of lists: with it the newest 20,000 and more stay in the compact encoding.
	listParts = 32
	// keyCap is how many entries one key of a list of players holds: as many as stay in the compact
	// encoding, which takes a sixth of the memory.
	keyCap = 1000
	// movedFloor is the floor of a list that is kept in parts: none of its entries is above it.
	movedFloor = social.MaxID
	// longLists bounds how many lists a process remembers to be kept in parts.
	longLists = 10_000
)

// Split are windows of players each of which is one key while it is short, and when it is long, 32 keys
// by the player's id, each a window of its own: the newest 32,000 or so in all.
//
// Both forms stand by themselves. Whoever writes a list writes to both, as far as they are there, so
// each of them is right by itself, and a reader may take either. Once the parts are built, the one
// key is emptied by giving it a floor above everything: it still says truly that it holds nothing
// from there on, and readers look into the parts. A process remembers of which lists that is true, and
// asks for the parts of these at once.
type Split struct {
	one, parts *Windows
	// width is over how many keys a long list is spread.
	width int64
	// long are the lists that were found in parts.
	long *lru.Cache[int64, struct{}]
}

func (s *Store) newSplit(one, parts family) *Split {
	long, err := lru.New[int64, struct{}](longLists)
	if err != nil {
		panic(err) // for a size that is not positive alone
	}
	return &Split{
		one:   &Windows{store: s, keys: one, order: players, cap: s.capped(keyCap), spread: true},
		parts: &Windows{store: s, keys: parts, order: players, cap: s.capped(keyCap)},
		width: listParts,
		long:  long,
	}
}

// part is the number of the part of a list that a member is in.
func (s *Split) part(id, member int64) int64 { return id*s.width + member%s.width }

// partIDs are the numbers of all parts of a list.
func (s *Split) partIDs(id int64) []int64 {
	ids := make([]int64, s.width)
	for i := range ids {
		ids[i] = id*s.width + int64(i)
	}
	return ids
}

// Read reads a piece of each list, in the order of asks, as Windows.Read does. It takes a second trip
// for lists that are found in parts for the first time.
func (s *Split) Read(ctx context.Context, asks []social.WindowAsk) ([]social.WindowPage, error) {
	return s.reading(asks).answer(ctx)
}

// reading asks for pieces of lists. Its calls may run with others before it is answered.
type reading struct {
	*Split
	asks, oneAsks, partAsks []social.WindowAsk
	inOne, inParts          []int // places in asks of lists read from one key, and from parts
	calls                   []call
}

func (s *Split) reading(asks []social.WindowAsk) *reading {
	var inOne, inParts []int
	for i, ask := range asks {
		if s.long.Contains(ask.ID) {
			inParts = append(inParts, i)
		} else {
			inOne = append(inOne, i)
		}
	}
	r := &reading{Split: s, asks: asks}
	r.prepare(inOne, inParts)
	return r
}

func (r *reading) prepare(inOne, inParts []int) {
	r.inOne, r.inParts, r.oneAsks, r.partAsks = inOne, inParts, nil, nil
	for _, at := range inOne {
		r.oneAsks = append(r.oneAsks, r.asks[at])
	}
	for _, at := range inParts {
		for _, id := range r.partIDs(r.asks[at].ID) {
			r.partAsks = append(r.partAsks, social.WindowAsk{ID: id, After: r.asks[at].After, Limit: r.asks[at].Limit})
		}
	}
	r.calls = append(r.one.pageCalls(r.oneAsks), r.parts.pageCalls(r.partAsks)...)
}

// answer gives the pages.
func (r *reading) answer(ctx context.Context) ([]social.WindowPage, error) {
	pages := make([]social.WindowPage, len(r.asks))
	for len(r.calls) > 0 {
		replies, err := r.one.ask(ctx, "read", r.calls)
		if err != nil {
			return nil, err
		}
		onePages, oneAging := r.one.pages(r.oneAsks, replies[:len(r.oneAsks)])
		partPages, partAging := r.parts.pages(r.partAsks, replies[len(r.oneAsks):])
		r.prolong(ctx, oneAging, partAging)
		for i, at := range r.inParts {
			first := i * int(r.width)
			pages[at] = united(partPages[first:first+int(r.width)], r.asks[at].Limit)
			if pages[at].State == social.WindowAbsent {
				r.long.Remove(r.asks[at].ID)
			}
		}
		var moved []int
		for i, at := range r.inOne {
			pages[at] = onePages[i]
			if onePages[i].Floor == movedFloor {
				r.long.Add(r.asks[at].ID, struct{}{})
				moved = append(moved, at)
			}
		}
		r.prepare(nil, moved)
	}
	return pages, nil
}

// united is the page that pages of all parts make together. It is complete above the highest of their
// floors alone.
func united(parts []social.WindowPage, limit int) social.WindowPage {
	page := social.WindowPage{State: social.WindowWhole, Ended: true}
	for _, part := range parts {
		if part.State == social.WindowAbsent {
			return social.WindowPage{}
		}
		page.Floor = max(page.Floor, part.Floor)
		page.Size += part.Size
		page.Ended = page.Ended && part.Ended
		page.Unfinished = page.Unfinished || part.Unfinished
		page.Entries = append(page.Entries, part.Entries...)
	}
	slices.SortFunc(page.Entries, func(a, b social.Entry) int { return cmp.Compare(b.Key, a.Key) })
	end, _ := slices.BinarySearchFunc(page.Entries, page.Floor, func(e social.Entry, floor int64) int { return cmp.Compare(floor, e.Key) })
	page.Ended = page.Ended && end <= limit
	page.Entries = page.Entries[:min(end, limit)]
	return page
}

// Has tells which members are in a list, in their order. It asks the parts of these members alone.
func (s *Split) Has(ctx context.Context, id int64, members []int64) ([]social.Membership, error) {
	answers, _, err := s.question(id, members).answer(ctx)
	return answers, err
}

// question asks for members of a list. Its calls may run with others before it is answered.
type question struct {
	*Split
	id      int64
	members []int64
	asks    []memberAsk
	calls   []call
	inParts bool
}

func (s *Split) question(id int64, members []int64) *question {
	q := &question{Split: s, id: id, members: members}
	if s.long.Contains(id) {
		q.askParts()
		return q
	}
	q.asks = membersOf(id, members)
	q.calls = s.one.memberCalls(q.asks)
	return q
}

func (q *question) askParts() {
	q.inParts, q.asks = true, nil
	members := slices.Clone(q.members)
	slices.SortFunc(members, func(a, b int64) int { return cmp.Compare(a%q.width, b%q.width) })
	for len(members) > 0 {
		part := q.part(q.id, members[0])
		end := slices.IndexFunc(members, func(m int64) bool { return q.part(q.id, m) != part })
		if end < 0 {
			end = len(members)
		}
		q.asks = append(q.asks, membersOf(part, members[:end])...)
		members = members[end:]
	}
	q.calls = q.parts.memberCalls(q.asks)
}

// answer judges the members; wanted says that the list is to be built.
func (q *question) answer(ctx context.Context) (answers []social.Membership, wanted bool, err error) {
	if !q.inParts {
		pieces, state, err := q.one.has(ctx, q.calls, q.asks)
		if err != nil || !state.moved {
			return together(pieces).Answers, state.wanted, err
		}
		q.long.Add(q.id, struct{}{})
		q.askParts()
	}
	found, state, err := q.parts.has(ctx, q.calls, q.asks)
	if err != nil {
		return nil, false, err
	}
	if state.wanted {
		q.long.Remove(q.id)
	}
	byMember := make(map[int64]social.Membership, len(q.members))
	for i, ask := range q.asks {
		for j, member := range ask.members {
			byMember[member] = found[i].Answers[j]
		}
	}
	answers = make([]social.Membership, len(q.members))
	for i, member := range q.members {
		answers[i] = byMember[member]
	}
	return answers, state.wanted, nil
}

// In tells of each list whether a member is in it; unknown is what only the relational store can tell. It
// asks the primaries for either form and takes one trip, three when a server lacks the script.
func (s *Split) In(ctx context.Context, ids []int64, member int64) ([]social.Presence, error) {
	parts := make([]int64, len(ids))
	for i, id := range ids {
		parts[i] = s.part(id, member)
	}
	b, inParts := s.one.in(ids, member), s.parts.in(parts, member)
	b.calls = append(b.calls, inParts.calls...)
	if err := b.run(ctx, "ask"); err != nil {
		return nil, err
	}
	var found []social.Presence
	for _, c := range b.calls {
		replies, _ := c.reply.([]any)
		if len(replies) != len(c.keys) {
			return nil, away("ask "+s.one.keys.name, errNoReply)
		}
		for _, reply := range replies {
			n, _ := reply.(int64)
			found = append(found, social.Presence(n))
		}
	}
	// Each form that can tell is right, and both say the same.
	presences := found[:len(ids)]
	for i := range presences {
		presences[i] = max(presences[i], found[len(ids)+i])
	}
	return presences, nil
}

// prolong renews lists that were read, and the one key of those that were read in parts.
func (s *Split) prolong(ctx context.Context, one, parts []int64) {
	for _, part := range parts {
		if id := part / s.width; !slices.Contains(one, id) {
			one = append(one, id)
		}
	}
	s.one.prolong(ctx, one)
	s.parts.prolong(ctx, parts)
}
