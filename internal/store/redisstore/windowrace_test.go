package redisstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// meeting is what meets a builder between what he reads and what he writes.
type meeting struct {
	name string
	meet func(t *testing.T, w *Windows)
	lost bool    // his work comes to nothing
	want []int64 // the keys that are there in the end, none when the list is absent
}

func (w *Windows) push(t *testing.T, keys ...int64) {
	for _, key := range keys {
		require.NoError(t, w.Push(t.Context(), []int64{7, 8}, w.entry(key)))
	}
}

func (w *Windows) remove(t *testing.T, key int64) {
	require.NoError(t, w.Remove(t.Context(), []int64{7, 8}, []int64{w.entry(key).Member}))
}

// expire lets the list's time be over.
func (w *Windows) expire(t *testing.T) {
	require.NoError(t, w.server().client.PExpire(t.Context(), w.keys.key(7), 0).Err())
}

func (w *Windows) entries(keys ...int64) []social.Entry {
	entries := make([]social.Entry, len(keys))
	for i, key := range keys {
		entries[i] = w.entry(key)
	}
	return entries
}

// meet7 runs work on list 7 of 5 entries, in the orders that have the later first.
func (m meeting) meet7(t *testing.T, work func(t *testing.T, w *Windows, meet func()) (ok bool)) {
	everywhere(t, func(t *testing.T, f fixture) {
		for _, order := range []order{newest, players} {
			t.Run(string(order), func(t *testing.T) {
				w := f.orders(5)[order]
				ok := work(t, w, func() { m.meet(t, w) })
				assert.Equal(t, !m.lost, ok)
				page := w.page(t, 7)
				assert.Equal(t, len(m.want) > 0, page.State == social.WindowWhole)
				assert.Equal(t, w.entries(m.want...), append([]social.Entry{}, page.Entries...))
			})
		}
	})
}

func TestABuilderIsMetByOthers(t *testing.T) {
	for _, m := range []meeting{
		{name: "nobody", meet: func(*testing.T, *Windows) {}, want: []int64{30, 20, 10}},
		{name: "a push", meet: func(t *testing.T, w *Windows) { w.push(t, 40) }, want: []int64{40, 30, 20, 10}},
		{name: "a push of what he has read", meet: func(t *testing.T, w *Windows) { w.push(t, 20) }, want: []int64{30, 20, 10}},
		{name: "a push beyond his floor", meet: func(t *testing.T, w *Windows) { w.push(t, 5) }, want: []int64{30, 20, 10}},
		{name: "a removal", meet: func(t *testing.T, w *Windows) { w.remove(t, 20) }, want: []int64{30, 10}},
		{name: "a removal, then the same pushed", meet: func(t *testing.T, w *Windows) {
			w.remove(t, 20)
			w.push(t, 20)
		}, want: []int64{30, 20, 10}},
		{name: "a push, then the same removed", meet: func(t *testing.T, w *Windows) {
			w.push(t, 40)
			w.remove(t, 40)
		}, want: []int64{30, 20, 10}},
		{name: "pushes to the brim", meet: func(t *testing.T, w *Windows) { w.push(t, 35, 45, 40) }, want: []int64{45, 40, 35, 30, 20}},
		{name: "more pushes than the list holds", meet: func(t *testing.T, w *Windows) { w.push(t, 41, 42, 43, 44, 45, 46) }, lost: true},
		{name: "a second builder who comes too early", meet: func(t *testing.T, w *Windows) {
			_, ok, err := w.Begin(t.Context(), 7)
			require.NoError(t, err)
			assert.False(t, ok)
		}, want: []int64{30, 20, 10}},
		{name: "the end of his time", meet: func(t *testing.T, w *Windows) { w.expire(t) }, lost: true},
		{name: "the end of his time and a push", meet: func(t *testing.T, w *Windows) {
			w.expire(t)
			w.push(t, 40)
		}, lost: true},
		{name: "a second builder after his time", meet: func(t *testing.T, w *Windows) {
			w.expire(t)
			token := w.mustBegin(t, 7)
			w.push(t, 40)
			w.mustFinish(t, 7, token, 0, w.entries(20)...)
		}, lost: true, want: []int64{40, 20}},
		{name: "a second builder after his time, at work", meet: func(t *testing.T, w *Windows) {
			w.expire(t)
			w.mustBegin(t, 7)
		}, lost: true},
		{name: "a drop", meet: func(t *testing.T, w *Windows) { require.NoError(t, w.Drop(t.Context(), []int64{7})) }, lost: true},
		{name: "a new epoch", meet: func(_ *testing.T, w *Windows) {
			w.store.SetEpochs(map[string]uint32{string(w.keys.role): w.epoch() + 1})
		}},
	} {
		t.Run(m.name, func(t *testing.T) {
			m.meet7(t, func(t *testing.T, w *Windows, meet func()) bool {
				token := w.mustBegin(t, 7)
				meet()
				ok, err := w.Finish(t.Context(), 7, token, w.entries(30, 20, 10), 9)
				require.NoError(t, err)
				return ok
			})
		})
	}
}

