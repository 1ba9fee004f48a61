package service

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"circle/internal/social"
)

const (
	// buildQueue bounds the windows that wait to be built. One that finds no room is asked for again
	// by its next reader.
	buildQueue = 1024
	// buildStep is how many entries a window takes at once.
	buildStep = 1000
	// buildTime bounds one step: what takes longer has lost its token.
	buildTime = 8 * time.Second
)

// source reads entries of a list from the relational store: those behind the key, nearest first. Where the
// newest come first, that is below the key.
type source func(ctx context.Context, list int64, after int64, limit int) ([]social.Entry, error)

// builder builds windows that readers found absent, behind their answers. A window is built once at a
// time by this process, and a number of workers bounds how much building leans on the store.
type builder struct {
	log     *slog.Logger
	observe Observer
	queue   chan build
	mu      sync.Mutex
	going   map[buildKey]struct{}
}

type buildKey struct {
	kind string
	list int64
}

type build struct {
	key    buildKey
	window Window
	read   source
	// oldest says that the oldest entries come first.
	oldest bool
}

func newBuilder(log *slog.Logger, observe Observer) *builder {
	return &builder{log: log, observe: observe, queue: make(chan build, buildQueue), going: map[buildKey]struct{}{}}
}

// want asks for a window to be built, with the newest entries first. It never waits.
func (b *builder) want(kind string, list int64, w Window, read source) {
	b.wantBuild(build{key: buildKey{kind, list}, window: w, read: read})
}

// wantOldest is want for a window with the oldest entries first.
func (b *builder) wantOldest(kind string, list int64, w Window, read source) {
	b.wantBuild(build{key: buildKey{kind, list}, window: w, read: read, oldest: true})
}

func (b *builder) wantBuild(wanted build) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, going := b.going[wanted.key]; going {
		return
	}
	select {
	case b.queue <- wanted:
		b.going[wanted.key] = struct{}{}
	default:
	}
}

// work builds what is wanted until ctx ends. Several may run at once.
func (b *builder) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case next := <-b.queue:
			built, err := next.run(ctx)
			if built {
				b.observe.WindowBuilt(next.key.kind)
			}
			b.mu.Lock()
			delete(b.going, next.key)
			b.mu.Unlock()
			if err != nil && ctx.Err() == nil {
				b.log.WarnContext(ctx, "a window was not built", "kind", next.key.kind, "list", next.key.list, "error", err)
			}
		}
	}
}

func (b build) run(ctx context.Context) (built bool, err error) {
	built, more, err := b.begin(ctx)
	for more && err == nil {
		more, err = b.grow(ctx)
	}
	return built, err
}

// begin builds the nearest part, unless it is there; more says that the list goes on or may do so.
func (b build) begin(ctx context.Context) (built, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	token, ok, err := b.window.Begin(ctx, b.key.list)
	if err != nil || !ok {
		return false, err == nil, err
	}
	entries, floor, err := b.step(ctx, b.start())
	if err != nil {
		return false, false, err
	}
	ok, err = b.window.Finish(ctx, b.key.list, token, entries, floor)
	return ok, ok && floor > 0, err
}

// grow adds a further part; it ends where another takes over or the window is full.
func (b build) grow(ctx context.Context) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	token, floor, ok, err := b.window.Resume(ctx, b.key.list)
	if err != nil || !ok {
		return false, err
	}
	// The entry at the floor is outside.
	entries, floor, err := b.step(ctx, floor-b.direction())
	if err != nil {
		return false, err
	}
	ok, err = b.window.Grow(ctx, b.key.list, token, entries, floor)
	return ok && floor > 0, err
}

// direction is that in which keys go: down, where the newest entries come first.
func (b build) direction() int64 {
	if b.oldest {
		return 1
	}
	return -1
}

// start is the key behind which the list begins.
func (b build) start() int64 {
	if b.oldest {
		return 0
	}
	return social.MaxID + 1
}

// step reads one part and where it ends: 0 for the end of the list.
func (b build) step(ctx context.Context, after int64) (entries []social.Entry, floor int64, err error) {
	entries, err = b.read(ctx, b.key.list, after, buildStep)
	if err == nil && len(entries) == buildStep {
		floor = entries[buildStep-1].Key + b.direction()
	}
	return entries, floor, err
}
