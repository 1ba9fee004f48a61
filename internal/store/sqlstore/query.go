package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// scanner fills variables from a row's columns.
type scanner func(columns ...any) error

// query runs a read and calls each for every row. Rows are scanned by hand: GORM's reflection
// costs as much again as the statement.
func query(db *gorm.DB, sql string, args []any, each func(scan scanner) error) (err error) {
	rows, err := db.Raw(sql, args...).Rows()
	if err != nil {
		return err
	}
	defer func() { err = translate(db.Statement.Context, errors.Join(err, rows.Err(), rows.Close())) }()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return nil
}

// keyPaddings and listPaddings are the lengths that lists in statements have, so that there are few
// statements to prepare. SQLite takes at most 500 subqueries in one.
var (
	keyPaddings  = []int{1, 8, 32, 128}
	listPaddings = []int{1, 8, 32, 128}
)

func padded(n int, paddings []int) int {
	i, _ := slices.BinarySearch(paddings, n)
	return paddings[i]
}

// chunks cuts keys into pieces of at most 128 and pads each by repeating its last key. It is for
// sets, where a key given twice counts once.
func chunks[K any](keys []K) iter.Seq[[]K] {
	return func(yield func([]K) bool) {
		for piece := range slices.Chunk(keys, keyPaddings[len(keyPaddings)-1]) {
			missing := padded(len(piece), keyPaddings) - len(piece)
			if missing > 0 {
				piece = append(slices.Clone(piece), slices.Repeat(piece[len(piece)-1:], missing)...)
			}
			if !yield(piece) {
				return
			}
		}
	}
}

// listQuery reads pieces of several lists in one trip: a UNION ALL of subqueries, each with an order
// and a limit of its own.
type listQuery struct {
	// term is a list's SELECT without that word. It names its columns member and place,
	// orders by place and ends with LIMIT ?.
	term string
	// viewer, when not 0, has the entries marked whose members are the viewer's friends.
	viewer int64
	// limit, when not 0, keeps only the largest places of all lists of one trip together. Only one
	// of viewer and limit is meant at a time.
	limit int
}

// listEntry is an entry of a list; lists are ordered by place, the largest first.
type listEntry struct {
	member, place int64
	friend        bool
}

// read reads one list for each element of terms, which holds what the term's ? stand for; the last
// one is the limit. The answer has the order of terms.
func (q listQuery) read(ctx context.Context, s *Store, terms [][]any) ([][]listEntry, error) {
	lists := make([][]listEntry, 0, len(terms))
	for piece := range slices.Chunk(terms, listPaddings[len(listPaddings)-1]) {
		found, err := q.readPiece(ctx, s, piece)
		if err != nil {
			return nil, err
		}
		lists = append(lists, found...)
	}
	return lists, nil
}

func (q listQuery) readPiece(ctx context.Context, s *Store, terms [][]any) ([][]listEntry, error) {
	lists := make([][]listEntry, len(terms))
	sql, args := q.statement(s.dialect, terms)
	err := query(s.reader(ctx), sql, args, func(scan scanner) error {
		var list int
		var e listEntry
		if err := scan(&list, &e.friend, &e.member, &e.place); err != nil {
			return err
		}
		lists[list] = append(lists[list], e)
		return nil
	})
	for _, list := range lists {
		// A UNION ALL promises no order.
		slices.SortFunc(list, func(a, b listEntry) int { return cmp.Compare(b.place, a.place) })
	}
	return lists, err
}

// statement unites the terms, and as many of limit 0 as padding asks for.
func (q listQuery) statement(d dialect, terms [][]any) (string, []any) {
	var union strings.Builder
	var args []any
	for i := range padded(len(terms), listPaddings) {
		if i > 0 {
			union.WriteString(" UNION ALL ")
		}
		union.WriteString(d.limited(fmt.Sprintf("SELECT %d AS list, 0 AS friend, %s", i, q.term)))
		args = append(args, terms[min(i, len(terms)-1)]...)
		if i >= len(terms) {
			args[len(args)-1] = 0
		}
	}
	switch {
	case q.viewer != 0:
		return "SELECT u.list, COALESCE(f.friend_id, 0) > 0, u.member, u.place FROM (" + union.String() +
			") u LEFT JOIN edges f ON f.player_id = ? AND f.peer_id = u.member", append(args, q.viewer)
	case q.limit != 0:
		return "SELECT u.list, u.friend, u.member, u.place FROM (" + union.String() + ") u ORDER BY u.place DESC LIMIT ?", append(args, q.limit)
	}
	return union.String(), args
}

func convertLists[T any](lists [][]listEntry, value func(listEntry) T) [][]T {
	out := make([][]T, len(lists))
	for i, list := range lists {
		out[i] = make([]T, len(list))
		for j, entry := range list {
			out[i][j] = value(entry)
		}
	}
	return out
}
