package service

import (
	"context"
	"log/slog"

	"golang.org/x/sync/semaphore"

	"circle/internal/social"
)

// settleRounds bounds how often a fill follows rows that move under it. Whoever moved them last
// fills them as well, so giving up loses nothing.
const settleRounds = 4

// gate bounds how many reads may lean on the relational store at once because Redis lacks what they
// ask for or is away. Who waits longer than the request may take gets UNAVAILABLE.
type gate struct{ slots *semaphore.Weighted }

func newGate(n int) *gate { return &gate{slots: semaphore.NewWeighted(int64(n))} }

func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	if err := g.slots.Acquire(ctx, 1); err != nil {
		return nil, social.Unavailable(err)
	}
	return func() { g.slots.Release(1) }, nil
}

// Entity reads one kind of entity in bulk: from Redis what is there, the rest from the relational
// store, and puts the rest into Redis.
type Entity[K comparable, V any] struct {
	truth   Truth[K, V]
	cache   Cache[K, V]
	version func(V) int64
	gate    *gate
	log     *slog.Logger
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
	loaded, putErr, err := e.settle(ctx, missing)
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

// Refresh makes Redis say what the relational store says of the given keys.
func (e *Entity[K, V]) Refresh(ctx context.Context, keys []K) error {
	_, putErr, err := e.settle(ctx, keys)
	if err != nil {
		return err
	}
	return putErr
}

// settle reads rows, puts them into Redis unless something newer is there, and reads the versions
// again: if a row has moved meanwhile, what was put may have come after a flush that took the newer
// value away, so the row is read and put once more.
func (e *Entity[K, V]) settle(ctx context.Context, keys []K) (loaded map[K]V, putErr, err error) {
	todo := unique(keys)
	for range settleRounds {
		rows, err := e.truth.Load(ctx, todo)
		if err != nil {
			return nil, nil, err
		}
		if loaded == nil {
			loaded = rows
		} else {
			for k, v := range rows {
				loaded[k] = v
			}
		}
		if len(rows) == 0 {
			return loaded, nil, nil
		}
		if err := e.cache.Put(ctx, rows); err != nil {
			return loaded, err, nil
		}
		if todo, err = e.moved(ctx, rows); err != nil {
			return nil, nil, err
		}
		if len(todo) == 0 {
			return loaded, nil, nil
		}
	}
	return loaded, nil, nil
}

func (e *Entity[K, V]) moved(ctx context.Context, rows map[K]V) ([]K, error) {
	keys := make([]K, 0, len(rows))
	for k := range rows {
		keys = append(keys, k)
	}
	versions, err := e.truth.Versions(ctx, keys)
	if err != nil {
		return nil, err
	}
	var moved []K
	for k, v := range rows {
		if now, ok := versions[k]; ok && now != e.version(v) {
			moved = append(moved, k)
		}
	}
	return moved, nil
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
