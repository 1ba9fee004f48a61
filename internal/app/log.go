package app

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// NewLog writes lines from a level on. Of a warning that comes again and again, as each request's does while
// a store is away, one line a second is written, which says how many were left out since the one before.
func NewLog(out io.Writer, level slog.Level) *slog.Logger {
	next := slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})
	return slog.New(thinned{next, &repeats{of: make(map[warning]*repeat)}})
}

// warning is what counts as the same. All of it is from small sets.
type warning struct{ message, kind string }

// kinds are the attributes that tell one warning of a message from another.
var kinds = map[string]bool{"code": true, "kind": true, "what": true, "worker": true}

type repeats struct {
	mu sync.Mutex
	of map[warning]*repeat
}

type repeat struct {
	written time.Time
	left    int
}

// take says whether the warning is to be written, and how many were left out.
func (r *repeats) take(w warning, now time.Time) (left int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.of[w]
	if last == nil {
		last = &repeat{}
		r.of[w] = last
	}
	if since := now.Sub(last.written); 0 <= since && since < time.Second {
		last.left++
		return 0, false
	}
	left, last.left, last.written = last.left, 0, now
	return left, true
}

// thinned is a handler that leaves repeated warnings out.
type thinned struct {
	slog.Handler
	repeats *repeats
}

// Handle implements slog.Handler.
func (h thinned) Handle(ctx context.Context, record slog.Record) error {
	if record.Level != slog.LevelWarn {
		return h.Handler.Handle(ctx, record)
	}
	w := warning{message: record.Message}
	record.Attrs(func(a slog.Attr) bool {
		if kinds[a.Key] {
			w.kind = a.Value.String()
		}
		return w.kind == ""
	})
	left, ok := h.repeats.take(w, record.Time)
	if !ok {
		return nil
	}
	if left > 0 {
		record = record.Clone()
		record.AddAttrs(slog.Int("leftOut", left))
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h thinned) WithAttrs(attrs []slog.Attr) slog.Handler {
	return thinned{h.Handler.WithAttrs(attrs), h.repeats}
}

// WithGroup implements slog.Handler.
func (h thinned) WithGroup(name string) slog.Handler {
	return thinned{h.Handler.WithGroup(name), h.repeats}
}
