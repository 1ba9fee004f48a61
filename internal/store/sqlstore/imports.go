package sqlstore

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"circle/internal/social"
)

// errStepTaken rolls back a batch that another process has written.
var errStepTaken = errors.New("the import was moved on by another process")

// takeStep moves an import on if it is where the step begins.
func (tx *Tx) takeStep(ctx context.Context, step social.ImportStep) error {
	done := tx.with(ctx).Exec("UPDATE import_progress SET phase = ?, position = ? WHERE source = ? AND phase = ? AND position = ?",
		step.To.Phase, step.To.Position, step.Source, step.From.Phase, step.From.Position)
	if done.Error == nil && done.RowsAffected == 0 {
		return errStepTaken
	}
	return done.Error
}

// An import's reserved ranges are kept as progress rows of their own, next to its place.
const (
	playerRange = "/players"
	idRange     = "/ids"
)

// ImportState tells how far an import is; false when it has not begun.
func (s *Store) ImportState(ctx context.Context, source string) (state social.ImportState, found bool, err error) {
	state, found, err = readImport(s.reader(ctx), source)
	return state, found, wrap(err, "read an import's progress")
}

// errBegun rolls back the beginning of an import that has begun.
var errBegun = errors.New("the import has begun")

// BeginImport notes an import and reserves so many players for it, unless it has begun already, and
// tells how far it is.
func (s *Store) BeginImport(ctx context.Context, begin social.ImportState, players int) (state social.ImportState, err error) {
	err = s.InTx(ctx, func(tx *Tx) (err error) {
		// Locks the sequence first: whoever begins the same import waits for it.
		begin.FirstPlayer, err = tx.reservePlayers(ctx, players)
		if err != nil {
			return err
		}
		var found bool
		state, found, err = readImport(tx.with(ctx), begin.Source)
		if err != nil {
			return err
		}
		if found {
			return errBegun
		}
		state = begin
		const insert = "INSERT INTO import_progress (source, phase, position) VALUES (?, ?, ?), (?, '', ?), (?, '', ?)"
		return tx.with(ctx).Exec(insert, begin.Source, begin.Phase, begin.Position,
			begin.Source+playerRange, begin.FirstPlayer, begin.Source+idRange, begin.FirstID).Error
	})
	if errors.Is(err, errBegun) {
		err = nil
	}
	return state, wrap(err, "begin an import")
}

func readImport(db *gorm.DB, source string) (state social.ImportState, found bool, err error) {
	state.Source = source
	var rows int
	err = query(db, "SELECT source, phase, position FROM import_progress WHERE source IN (?, ?, ?)",
		[]any{source, source + playerRange, source + idRange}, func(scan scanner) error {
			var place social.ImportPlace
			var of string
			err := scan(&of, &place.Phase, &place.Position)
			switch of {
			case source:
				state.ImportPlace = place
			case source + playerRange:
				state.FirstPlayer = social.PlayerID(place.Position)
			case source + idRange:
				state.FirstID = place.Position
			}
			rows++
			return err
		})
	return state, rows == 3, err
}

// ReservePlayers hands out n dense ids, for good, and returns the first.
func (s *Store) ReservePlayers(ctx context.Context, n int) (first social.PlayerID, err error) {
	err = s.InTx(ctx, func(tx *Tx) (err error) {
		first, err = tx.reservePlayers(ctx, n)
		return err
	})
	return first, wrap(err, "reserve players' ids")
}

func (tx *Tx) reservePlayers(ctx context.Context, n int) (first social.PlayerID, err error) {
	if err := tx.with(ctx).Exec("UPDATE sequences SET next = next + ? WHERE name = 'player'", n).Error; err != nil {
		return 0, err
	}
	err = query(tx.with(ctx), "SELECT next - ? FROM sequences WHERE name = 'player'", []any{n}, func(scan scanner) error { return scan(&first) })
	if err == nil && first == 0 {
		err = errors.New("there is no sequence of players")
	}
	return first, err
}

// TakenNames tells which of the folded names are in use.
func (s *Store) TakenNames(ctx context.Context, keys []string) (map[string]bool, error) {
	taken := make(map[string]bool)
	err := s.present(ctx, "SELECT name_key FROM players WHERE name_key IN ?", nil, toAny(keys), func(scan scanner) error {
		var key string
		err := scan(&key)
		taken[key] = true
		return err
	})
	return taken, wrap(err, "look for names")
}

// TakenFeedIDs tells which of the ids feeds have.
func (s *Store) TakenFeedIDs(ctx context.Context, ids []social.FeedID) (map[social.FeedID]bool, error) {
	taken := make(map[social.FeedID]bool)
	err := s.present(ctx, "SELECT id FROM feeds WHERE id IN ?", nil, toAny(ids), func(scan scanner) error {
		var id social.FeedID
		err := scan(&id)
		taken[id] = true
		return err
	})
	return taken, wrap(err, "look for feeds")
}

// ExternalIDs finds imported things by the ids that they had; those unknown are absent.
func (s *Store) ExternalIDs(ctx context.Context, kind social.ExternalKind, external []string) (map[string]int64, error) {
	found := make(map[string]int64)
	err := s.present(ctx, "SELECT external_id, id FROM external_ids WHERE kind = ? AND external_id IN ?", []any{kind}, toAny(external),
		func(scan scanner) error {
			var of string
			var id int64
			err := scan(&of, &id)
			found[of] = id
			return err
		})
	return found, wrap(err, "find imported things")
}

// present runs a query once for each piece of the keys, which are its last argument.
func (s *Store) present(ctx context.Context, sql string, args, keys []any, each func(scan scanner) error) error {
	for piece := range chunks(keys) {
		if err := query(s.reader(ctx), sql, append(args[:len(args):len(args)], piece), each); err != nil {
			return err
		}
	}
	return nil
}

func toAny[T any](values []T) []any {
	anys := make([]any, len(values))
	for i, v := range values {
		anys[i] = v
	}
	return anys
}

// LookupExternal finds what was imported under an id; false when nothing was.
func (s *Store) LookupExternal(ctx context.Context, kind social.ExternalKind, external string) (int64, bool, error) {
	found, err := s.ExternalIDs(ctx, kind, []string{external})
	if err != nil {
		return 0, false, err
	}
	id, ok := found[external]
	return id, ok, nil
}