func TestAGrowerIsMetByOthers(t *testing.T) {
	for _, m := range []meeting{
		{name: "nobody", meet: func(*testing.T, *Windows) {}, want: []int64{30, 20, 15, 10}},
		{name: "a push above the floor", meet: func(t *testing.T, w *Windows) { w.push(t, 40) }, want: []int64{40, 30, 20, 15, 10}},
		{name: "a push beyond the floor", meet: func(t *testing.T, w *Windows) { w.push(t, 12) }, lost: true, want: []int64{30, 20}},
		{name: "a removal above the floor", meet: func(t *testing.T, w *Windows) { w.remove(t, 20) }, want: []int64{30, 15, 10}},
		{name: "a removal beyond the floor", meet: func(t *testing.T, w *Windows) { w.remove(t, 15) }, lost: true, want: []int64{30, 20}},
		{name: "pushes to the brim", meet: func(t *testing.T, w *Windows) { w.push(t, 41, 42) }, want: []int64{42, 41, 30, 20, 15}},
		{name: "pushes over the brim", meet: func(t *testing.T, w *Windows) { w.push(t, 41, 42, 43, 44) }, lost: true, want: []int64{44, 43, 42, 41, 30}},
		{name: "another grower", meet: func(t *testing.T, w *Windows) {
			_, floor, ok, err := w.Resume(t.Context(), 7)
			require.NoError(t, err)
			assert.True(t, ok)
			assert.EqualValues(t, 19, floor)
		}, lost: true, want: []int64{30, 20}},
		{name: "the end of the list's time", meet: func(t *testing.T, w *Windows) { w.expire(t) }, lost: true},
		{name: "a builder", meet: func(t *testing.T, w *Windows) {
			w.expire(t)
			w.mustBegin(t, 7)
		}, lost: true},
	} {
		t.Run(m.name, func(t *testing.T) {
			m.meet7(t, func(t *testing.T, w *Windows, meet func()) bool {
				token := w.mustBegin(t, 7)
				w.mustFinish(t, 7, token, 19, w.entries(30, 20)...)
				meet()
				ok, err := w.Grow(t.Context(), 7, token, w.entries(15, 10), 9)
				require.NoError(t, err)
				return ok
			})
		})
	}
}

// What is pushed and removed must not make a builder's time longer: should he have died, nobody else
// could begin.
func TestABuildersTimeIsShort(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		for _, w := range f.orders(5) {
			w.mustBegin(t, 7)
			w.push(t, 40)
			w.remove(t, 30)
			require.NoError(t, w.Renew(t.Context(), []int64{7}))
			w.page(t, 7)
			ttl := f.client().TTL(t.Context(), w.keys.key(7)).Val()
			assert.Positive(t, ttl)
			assert.LessOrEqual(t, ttl, buildingLife)
		}
	})
}

// A list's time goes on when its mark changes, and only a read begins it anew.
func TestReadsRenewAWindow(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		for _, w := range f.orders(2) {
			ctx, key := t.Context(), w.keys.key(7)
			ttl := func() int64 { return int64(f.client().TTL(ctx, key).Val().Seconds()) }
			w.mustFinish(t, 7, w.mustBegin(t, 7), 0)
			whole := int64(w.keys.ttl.Seconds())
			assert.InDelta(t, whole, ttl(), 5)
			for name, read := range map[string]func(){
				"Read": func() { w.page(t, 7) },
				"Has": func() {
					_, err := w.Has(ctx, 7, []int64{1})
					require.NoError(t, err)
				},
			} {
				require.NoError(t, f.client().Expire(ctx, key, w.keys.ttl*3/4).Err())
				w.push(t, 10, 20, 30, 40)
				w.remove(t, 30)
				assert.InDelta(t, whole*3/4, ttl(), 5, "after writes")
				read()
				assert.InDelta(t, whole, ttl(), 5, name)
			}
		}
	})
}
