package service

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"circle/internal/social"
)

// shelf is lists of keys, newest first, each with a window down to a floor, which may hold what is gone or hidden
// too.
type shelf struct {
	lists []shelfList
	away  bool
	// asked are the lists whose windows are to be built.
	asked map[int]bool
	// stored counts reads of the store.
	stored int
}

type shelfList struct {
	// rows are keys of the store, held those of the window; seen are the keys that the viewer may see.
	rows, held []int64
	seen       map[int64]bool
	absent     bool
	floor      int64
}

type shelfPage = listPage[int, int64]

// below are at most limit of the keys below one.
func below(keys []int64, key int64, limit int) []int64 {
	i := 0
	for i < len(keys) && keys[i] >= key {
		i++
	}
	return keys[i:min(i+limit, len(keys))]
}

func (s *shelf) fromWindows(_ context.Context, pages []*shelfPage) ([]social.WindowPage, error) {
	if s.away {
		return nil, errAway
	}
	read := make([]social.WindowPage, len(pages))
	for i, page := range pages {
		list := s.lists[page.ask]
		if list.absent {
			continue
		}
		read[i] = social.WindowPage{State: social.WindowWhole, Floor: list.floor}
		for _, key := range below(list.held, page.after, page.missing()) {
			read[i].Entries = append(read[i].Entries, social.Entry{Member: key, Key: key})
		}
		read[i].Ended = list.floor == 0 && len(below(list.held, page.after, page.missing()+1)) <= page.missing()
	}
	return read, nil
}

func (s *shelf) entry(e social.Entry) int64 { return e.Member }

func (s *shelf) wanted(list int) { s.asked[list] = true }

func (s *shelf) fromStore(_ context.Context, _ *gate, pages []*shelfPage) ([][]int64, error) {
	s.stored++
	found := make([][]int64, len(pages))
	for i, page := range pages {
		found[i] = below(s.lists[page.ask].rows, page.after, page.missing())
	}
	return found, nil
}

func (s *shelf) add(_ context.Context, pages []*shelfPage, found [][]int64) error {
	for i, page := range pages {
		for _, key := range found[i] {
			page.after = key
			if s.lists[page.ask].seen[key] {
				page.items = append(page.items, key)
			}
		}
	}
	return nil
}

func drawShelf(r *rapid.T) *shelf {
	s := &shelf{away: rapid.IntRange(0, 9).Draw(r, "away") == 0, asked: map[int]bool{}}
	for range rapid.IntRange(1, 4).Draw(r, "lists") {
		list := shelfList{seen: map[int64]bool{}, absent: rapid.IntRange(0, 4).Draw(r, "absent") == 0}
		if rapid.Bool().Draw(r, "long") {
			list.floor = rapid.Int64Range(1, 40).Draw(r, "floor")
		}
		for key := int64(40); key > 0; key-- {
			// Gone: in the window alone, or in neither; else in the store, and in the window above its floor.
			kind := rapid.IntRange(0, 4).Draw(r, "kind")
			if kind > 1 {
				list.rows = append(list.rows, key)
				list.seen[key] = kind > 2
			}
			if kind > 0 && key > list.floor {
				list.held = append(list.held, key)
			}
		}
		s.lists = append(s.lists, list)
	}
	return s
}

// visible is the whole list by its definition.
func (l shelfList) visible() []int64 {
	return slices.DeleteFunc(slices.Clone(l.rows), func(key int64) bool { return !l.seen[key] })
}

func TestPagesOfListsAreWhatIsToBeSeen(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := drawShelf(r)
		var pages []*shelfPage
		for i := range s.lists {
			pages = append(pages, &shelfPage{ask: i, after: rapid.Int64Range(1, 41).Draw(r, "after"), want: rapid.IntRange(2, 30).Draw(r, "want")})
		}
		begin := make([]int64, len(pages))
		for i, page := range pages {
			begin[i] = page.after
		}
		require.NoError(r, fillPages(t.Context(), s, nil, pages))
		for i, page := range pages {
			want := below(s.lists[i].visible(), begin[i], page.want)
			require.Equal(r, append([]int64{}, want...), append([]int64{}, page.items...), "list %d", i)
			require.Equal(r, s.lists[i].absent && !s.away, s.asked[i], "list %d is built behind the answer when it is absent", i)
		}
	})
}

// TestPagesWithinTheirWindowsAskNoStore has nothing to drop.
func TestPagesWithinTheirWindowsAskNoStore(t *testing.T) {
	keys := []int64{5, 4, 3, 2, 1}
	list := shelfList{rows: keys, held: keys, seen: map[int64]bool{5: true, 4: true, 3: true, 2: true, 1: true}}
	for _, c := range []struct {
		name  string
		floor int64
		want  int
		reads int
	}{{"a page", 0, 3, 0}, {"up to the end", 0, 5, 0}, {"beyond the end", 0, 6, 0}, {"down to the floor", 1, 4, 0}, {"beyond the floor", 1, 5, 1}} {
		t.Run(c.name, func(t *testing.T) {
			list := list
			list.floor = c.floor
			list.held = keys[:len(keys)-int(c.floor)]
			s := &shelf{lists: []shelfList{list}, asked: map[int]bool{}}
			page := &shelfPage{after: 6, want: c.want}
			require.NoError(t, fillPages(t.Context(), s, nil, []*shelfPage{page}))
			require.Equal(t, keys[:min(c.want, 5)], page.items)
			require.Equal(t, c.reads, s.stored)
		})
	}
}
