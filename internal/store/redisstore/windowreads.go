package redisstore

import (
	"context"
	"slices"
	"strconv"

	"circle/internal/social"
)

// Read reads a piece of each list, in the order of asks. It takes one trip; one more when a server
// lacks the script, or to renew lists that have lost an eighth of their time to live.
func (w *Windows) Read(ctx context.Context, asks []social.WindowAsk) ([]social.WindowPage, error) {
	replies, err := w.ask(ctx, "read", w.pageCalls(asks))
	if err != nil {
		return nil, err
	}
	pages, aging := w.pages(asks, replies)
	w.prolong(ctx, aging)
	return pages, nil
}

func (w *Windows) pageCalls(asks []social.WindowAsk) []call {
	calls := make([]call, len(asks))
	for i, ask := range asks {
		// One more than wanted tells whether anything follows.
		calls[i] = w.pageCall(ask.ID, w.order.after(ask.After), w.order.end(), ask.Limit+1)
	}
	return calls
}

// Above reads the newest entries of each list above a key, in the order of asks; of lists of things, the
// newest first. What lies above the key and below a page's floor is not in it. It takes one trip; one more
// as Read does.
func (w *Windows) Above(ctx context.Context, asks []social.AboveAsk) ([]social.WindowPage, error) {
	calls, limits := make([]call, len(asks)), make([]social.WindowAsk, len(asks))
	for i, ask := range asks {
		calls[i] = w.pageCall(ask.ID, w.order.after(social.MaxID+1), "("+w.order.member(ask.Above), ask.Limit+1)
		limits[i] = social.WindowAsk{ID: ask.ID, Limit: ask.Limit}
	}
	replies, err := w.ask(ctx, "read", calls)
	if err != nil {
		return nil, err
	}
	pages, aging := w.pages(limits, replies)
	w.prolong(ctx, aging)
	return pages, nil
}

// pageCall asks for at most limit entries between two ends.
func (w *Windows) pageCall(id int64, from, to string, limit int) call {
	return call{script: w.store.scripts.page, keys: []string{w.keys.key(id)}, args: []any{string(w.order), w.epoch(), from, to, limit}}
}

// pages reads pages from replies; aging are the lists to be renewed.
func (w *Windows) pages(asks []social.WindowAsk, replies []windowReply) (pages []social.WindowPage, aging []int64) {
	pages = make([]social.WindowPage, len(asks))
	for i, reply := range replies {
		pages[i] = w.toPage(reply, asks[i].Limit)
		if reply.whole && w.aging(reply) {
			aging = append(aging, asks[i].ID)
		}
	}
	return pages, aging
}

// toPage reads a reply that has one entry more than wanted where there is one.
func (w *Windows) toPage(reply windowReply, limit int) social.WindowPage {
	if !reply.whole {
		return social.WindowPage{}
	}
	page := social.WindowPage{State: social.WindowWhole, Floor: reply.floor, Size: int(reply.size), Unfinished: w.unfinished(reply)}
	for parts := range slices.Chunk(reply.parts, w.order.width()) {
		page.Entries = append(page.Entries, w.order.entry(parts))
	}
	page.Ended = page.Floor == 0 && len(page.Entries) <= limit
	page.Entries = page.Entries[:min(len(page.Entries), limit)]
	return page
}

// membersPerCall bounds how long one question holds up the others.
const membersPerCall = 500

// Has tells which members are in a list, in their order. It takes one trip; one more as Read does.
func (w *Windows) Has(ctx context.Context, id int64, members []int64) ([]social.Membership, error) {
	asks := membersOf(id, members)
	pieces, _, err := w.has(ctx, w.memberCalls(asks), asks)
	return together(pieces).Answers, err
}

// HasEach tells for each of the lists which members are in it, in their order. It takes one trip; one more
// as Read does.
func (w *Windows) HasEach(ctx context.Context, ids, members []int64) ([]social.Members, error) {
	var asks []memberAsk
	for _, id := range ids {
		asks = append(asks, membersOf(id, members)...)
	}
	pieces, _, err := w.has(ctx, w.memberCalls(asks), asks)
	if err != nil || len(pieces) == 0 {
		return make([]social.Members, len(ids)), err
	}
	found := make([]social.Members, 0, len(ids))
	for some := range slices.Chunk(pieces, len(pieces)/len(ids)) {
		found = append(found, together(some))
	}
	return found, nil
}

// together joins what pieces of a question were answered.
func together(pieces []social.Members) social.Members {
	all := social.Members{State: social.WindowWhole}
	for _, piece := range pieces {
		if piece.State == social.WindowAbsent {
			all.State = social.WindowAbsent
		}
		all.Floor = max(all.Floor, piece.Floor)
		all.Answers = append(all.Answers, piece.Answers...)
	}
	return all
}

