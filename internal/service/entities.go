package service

import (
	"context"
	"log/slog"

	"golang.org/x/sync/semaphore"

	"circle/internal/social"
)

// gate bounds how many reads may lean on the relational store at once because Redis lacks what they
// ask for or is away. Who waits longer than the request may take gets UNAVAILABLE. Reads of what Redis
// never holds, like pages below the floor of a timeline, don't pass it: a crowd of readers whom Redis has
// left must not keep them waiting. Nobody enters twice, for one who is inside would wait for himself.
type gate struct{ slots *semaphore.Weighted }

func newGate(n int) *gate { return &gate{slots: semaphore.NewWeighted(int64(n))} }

// onlyIf is the gate, or an open one.
func (g *gate) onlyIf(lacking bool) *gate {
	if lacking {
		return g
	}
	return nil
}

func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	if err := g.slots.Acquire(ctx, 1); err != nil {
		return nil, social.Unavailable(err)
	}
	return func() { g.slots.Release(1) }, nil
}

// fallback runs a read of the relational store that passes the gate.
func fallback[R any](ctx context.Context, g *gate, read func() (R, error)) (found R, err error) {
	leave, err := g.enter(ctx)
	if err != nil {
		return found, err
	}
	defer leave()
	return read()
}

// Entity reads one kind of entity in bulk: from Redis what is there, the rest from the relational
// store, and puts the rest into Redis.
type Entity[K comparable, V any] struct {
	truth Truth[K, V]
	cache Cache[K, V]
	gate  *gate
	log   *slog.Logger
}

// Get reads the entities of the given keys; unknown ones are absent.
func (e *Entity[K, V]) Get(ctx context.Context, keys []K) (map[K]V, error) {
	found, err := e.cache.Get(ctx, keys)
	return e.complete(ctx, keys, found, err)
}

// complete adds to what the cache found what it lacks. A cache that failed is a cache that found
// nothing, and nothing is put into it.
func (e *Entity[K, V]) complete(ctx context.Context, keys []K, found map[K]V, cacheErr error) (map[K]V, error) {
	if cacheErr != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		found = nil
	}
	missing := absent(keys, found)
	if len(missing) == 0 {
		return found, nil
	}
	leave, err := e.gate.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if cacheErr != nil {
		return e.truth.Load(ctx, missing)
	}
	loaded, putErr, err := e.fill(ctx, missing, false)
	if err != nil {
		return nil, err
	}
	if putErr != nil {
		e.log.DebugContext(ctx, "entities not put into redis", "error", putErr)
	}
	if found == nil {
		return loaded, nil
	}
	for k, v := range loaded {
		found[k] = v
	}
	return found, nil
}

// Refresh makes sure that Redis says nothing older than the relational store says now.
//
// When Redis takes no values, because its memory is full, they are removed instead: it does that even
// then, and what is there now may be old. Tickets go with them, so no older fill comes after it.
func (e *Entity[K, V]) Refresh(ctx context.Context, keys []K) error {
	loaded, putErr, err := e.fill(ctx, unique(keys), true)
	if err != nil {
		return err
	}
	if putErr != nil {
		e.log.DebugContext(ctx, "entities not put into redis", "error", putErr)
		return e.cache.Remove(ctx, unique(keys))
	}
	if gone := absent(keys, loaded); len(gone) > 0 {
		return e.cache.Remove(ctx, gone)
	}
	return nil
}

// fill reads rows and puts them into Redis under a ticket that was left there first: what was read
// before Redis was emptied, or before another refresh began, is not taken. Absence is never wrong,
// so nothing is repeated.
func (e *Entity[K, V]) fill(ctx context.Context, keys []K, over bool) (loaded map[K]V, putErr, err error) {
	ticket, putErr := e.cache.Reserve(ctx, keys, over)
	if loaded, err = e.truth.Load(ctx, keys); err != nil {
		return nil, nil, err
	}
	if putErr == nil {
		putErr = e.cache.Put(ctx, loaded, ticket)
	}
	return loaded, putErr, nil
}

func absent[K comparable, V any](keys []K, found map[K]V) []K {
	var missing []K
	for _, k := range unique(keys) {
		if _, ok := found[k]; !ok {
			missing = append(missing, k)
		}
	}
	return missing
}

// unique returns keys without repetitions, in order.
func unique[K comparable](keys []K) []K {
	seen := make(map[K]struct{}, len(keys))
	out := make([]K, 0, len(keys))
	for _, k := range keys {
		if _, ok := seen[k]; !ok {
			seen[k] = struct{}{}
			out = append(out, k)
		}
	}
	return out
}
