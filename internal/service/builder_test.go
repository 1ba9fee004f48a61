package service

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// built is a window that takes all it is given, and ends the test's builder when it has come to the end.
type built struct {
	Window
	floors []int64
	keys   []int64
	done   context.CancelFunc
}

func (w *built) take(entries []social.Entry, floor int64) (bool, error) {
	for _, e := range entries {
		w.keys = append(w.keys, e.Key)
	}
	if w.floors = append(w.floors, floor); floor == 0 {
		w.done()
	}
	return true, nil
}

func (w *built) Begin(context.Context, int64) (string, bool, error) { return "token", true, nil }

func (w *built) Finish(_ context.Context, _ int64, _ string, entries []social.Entry, floor int64) (bool, error) {
	return w.take(entries, floor)
}

func (w *built) Resume(context.Context, int64) (string, int64, bool, error) {
	return "token", w.floors[len(w.floors)-1], true, nil
}

func (w *built) Grow(_ context.Context, _ int64, _ string, entries []social.Entry, floor int64) (bool, error) {
	return w.take(entries, floor)
}

// kinds notes the kinds of windows that were built.
type kinds struct {
	Observer
	built []string
}

func (k *kinds) WindowBuilt(kind string) { k.built = append(k.built, kind) }

// TestWindowsAreBuiltFromTheirNearEnd builds lists of the keys 1 to 2,500, with every second one left out.
func TestWindowsAreBuiltFromTheirNearEnd(t *testing.T) {
	var keys []int64
	for key := int64(1); key <= 2500*2; key += 2 {
		keys = append(keys, key)
	}
	down := slices.Clone(keys)
	slices.Reverse(down)
	part := func(list []int64, behind func(key, after int64) bool) source {
		return func(_ context.Context, _, after int64, limit int) (entries []social.Entry, err error) {
			for _, key := range list {
				if behind(key, after) && len(entries) < limit {
					entries = append(entries, social.Entry{Member: key, Key: key})
				}
			}
			return entries, nil
		}
	}
	for _, c := range []struct {
		name   string
		want   func(b *builder, w Window)
		keys   []int64
		floors []int64
	}{
		{"newest first", func(b *builder, w Window) {
			b.want("list", 1, w, part(down, func(key, after int64) bool { return key < after }))
		}, down, []int64{3000, 1000, 0}},
		{"oldest first", func(b *builder, w Window) {
			b.wantOldest("list", 1, w, part(keys, func(key, after int64) bool { return key > after }))
		}, keys, []int64{2000, 4000, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			w, seen := &built{done: cancel}, &kinds{}
			b := newBuilder(slog.New(slog.NewTextHandler(io.Discard, nil)), seen)
			c.want(b, w)
			b.work(ctx)
			require.Equal(t, c.floors, w.floors)
			require.Equal(t, c.keys, w.keys)
			require.Equal(t, []string{"list"}, seen.built)
		})
	}
}