// in tells of each list whether a member is in it, as far as the list can tell.
func (w *Windows) in(ids []int64, member int64) *batch {
	b := &batch{server: w.server(), keys: w.keys, script: w.store.scripts.in, shared: []any{w.epoch(), w.order.member(member)}, most: 1}
	if b.server.single {
		b.most = keysPerCall
	}
	b.addAll(ids)
	return b
}

// memberAsk asks for some members of a list.
type memberAsk struct {
	id      int64
	members []int64
}

func membersOf(id int64, members []int64) []memberAsk {
	var asks []memberAsk
	for chunk := range slices.Chunk(members, membersPerCall) {
		asks = append(asks, memberAsk{id, chunk})
	}
	return asks
}

func (w *Windows) memberCalls(asks []memberAsk) []call {
	calls := make([]call, len(asks))
	for i, ask := range asks {
		args := []any{w.epoch()}
		for _, member := range ask.members {
			args = append(args, w.order.member(member))
		}
		calls[i] = call{script: w.store.scripts.scores, keys: []string{w.keys.key(ask.id)}, args: args}
	}
	return calls
}

// listState is what answers tell of the lists that were asked.
type listState struct {
	// wanted says that one of them is absent or unfinished.
	wanted bool
	// moved says that one of them is kept elsewhere: split.go.
	moved bool
}

// has runs the calls that have no reply yet and judges the members, in the order of asks.
func (w *Windows) has(ctx context.Context, calls []call, asks []memberAsk) (found []social.Members, state listState, err error) {
	replies, err := w.ask(ctx, "ask", calls)
	if err != nil {
		return nil, state, err
	}
	var aging []int64
	found = make([]social.Members, len(asks))
	for i, reply := range replies {
		found[i].Answers = make([]social.Membership, len(asks[i].members))
		if reply.whole {
			found[i].State, found[i].Floor = social.WindowWhole, reply.floor
			for j, member := range asks[i].members {
				found[i].Answers[j] = w.membership(member, reply.parts[j], reply.floor)
			}
		}
		state.wanted = state.wanted || !reply.whole || w.unfinished(reply)
		state.moved = state.moved || reply.floor == movedFloor
		if reply.whole && w.aging(reply) && !slices.Contains(aging, asks[i].id) {
			aging = append(aging, asks[i].id)
		}
	}
	w.prolong(ctx, aging)
	return found, state, nil
}

// membership judges the score of a member, nil when it is not there. Of a player who is not there
// nobody knows on which side of the floor he would be.
func (w *Windows) membership(member int64, score any, floor int64) social.Membership {
	switch {
	case score != nil && w.order == players:
		return social.Membership{Presence: social.PresenceYes, Key: keyOf(score)}
	case score != nil:
		return social.Membership{Presence: social.PresenceYes, Key: member}
	case w.order.within(member, floor):
		return social.Membership{Presence: social.PresenceNo}
	}
	return social.Membership{}
}

// windowReply is what the reading scripts return.
type windowReply struct {
	whole            bool
	floor, ttl, size int64
	parts            []any
}

// ask runs the calls that have no reply yet: a trip of several reads may have brought some.
func (w *Windows) ask(ctx context.Context, what string, calls []call) ([]windowReply, error) {
	var missing []*call
	for i := range calls {
		if calls[i].reply == nil {
			missing = append(missing, &calls[i])
		}
	}
	if len(missing) > 0 {
		if err := w.server().ask(ctx, missing); err != nil {
			return nil, away(what+" "+w.keys.name, err)
		}
	}
	replies := make([]windowReply, len(calls))
	for i, c := range calls {
		replies[i] = readReply(c.reply)
	}
	return replies, nil
}

func readReply(reply any) (r windowReply) {
	parts, _ := reply.([]any)
	if len(parts) < 4 {
		return r
	}
	floor, _ := parts[0].(string)
	r.whole = true
	r.floor, _ = strconv.ParseInt(floor, 10, 64)
	r.ttl, _ = parts[1].(int64)
	r.size, _ = parts[2].(int64)
	r.parts, _ = parts[3].([]any)
	return r
}

// unfinished says that a list ends above the end of what it is built of and has room, more than what
// removals make in one that was full.
func (w *Windows) unfinished(r windowReply) bool {
	return r.floor != 0 && (w.spread || r.size < int64(w.cap-w.cap/8))
}

// aging says that a list has lost an eighth of its time to live.
func (w *Windows) aging(r windowReply) bool { return r.ttl < int64(w.keys.ttl.Seconds())*7/8 }

// prolong renews lists that were read. That it fails does not spoil what was read: such a list is only
// built again sooner.
func (w *Windows) prolong(ctx context.Context, ids []int64) {
	if len(ids) > 0 {
		_ = w.Renew(ctx, ids)
	}
}
