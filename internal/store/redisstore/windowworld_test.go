package redisstore

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"circle/internal/social"
)

// windowWorld is a list's rows in the relational store, its window, and the hands that are at work
// between the two, each of which stops after each of its steps.
type windowWorld struct {
	fixture
	worldList
	order    order
	role     Role
	keys     []string // all that the list may be in
	id       int64
	rows     map[int64]int64 // key by member
	versions map[int64]int
	nextKey  int64
	hands    []hand
	snapshot map[string][]redis.Z
}

// worldList is what Windows and Split have in common.
type worldList interface {
	Push(ctx context.Context, ids []int64, e social.Entry) error
	Remove(ctx context.Context, ids, members []int64) error
	Read(ctx context.Context, asks []social.WindowAsk) ([]social.WindowPage, error)
	Has(ctx context.Context, id int64, members []int64) ([]social.Membership, error)
	Begin(ctx context.Context, id int64) (token string, ok bool, err error)
	Finish(ctx context.Context, id int64, token string, entries []social.Entry, floor int64) (ok bool, err error)
	Resume(ctx context.Context, id int64) (token string, floor int64, ok bool, err error)
	Grow(ctx context.Context, id int64, token string, entries []social.Entry, floor int64) (ok bool, err error)
}

// hand does a step of its work; done is true after the last.
type hand interface {
	step(t require.TestingT, w *windowWorld) (done bool)
}

const (
	rowCount = 8 // different members
	worldCap = 5 // entries of the window
	readSize = 2 // rows a builder reads at once
)

