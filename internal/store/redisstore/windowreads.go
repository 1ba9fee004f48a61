package redisstore

import (
	"context"
	"slices"
	"strconv"
)

// WindowState says whether a list could be asked.
type WindowState uint8

const (
	// Absent: there is no such list, it is of another epoch, or it is being built.
	Absent WindowState = iota
	// Whole: the list is complete down to its floor.
	Whole
)

// WindowAsk asks for a piece of a list.
type WindowAsk struct {
	// ID is the list's number: a player or a feed.
	ID int64
	// After is the key behind which the piece begins: that of the last entry of the piece before. A
	// list begins with social.MaxID+1, one that has the oldest first with 0.
	After int64
	// Limit is how many entries are wanted.
	Limit int
}

// WindowPage is the answer to a WindowAsk.
type WindowPage struct {
	State   WindowState
	Entries []Entry
	// Ended says that nothing follows the entries. When it is false and there are fewer entries than
	// wanted, the rest is in the relational store, behind the last entry or the cursor that was asked.
	Ended bool
	// Floor is where the list ends: all entries with larger keys are in it (with smaller ones, where the
	// oldest come first). 0 means that it holds all there are.
	Floor int64
}

// Read reads a piece of each list, in the order of asks. It takes one trip; one more when a server
// lacks the script, or to renew lists that have lost an eighth of their time to live.
func (w *Windows) Read(ctx context.Context, asks []WindowAsk) ([]WindowPage, error) {
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
	pages := make([]WindowPage, len(asks))
	var aging []int64
	for i, reply := range replies {
		if !reply.whole {
			continue
		}
		page := WindowPage{State: Whole, Floor: reply.floor}
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

// Presence says whether a member is in a list, with what the window knows.
type Presence uint8

const (
	// Unknown: only the relational store can tell.
	Unknown Presence = iota
	// No: it is not in the list.
	No
	// Yes: it is in the list.
	Yes
)

// Membership is the answer to a question for a member.
type Membership struct {
	Presence Presence
	// Key is the entry's key when the answer is Yes.
	Key int64
}

// membersPerCall bounds how long one question holds up the others.
const membersPerCall = 500

// Has tells which members are in a list, in their order. It takes one trip; one more as Read does.
func (w *Windows) Has(ctx context.Context, id int64, members []int64) ([]Membership, error) {
	var calls []call
	for chunk := range slices.Chunk(members, membersPerCall) {
		args := []any{w.epoch()}
		for _, member := range chunk {
			args = append(args, w.order.member(member))
		}
		calls = append(calls, call{script: w.store.scripts.scores, keys: []string{w.keys.key(id)}, args: args})
	}
	replies, err := w.ask(ctx, "ask", calls)
	if err != nil {
		return nil, err
	}
	answers := make([]Membership, len(members))
	var aging []int64
	for i, reply := range replies {
		first := i * membersPerCall
		for j, score := range reply.parts {
			answers[first+j] = w.membership(members[first+j], score, reply.floor)
		}
		if reply.whole && w.aging(reply) {
			aging = []int64{id}
		}
	}
	w.prolong(ctx, aging)
	return answers, nil
}

// membership judges the score of a member, nil when it is not there. Of a player who is not there
// nobody knows on which side of the floor he would be.
func (w *Windows) membership(member int64, score any, floor int64) Membership {
	switch {
	case score != nil && w.order == players:
		return Membership{Presence: Yes, Key: keyOf(score)}
	case score != nil:
		return Membership{Presence: Yes, Key: member}
	case w.order.within(member, floor):
		return Membership{Presence: No}
	}
	return Membership{}
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
	if err := w.server().ask(ctx, calls); err != nil {
		return nil, away(what+" "+w.keys.name, err)
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
