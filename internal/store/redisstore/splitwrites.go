package redisstore

import (
	"context"
	"strconv"

	"circle/internal/social"
)

// Push adds an entry to each of the lists, in every form that is there or being built, as Windows.Push
// does, in one trip.
func (s *Split) Push(ctx context.Context, ids []int64, e social.Entry) error {
	pairs := s.one.pairs(nil, []social.Entry{e})
	b := s.one.batch(s.one.store.scripts.push, keysPerCall, pairs...)
	b.addAll(ids)
	parts := s.parts.batch(s.one.store.scripts.push, keysPerCall, pairs...)
	for _, id := range ids {
		parts.add(s.part(id, e.Member))
	}
	b.calls = append(b.calls, parts.calls...)
	return b.runOrDrop(ctx, "push to")
}

// Remove takes members out of each of the lists, in every form, as Windows.Remove does, in one trip.
func (s *Split) Remove(ctx context.Context, ids, members []int64) error {
	calls := s.one.removal(ids, members)
	for _, id := range ids {
		for _, member := range members {
			calls = append(calls, s.parts.removal([]int64{s.part(id, member)}, []int64{member})...)
		}
	}
	b := batch{server: s.one.server(), keys: s.one.keys, calls: calls}
	return b.runOrDrop(ctx, "remove from")
}

// Begin begins to build a list as one key.
func (s *Split) Begin(ctx context.Context, id int64) (token string, ok bool, err error) {
	return s.one.Begin(ctx, id)
}

// Finish makes a list whole as one key. When there is more than that holds, Resume and Grow spread it.
func (s *Split) Finish(ctx context.Context, id int64, token string, entries []social.Entry, floor int64) (ok bool, err error) {
	return s.one.Finish(ctx, id, token, entries, floor)
}

// Resume draws a token with which Grow builds the parts of a list that does not fit into one key: from
// the beginning where parts are absent, else from the highest of the floors of parts that have room.
func (s *Split) Resume(ctx context.Context, id int64) (token string, floor int64, ok bool, err error) {
	pages, err := s.one.Read(ctx, []social.WindowAsk{{ID: id, After: social.MaxID + 1}})
	if err != nil || pages[0].Floor == 0 {
		return "", 0, false, err
	}
	epoch := epochText(s.parts.epoch())
	token = s.parts.token(epoch)
	begin := s.parts.batch(s.parts.store.scripts.begin, 1, epoch, token, seconds(buildingLife))
	begin.addAll(s.partIDs(id))
	if err := begin.run(ctx, "begin"); err != nil {
		return "", 0, false, err
	}
	for _, c := range begin.calls {
		if c.reply == int64(1) {
			return token, movedFloor, true, nil
		}
	}
	resume := s.parts.batch(s.parts.store.scripts.resume, 1, epoch, token)
	resume.addAll(s.partIDs(id))
	if err := resume.run(ctx, "resume"); err != nil {
		return "", 0, false, err
	}
	for _, c := range resume.calls {
		text, _ := c.reply.(string)
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			floor = max(floor, n)
		}
	}
	if floor == 0 {
		return "", 0, false, s.move(ctx, id)
	}
	return token, floor, true, nil
}

// Grow adds what was read since Resume to the parts that the token stands in, at most 1,000 entries.
func (s *Split) Grow(ctx context.Context, id int64, token string, entries []social.Entry, floor int64) (ok bool, err error) {
	byPart := make(map[int64][]social.Entry, s.width)
	for _, e := range entries {
		part := s.part(id, e.Member)
		byPart[part] = append(byPart[part], e)
	}
	grow := s.parts.batch(s.parts.store.scripts.grow, 1, token, floor)
	for _, part := range s.partIDs(id) {
		grow.add(part, s.parts.pairs(nil, byPart[part])...)
	}
	if err := grow.run(ctx, "grow"); err != nil {
		return false, err
	}
	var begun []int64
	for i, part := range s.partIDs(id) {
		if grow.calls[i].reply == int64(1) {
			ok = true
		} else {
			begun = append(begun, part)
		}
	}
	if ok || len(begun) == 0 {
		return ok, nil
	}
	finish := s.parts.batch(s.parts.store.scripts.finish, 1, s.parts.finishing(token, floor)...)
	for _, part := range begun {
		finish.add(part, s.parts.pairs(nil, byPart[part])...)
	}
	if err := finish.run(ctx, "finish"); err != nil {
		return false, err
	}
	for _, c := range finish.calls {
		ok = ok || c.reply == int64(1)
	}
	return ok, s.move(ctx, id)
}

// move empties the one key of a list all of whose parts are whole.
func (s *Split) move(ctx context.Context, id int64) error {
	var asks []social.WindowAsk
	for _, part := range s.partIDs(id) {
		asks = append(asks, social.WindowAsk{ID: part, After: social.MaxID + 1})
	}
	pages, err := s.parts.Read(ctx, asks)
	if err != nil || united(pages, 0).State == social.WindowAbsent {
		return err
	}
	_, err = s.one.one(ctx, "move", s.one.store.scripts.move, id, epochText(s.one.epoch()), seconds(s.one.keys.ttl))
	return err
}