// sorted are the rows from a cursor on, nearest first.
func (w *windowWorld) sorted(after int64) []social.Entry {
	var entries []social.Entry
	for member, key := range w.rows {
		if e := (social.Entry{Member: member, Key: key}); w.order.nearer(e, social.Entry{Key: after}) > 0 {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, w.order.nearer)
	return entries
}

// write makes a row or takes it out; a player's row gets a key that was never used.
func (w *windowWorld) write(member int64, present bool) {
	w.versions[member]++
	delete(w.rows, member)
	if present && w.order == players {
		w.nextKey++
		w.rows[member] = w.nextKey
	} else if present {
		w.rows[member] = member
	}
}

// near makes the window say what the rows of some members say.
type near struct {
	members []int64
	at      int
	present []social.Entry
	absent  []int64
	seen    map[int64]int
}

func (h *near) step(t require.TestingT, w *windowWorld) bool {
	ctx := context.Background()
	h.at++
	switch h.at {
	case 1:
		h.present, h.absent, h.seen = nil, nil, map[int64]int{}
		for _, member := range h.members {
			h.seen[member] = w.versions[member]
			if key, ok := w.rows[member]; ok {
				h.present = append(h.present, social.Entry{Member: member, Key: key})
			} else {
				h.absent = append(h.absent, member)
			}
		}
		slices.SortFunc(h.present, w.order.nearer)
	case 2:
		if list, ok := w.worldList.(*Windows); ok && len(h.present) != 1 {
			require.NoError(t, list.Merge(ctx, w.id, h.present))
			return false
		}
		for _, e := range h.present {
			require.NoError(t, w.Push(ctx, []int64{w.id}, e))
		}
	case 3:
		require.NoError(t, w.Remove(ctx, []int64{w.id}, h.absent))
	case 4:
		for member, version := range h.seen {
			if version != w.versions[member] {
				h.at = 0
				return false
			}
		}
		return true
	}
	return false
}

// builder builds the window and grows it, or only grows it.
type builder struct {
	grows   bool
	at      int
	token   string
	entries []social.Entry
	floor   int64
}

func (h *builder) step(t require.TestingT, w *windowWorld) bool {
	ctx := context.Background()
	var ok bool
	var err error
	h.at++
	switch {
	case h.at == 1 && !h.grows:
		h.token, ok, err = w.Begin(ctx, w.id)
	case h.at == 1:
		h.token, h.floor, ok, err = w.Resume(ctx, w.id)
	case h.at == 2:
		h.read(w)
		ok = true
	case !h.grows:
		ok, err = w.Finish(ctx, w.id, h.token, h.entries, h.floor)
		h.grows, h.at = true, 1
		if _, split := w.worldList.(*Split); split {
			h.at = 0 // this token does not serve for Grow
		}
	default:
		ok, err = w.Grow(ctx, w.id, h.token, h.entries, h.floor)
		h.at = 1
	}
	require.NoError(t, err)
	return !ok || h.at < 2 && h.grows && h.floor == 0
}

// read reads rows from the floor on, and where the list ends with them.
func (h *builder) read(w *windowWorld) {
	after := w.order.begin()
	if h.floor != 0 && w.order == oldest {
		after = h.floor - 1
	} else if h.floor != 0 {
		after = h.floor + 1
	}
	h.entries, h.floor = w.sorted(after), 0
	if len(h.entries) > readSize {
		h.entries = h.entries[:readSize]
		h.floor = h.entries[readSize-1].Key - 1
		if w.order == oldest {
			h.floor += 2
		}
	}
}

func (w *windowWorld) advance(t require.TestingT, i int) {
	if w.hands[i].step(t, w) {
		w.hands = slices.Delete(w.hands, i, i+1)
	}
}

// settle lets the near hands do all their work and compares what is read then, by pages of some sizes.
func (w *windowWorld) settle(t require.TestingT, sizes ...int) {
	for i := len(w.hands) - 1; i >= 0; i-- {
		if h, ok := w.hands[i].(*near); ok {
			for !h.step(t, w) {
			}
			w.hands = slices.Delete(w.hands, i, i+1)
		}
	}
	rows := w.sorted(w.order.begin())
	for size := 1; size <= len(rows)+1; size++ {
		var asks []social.WindowAsk
		var want [][]social.Entry
		ask := social.WindowAsk{ID: w.id, After: w.order.begin(), Limit: size}
		for page := range slices.Chunk(rows, size) {
			asks, want = append(asks, ask), append(want, page)
			ask.After = page[len(page)-1].Key
		}
		asks, want = append(asks, ask), append(want, nil)
		pages, err := w.Read(context.Background(), asks)
		require.NoError(t, err)
		for i, page := range pages {
			require.Equal(t, want[i], w.through(asks[i], page), "%+v: %+v", asks[i], page)
		}
	}
	w.settleMembers(t)
}

// through is a page with what the rows add to it.
func (w *windowWorld) through(ask social.WindowAsk, page social.WindowPage) []social.Entry {
	if n := len(page.Entries); page.State == social.WindowWhole && (page.Ended || n == ask.Limit) {
		return page.Entries[:n:n]
	} else if n > 0 {
		ask.After = page.Entries[n-1].Key
	}
	rest := w.sorted(ask.After)
	return append(page.Entries, rest[:min(len(rest), ask.Limit-len(page.Entries))]...)
}

func (w *windowWorld) settleMembers(t require.TestingT) {
	var members []int64
	for member := int64(1); member <= rowCount; member++ {
		members = append(members, member)
	}
	answers, err := w.Has(context.Background(), w.id, members)
	require.NoError(t, err)
	for i, answer := range answers {
		key, present := w.rows[members[i]]
		switch answer.Presence {
		case social.PresenceYes:
			require.True(t, present, "member %d", members[i])
			require.Equal(t, key, answer.Key, "member %d", members[i])
		case social.PresenceNo:
			require.False(t, present, "member %d", members[i])
		}
	}
}

// back puts the list into the state of the last snapshot, as a replica does that lacks what came
// since; whoever notices raises the epoch.
func (w *windowWorld) back(t require.TestingT) {
	ctx := context.Background()
	for _, key := range w.keys {
		require.NoError(t, w.client().Del(ctx, key).Err())
		if entries := w.snapshot[key]; len(entries) > 0 {
			require.NoError(t, w.client().ZAdd(ctx, key, entries...).Err())
			require.NoError(t, w.client().Expire(ctx, key, time.Minute).Err())
		}
	}
	w.SetEpochs(map[string]uint32{string(w.role): w.epochs[w.role].Load() + 1})
}

func (w *windowWorld) actions() map[string]func(*rapid.T) {
	start := func(r *rapid.T, h hand) {
		if len(w.hands) == 4 {
			r.Skip("enough hands are at work")
		}
		w.hands = append(w.hands, h)
	}
	write := func(r *rapid.T) {
		members := rapid.SliceOfNDistinct(rapid.Int64Range(1, rowCount), 1, 2, rapid.ID).Draw(r, "members")
		start(r, &near{members: members})
		for _, member := range members {
			w.write(member, rapid.Bool().Draw(r, "present"))
		}
	}
	step := func(r *rapid.T) {
		if len(w.hands) == 0 {
			r.Skip("nobody is at work")
		}
		i := rapid.IntRange(0, len(w.hands)-1).Draw(r, "hand")
		h := w.hands[i]
		for range rapid.IntRange(1, 4).Draw(r, "steps") {
			if i < len(w.hands) && w.hands[i] == h {
				w.advance(r, i)
			}
		}
	}
	return map[string]func(*rapid.T){
		"write": write, "write again": write, "step": step, "step again": step, "step further": step, "step on": step,
		"build":  func(r *rapid.T) { start(r, &builder{}) },
		"grow":   func(r *rapid.T) { start(r, &builder{grows: true}) },
		"settle": func(r *rapid.T) { w.settle(r, rapid.IntRange(1, rowCount+1).Draw(r, "size")) },
		"upset":  w.upset,
	}
}

// upset loses the list, or takes a snapshot of it, or goes back to that.
func (w *windowWorld) upset(r *rapid.T) {
	switch rapid.IntRange(0, 2).Draw(r, "how") {
	case 0:
		require.NoError(r, w.client().Del(context.Background(), rapid.SampledFrom(w.keys).Draw(r, "key")).Err())
	case 1:
		w.snapshot = map[string][]redis.Z{}
		for _, key := range w.keys {
			entries, err := w.client().ZRangeWithScores(context.Background(), key, 0, -1).Result()
			require.NoError(r, err)
			w.snapshot[key] = entries
		}
	case 2:
		w.back(r)
	}
}

// run lets hands work in any order, a number of times, and compares.
func (w *windowWorld) run(r *rapid.T, times int) {
	w.rows, w.versions, w.nextKey = map[int64]int64{}, map[int64]int{}, 100
	for member := int64(1); member <= rowCount; member++ {
		w.write(member, rapid.Bool().Draw(r, "present"))
	}
	w.hands = []hand{&builder{}}
	for range times {
		r.Repeat(w.actions())
	}
	w.settle(r, 1, 2, 3, 4, 5, 6, 7, 8, 9)
}

// Whoever writes, builds, grows and loses a list, in any order of all their steps: once what was
// written has reached the window, the window and the rows behind it are the rows, page by page.
func TestWindowsAndTheRowsBehindThemAreTheRows(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		for order, windows := range f.orders(worldCap) {
			t.Run(string(order), func(t *testing.T) {
				id := int64(0)
				rapid.Check(t, func(r *rapid.T) {
					id++
					w := &windowWorld{fixture: f, worldList: windows, order: order, role: windows.keys.role,
						keys: []string{windows.keys.key(id)}, id: id}
					w.run(r, 2)
				})
			})
		}
	})
}

// The same holds for lists that are one key while they are short and many when they are long, whichever
// of these are there.
func TestSplitListsAndTheRowsBehindThemAreTheRows(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		list, id := f.Fans(), int64(0)
		list.one.cap, list.width = 3, 2
		rapid.Check(t, func(r *rapid.T) {
			id++
			list.parts.cap = rapid.IntRange(1, 4).Draw(r, "cap of a part")
			w := &windowWorld{fixture: f, worldList: list, order: players, role: Relation, id: id,
				keys: []string{list.one.keys.key(id), list.parts.keys.key(list.part(id, 0)), list.parts.keys.key(list.part(id, 1))}}
			w.run(r, 1)
		})
	})
}
