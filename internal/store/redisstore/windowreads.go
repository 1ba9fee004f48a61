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
	calls := make([]call, len(asks))
	for i, ask := range asks {
		// One more than wanted tells whether anything follows.
		calls[i] = call{script: w.store.scripts.page, keys: []string{w.keys.key(ask.ID)},
			args: []any{string(w.order), w.epoch(), w.order.after(ask.After), ask.Limit + 1}}
	}
	replies, err := w.ask(ctx, "read", calls)
	if err != nil {
		return nil, err
	}
	pages := make([]social.WindowPage, len(asks))
	var aging []int64
	for i, reply := range replies {
		if !reply.whole {
			continue
		}
		page := social.WindowPage{State: social.WindowWhole, Floor: reply.floor}
		for parts := range slices.Chunk(reply.parts, w.order.width()) {
			page.Entries = append(page.Entries, w.order.entry(parts))
		}
		page.Ended = page.Floor == 0 && len(page.Entries) <= asks[i].Limit
		page.Entries = page.Entries[:min(len(page.Entries), asks[i].Limit)]
		pages[i] = page
		if w.aging(reply) {
			aging = append(aging, asks[i].ID)
		}
	}
	w.prolong(ctx, aging)
	return pages, nil
}

// membersPerCall bounds how long one question holds up the others.
const membersPerCall = 500

// Has tells which members are in a list, in their order. It takes one trip; one more as Read does.
func (w *Windows) Has(ctx context.Context, id int64, members []int64) ([]social.Membership, error) {
	answers, _, err := w.has(ctx, w.hasCalls(id, members), id, members)
	return answers, err
}

// hasCalls asks for members of a list.
func (w *Windows) hasCalls(id int64, members []int64) []call {
	var calls []call
	for chunk := range slices.Chunk(members, membersPerCall) {
		args := []any{w.epoch()}
		for _, member := range chunk {
			args = append(args, w.order.member(member))
		}
		calls = append(calls, call{script: w.store.scripts.scores, keys: []string{w.keys.key(id)}, args: args})
	}
	return calls
}

// has runs the calls that have no reply yet and judges the members; whole says that the list is there.
func (w *Windows) has(ctx context.Context, calls []call, id int64, members []int64) (answers []social.Membership, whole bool, err error) {
	replies, err := w.ask(ctx, "ask", calls)
	if err != nil {
		return nil, false, err
	}
	answers = make([]social.Membership, len(members))
	var aging []int64
	for i, reply := range replies {
		first := i * membersPerCall
		for j, score := range reply.parts {
			answers[first+j] = w.membership(members[first+j], score, reply.floor)
		}
		whole = reply.whole
		if reply.whole && w.aging(reply) {
			aging = []int64{id}
		}
	}
	w.prolong(ctx, aging)
	return answers, whole, nil
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
	whole      bool
	floor, ttl int64
	parts      []any
}

func (w *Windows) ask(ctx context.Context, what string, calls []call) ([]windowReply, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	// A trip of several reads may have brought the replies already.
	if calls[0].reply == nil {
		if err := w.server().ask(ctx, calls); err != nil {
			return nil, away(what+" "+w.keys.name, err)
		}
	}
	replies := make([]windowReply, len(calls))
	for i, c := range calls {
		parts, _ := c.reply.([]any)
		if len(parts) < 3 {
			continue
		}
		floor, _ := parts[0].(string)
		r := windowReply{whole: true}
		r.floor, _ = strconv.ParseInt(floor, 10, 64)
		r.ttl, _ = parts[1].(int64)
		r.parts, _ = parts[2].([]any)
		replies[i] = r
	}
	return replies, nil
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
