package redisstore

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"circle/internal/social"
)

// windowMachine does the same to lists and to their models.
type windowMachine struct {
	fixture
	*Windows
	id     func(n int64) int64
	first  int64 // of two lists
	models []*listModel
	epoch  uint32
	tokens []string
}

// keyCount is how many different keys are used, memberCount how many players.
const (
	keyCount    = 60
	memberCount = 12
)

// scales spread the keys: next to each other, like ids, at the end of all ids, and round numbers, which
// some servers write with an exponent.
var scales = []func(n int64) int64{
	func(n int64) int64 { return n },
	func(n int64) int64 { return 375_000_000_000_000 + n*4099 },
	func(n int64) int64 { return social.MaxID - keyCount - 1 + n },
	func(n int64) int64 { return n * 100_000_000_000_000 },
}

func (m *windowMachine) number(n int64) social.Entry {
	if m.order == players {
		return social.Entry{Member: n%memberCount + 1, Key: m.id(n)}
	}
	return social.Entry{Member: m.id(n), Key: m.id(n)}
}

// draw draws entries with keys between two numbers, nearest first; of a player the later one alone.
func (m *windowMachine) draw(r *rapid.T, least, most int64) []social.Entry {
	var entries []social.Entry
	seen := make(map[int64]bool)
	if least > most {
		return nil
	}
	numbers := rapid.SliceOfNDistinct(rapid.Int64Range(least, most), 0, 40, rapid.ID).Draw(r, "entries")
	slices.SortFunc(numbers, func(a, b int64) int { return cmp.Compare(b, a) })
	for _, n := range numbers {
		if e := m.number(n); !seen[e.Member] {
			entries, seen[e.Member] = append(entries, e), true
		}
	}
	slices.SortFunc(entries, m.order.nearer)
	return entries
}

// upTo draws entries between a floor and a farther one, as a reader of the relational store has them.
func (m *windowMachine) upTo(r *rapid.T, floor int64) (entries []social.Entry, farther int64) {
	least, most := int64(1), int64(keyCount)
	if floor != 0 && m.order == oldest {
		least = rapid.Int64Range(1, keyCount).Filter(func(n int64) bool { return m.id(n) >= floor }).Draw(r, "least")
	} else if floor != 0 {
		most = rapid.Int64Range(1, keyCount).Filter(func(n int64) bool { return m.id(n) <= floor }).Draw(r, "most")
	}
	entries = m.draw(r, least, most)
	if len(entries) == 0 || rapid.Bool().Draw(r, "all") {
		return entries, 0
	}
	if last := entries[len(entries)-1].Key; m.order == oldest {
		farther = last + 1
	} else {
		farther = last - 1
	}
	return entries, farther
}

func (m *windowMachine) list(r *rapid.T) (id int64, model *listModel) {
	i := rapid.IntRange(0, len(m.models)-1).Draw(r, "list")
	return m.first + int64(i), m.models[i]
}

func (m *windowMachine) ids() []int64 { return []int64{m.first, m.first + 1} }

