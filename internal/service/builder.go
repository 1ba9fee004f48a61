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
	key   buildKey
	parts []part
}

// part is a window of a build and what it is built of.
type part struct {
	window Window
	read   source
	// oldest says that the oldest entries come first.
	oldest bool
	// short says that the window is built in one step or not at all.
	short bool
}

func newBuilder(log *slog.Logger, observe Observer) *builder {
	return &builder{log: log, observe: observe, queue: make(chan build, buildQueue), going: map[buildKey]struct{}{}}
}

// want asks for a window to be built, with the newest entries first. It never waits.
func (b *builder) want(kind string, list int64, w Window, read source) {
	b.wantBuild(build{buildKey{kind, list}, []part{{window: w, read: read}}})
}

// wantOldest is want for a window with the oldest entries first.
func (b *builder) wantOldest(kind string, list int64, w Window, read source) {
	b.wantBuild(build{buildKey{kind, list}, []part{{window: w, read: read, oldest: true}}})
}

// wantBuild asks for the windows of one list that are absent to be built, one after the other.
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

// run builds the parts that are absent; built says that the last one was.
func (b build) run(ctx context.Context) (built bool, err error) {
	for _, p := range b.parts {
		if built, err = p.run(ctx, b.key.list); err != nil {
			return built, err
		}
	}
	return built, nil
}

func (p part) run(ctx context.Context, list int64) (built bool, err error) {
	built, more, err := p.begin(ctx, list)
	for more && !p.short && err == nil {
		more, err = p.grow(ctx, list)
	}
	return built, err
}

// begin builds the nearest part, unless it is there; more says that the list goes on or may do so.
func (p part) begin(ctx context.Context, list int64) (built, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	token, ok, err := p.window.Begin(ctx, list)
	if err != nil || !ok {
		return false, err == nil, err
	}
	entries, floor, err := p.step(ctx, list, p.start())
	if err != nil {
		return false, false, err
	}
	ok, err = p.window.Finish(ctx, list, token, entries, floor)
	return ok, ok && floor > 0, err
}

// grow adds a further part; it ends where another takes over or the window is full.
func (p part) grow(ctx context.Context, list int64) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	token, floor, ok, err := p.window.Resume(ctx, list)
	if err != nil || !ok {
		return false, err
	}
	// The entry at the floor is outside.
	entries, floor, err := p.step(ctx, list, floor-p.direction())
	if err != nil {
		return false, err
	}
	ok, err = p.window.Grow(ctx, list, token, entries, floor)
	return ok && floor > 0, err
}

// direction is that in which keys go: down, where the newest entries come first.
func (p part) direction() int64 {
	if p.oldest {
		return 1
	}
	return -1
}

// start is the key behind which the list begins.
func (p part) start() int64 {
	if p.oldest {
		return 0
	}
	return social.MaxID + 1
}

// step reads one part and where it ends: 0 for the end of the list.
func (p part) step(ctx context.Context, list, after int64) (entries []social.Entry, floor int64, err error) {
	entries, err = p.read(ctx, list, after, buildStep)
	if err == nil && len(entries) == buildStep {
		floor = entries[buildStep-1].Key + p.direction()
	}
	return entries, floor, err
}
