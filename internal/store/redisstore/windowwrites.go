package redisstore

import (
	"context"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"circle/internal/social"
)

const (
	// buildingLife is how long the building of a list may take.
	buildingLife = 10 * time.Second
	// entriesPerCall bounds how long one call holds up the others; a multiple of the scripts' steps.
	entriesPerCall = 96
)

// Push adds an entry to each of the lists that is there or being built, whatever its epoch; lists
// that reach less far are left alone, and a list that is full loses its farthest entry. Of two keys
// of a player the later one stays. It takes one trip, three when a server lacks the script.
func (w *Windows) Push(ctx context.Context, ids []int64, e social.Entry) error {
	b := w.batch(w.store.scripts.push, keysPerCall, w.pairs(nil, []social.Entry{e})...)
	b.addAll(ids)
	return b.runOrDrop(ctx, "push to")
}

// Merge adds entries, nearest first, as far as the list reaches. It takes one trip, three when a
// server lacks the script.
func (w *Windows) Merge(ctx context.Context, id int64, entries []social.Entry) error {
	b := w.batch(w.store.scripts.merge, 1)
	for chunk := range slices.Chunk(entries, entriesPerCall) {
		b.add(id, w.pairs(nil, chunk)...)
	}
	return b.runOrDrop(ctx, "merge into")
}

// Remove takes members out of each of the lists, also out of those that are being built: what their
// builder has read before is not added, unless it is pushed again. It takes one trip, three when a
// server lacks the script.
func (w *Windows) Remove(ctx context.Context, ids, members []int64) error {
	b := batch{server: w.server(), keys: w.keys, calls: w.removal(ids, members)}
	return b.runOrDrop(ctx, "remove from")
}

func (w *Windows) removal(ids, members []int64) []call {
	var calls []call
	for chunk := range slices.Chunk(members, keysPerCall) {
		args := make([]any, len(chunk))
		for i, member := range chunk {
			args[i] = w.order.member(member)
		}
		b := w.batch(w.store.scripts.remove, max(1, keysPerCall/len(chunk)), args...)
		b.addAll(ids)
		calls = append(calls, b.calls...)
	}
	return calls
}

// Begin begins to build a list, which is absent until Finish. From now on pushes and removals go into
// it, so whoever reads the relational store after Begin misses nothing. ok is false when somebody else
// is building it or it is whole: then leave it alone. The building ends after 10 seconds by itself,
// and when more comes in than the list may hold. It takes one trip, three when a server lacks the
// script.
func (w *Windows) Begin(ctx context.Context, id int64) (token string, ok bool, err error) {
	epoch := epochText(w.epoch())
	// Finish sets the epoch under which the building began: had Redis gone back in time since, what was
	// pushed meanwhile could be lost.
	token = w.token(epoch)
	reply, err := w.one(ctx, "begin", w.store.scripts.begin, id, epoch, token, seconds(buildingLife))
	return token, reply == int64(1), err
}

// Finish makes a list whole with what was read from the relational store since Begin: at most 1,000
// entries, nearest first, and the floor, which is 0 when these are all there are, else one less than
// the last entry's key (one more where the oldest come first). What was pushed meanwhile is kept, what
// was removed is left out. ok is false when the token is no longer there. The token then serves for
// Grow. It takes one trip, three when a server lacks the script.
func (w *Windows) Finish(ctx context.Context, id int64, token string, entries []social.Entry, floor int64) (ok bool, err error) {
	reply, err := w.one(ctx, "finish", w.store.scripts.finish, id, w.pairs(w.finishing(token, floor), entries)...)
	return reply == int64(1), err
}

// finishing are the arguments of a finish before its entries.
func (w *Windows) finishing(token string, floor int64) []any {
	epoch, _, _ := strings.Cut(token, ".")
	return []any{epoch, token, seconds(w.keys.ttl), floor, w.order.bound(floor)}
}

// Resume draws a token with which Grow takes a list further that Finish left with a floor and that has
// room. Read the relational store after it, from the floor on, the floor's own id included. ok is
// false when the list is not there, has no end or is full. Tokens of others end. It takes one trip,
// three when a server lacks the script.
func (w *Windows) Resume(ctx context.Context, id int64) (token string, floor int64, ok bool, err error) {
	epoch := epochText(w.epoch())
	token = w.token(epoch)
	reply, err := w.one(ctx, "resume", w.store.scripts.resume, id, epoch, token)
	if text, _ := reply.(string); text != "" {
		floor, err = strconv.ParseInt(text, 10, 64)
		return token, floor, err == nil, err
	}
	return "", 0, false, err
}

// Grow adds what was read from the relational store from the list's floor on, at most 1,000 entries,
// nearest first, and lowers the floor as Finish sets it. ok is false when the token is no longer
// there, since the list was filled, or something beyond its floor was pushed or removed, which may
// not be in what was read: then Resume. It takes one trip, three when a server lacks the script.
func (w *Windows) Grow(ctx context.Context, id int64, token string, entries []social.Entry, floor int64) (ok bool, err error) {
	reply, err := w.one(ctx, "grow", w.store.scripts.grow, id, w.pairs([]any{token, floor}, entries)...)
	return reply == int64(1), err
}

// Renew begins the time to live of each of the lists anew, in one trip, three when a server lacks the
// script. Read and Has do so by themselves.
func (w *Windows) Renew(ctx context.Context, ids []int64) error {
	b := w.batch(w.store.scripts.renew, keysPerCall, seconds(w.keys.ttl))
	b.addAll(ids)
	return b.run(ctx, "renew")
}

// Drop makes the lists absent, in one trip; their building comes to nothing.
func (w *Windows) Drop(ctx context.Context, ids []int64) error {
	pipe := w.server().client.Pipeline()
	for _, id := range ids {
		pipe.Unlink(ctx, w.keys.key(id))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return away("drop "+w.keys.name, err)
	}
	return nil
}

func epochText(epoch uint32) string { return strconv.FormatUint(uint64(epoch), 10) }

// token draws a token under an epoch.
func (w *Windows) token(epoch string) string {
	return epoch + "." + hex.EncodeToString([]byte(w.store.ticket()))
}

// batch prepares runs of a writing script on at most the given number of lists a call.
func (w *Windows) batch(script *redis.Script, most int, args ...any) *batch {
	b := &batch{server: w.server(), keys: w.keys, script: script, most: 1,
		shared: append(w.shared(), args...)}
	if b.server.single {
		b.most = most
	}
	return b
}

// shared are the arguments that all writing scripts begin with.
func (w *Windows) shared() []any {
	return []any{string(w.order), strconv.Itoa(w.cap) + " " + strconv.Itoa(w.few)}
}

// one runs a writing script on one list and returns its reply, nil after an error.
func (w *Windows) one(ctx context.Context, what string, script *redis.Script, id int64, args ...any) (any, error) {
	b := w.batch(script, 1, args...)
	b.add(id)
	if err := b.run(ctx, what); err != nil {
		return nil, err
	}
	return b.calls[0].reply, nil
}

// addAll adds ids that have no arguments of their own.
func (b *batch) addAll(ids []int64) {
	for _, id := range ids {
		b.add(id)
	}
}