func (m *windowMachine) actions() map[string]func(*rapid.T) {
	ctx := context.Background()
	push := func(r *rapid.T) {
		e := m.number(rapid.Int64Range(1, keyCount).Draw(r, "number"))
		require.NoError(r, m.Push(ctx, m.ids(), e))
		for _, model := range m.models {
			model.put([]social.Entry{e})
		}
	}
	begin := func(r *rapid.T) {
		id, model := m.list(r)
		token, ok, err := m.Begin(ctx, id)
		require.NoError(r, err)
		require.Equal(r, model.begin(epochText(m.epoch), token), ok)
		m.tokens = append(m.tokens, token)
	}
	finish := func(r *rapid.T) {
		id, model := m.list(r)
		token := rapid.SampledFrom(m.tokens).Draw(r, "token")
		entries, floor := m.upTo(r, 0)
		ok, err := m.Finish(ctx, id, token, entries, floor)
		require.NoError(r, err)
		require.Equal(r, model.finish(token, entries, floor), ok)
	}
	resume := func(r *rapid.T) {
		id, model := m.list(r)
		token, floor, ok, err := m.Resume(ctx, id)
		require.NoError(r, err)
		require.Equal(r, model.resume(epochText(m.epoch), token), ok)
		if ok {
			require.Equal(r, model.floor, floor)
			m.tokens = append(m.tokens, token)
		}
	}
	return map[string]func(*rapid.T){
		"push": push, "push again": push, "begin": begin, "begin again": begin, "finish": finish, "finish again": finish, "resume": resume,
		"merge": func(r *rapid.T) {
			id, model := m.list(r)
			entries := m.draw(r, 1, keyCount)
			require.NoError(r, m.Merge(ctx, id, entries))
			model.put(entries)
		},
		"remove": func(r *rapid.T) {
			var members []int64
			for _, e := range m.draw(r, 1, keyCount) {
				members = append(members, e.Member)
			}
			require.NoError(r, m.Remove(ctx, m.ids(), members))
			for _, model := range m.models {
				model.remove(members)
			}
		},
		"grow": func(r *rapid.T) {
			id, model := m.list(r)
			if model.floor == 0 || model.floor < m.id(1) || model.floor > m.id(keyCount) {
				r.Skip("there is nothing to grow")
			}
			token := rapid.SampledFrom(m.tokens[max(0, len(m.tokens)-4):]).Draw(r, "token")
			entries, floor := m.upTo(r, model.floor)
			ok, err := m.Grow(ctx, id, token, entries, floor)
			require.NoError(r, err)
			require.Equal(r, model.grow(token, entries, floor), ok)
		},
		"drop": func(r *rapid.T) {
			id, model := m.list(r)
			require.NoError(r, m.Drop(ctx, []int64{id}))
			*model = listModel{order: m.order, cap: m.cap, few: m.few}
		},
		"renew": func(r *rapid.T) { require.NoError(r, m.Renew(ctx, m.ids())) },
		"raise the epoch": func(*rapid.T) {
			m.epoch++
			m.SetEpochs(map[string]uint32{string(m.keys.role): m.epoch})
		},
		"": m.check,
	}
}

// check compares the whole lists, a piece of each, and memberships in one.
func (m *windowMachine) check(r *rapid.T) {
	var asks []social.WindowAsk
	for i := range m.models {
		after := m.id(rapid.Int64Range(0, keyCount+1).Draw(r, "after"))
		limit := rapid.IntRange(0, 12).Draw(r, "limit")
		id := m.first + int64(i)
		asks = append(asks, social.WindowAsk{ID: id, After: m.order.begin(), Limit: keyCount}, social.WindowAsk{ID: id, After: after, Limit: limit})
	}
	m.checkPages(r, asks)
	var members []int64
	var want []social.Membership
	id, model := m.list(r)
	for n := int64(1); n <= keyCount; n++ {
		member := m.number(n).Member
		members, want = append(members, member), append(want, model.membership(epochText(m.epoch), member))
	}
	got, err := m.Has(context.Background(), id, members)
	require.NoError(r, err)
	require.Equal(r, want, got)
}

func (m *windowMachine) checkPages(r *rapid.T, asks []social.WindowAsk) {
	pages, err := m.Read(context.Background(), asks)
	require.NoError(r, err)
	for i, page := range pages {
		want := m.models[asks[i].ID-m.first].page(epochText(m.epoch), asks[i])
		if len(page.Entries) == 0 {
			page.Entries, want.Entries = nil, nil
		}
		require.Equal(r, want, page, "%+v", asks[i])
	}
}

// checkWalks compares each page of a walk through each list, at one page size after the other.
func (m *windowMachine) checkWalks(r *rapid.T) {
	for i, model := range m.models {
		for size := 1; size <= len(model.entries)+1; size++ {
			var asks []social.WindowAsk
			ask := social.WindowAsk{ID: m.first + int64(i), After: m.order.begin(), Limit: size}
			for entries := range slices.Chunk(model.entries, size) {
				asks = append(asks, ask)
				ask.After = entries[len(entries)-1].Key
			}
			m.checkPages(r, append(asks, ask))
		}
	}
}

// Whatever is done to lists, each page of each and each membership are those of a sorted slice.
func TestWindowsAreSortedSlicesWithAFloor(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		for order, w := range f.orders(0) {
			t.Run(string(order), func(t *testing.T) {
				first := int64(1)
				rapid.Check(t, func(r *rapid.T) {
					first += 2
					w.cap = rapid.SampledFrom([]int{1, 3, 10, 25}).Draw(r, "cap")
					w.few = rapid.IntRange(0, w.cap/2).Draw(r, "few")
					m := &windowMachine{fixture: f, Windows: w, first: first, epoch: w.epoch(), tokens: []string{"none"},
						id: rapid.SampledFrom(scales).Draw(r, "scale")}
					for range m.ids() {
						m.models = append(m.models, &listModel{order: order, cap: w.cap, few: w.few})
					}
					r.Repeat(m.actions())
					m.checkWalks(r)
				})
			})
		}
	})
}
