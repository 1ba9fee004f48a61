package sqlstore

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"circle/internal/social"
)

// CreateSession notes a login.
func (s *Store) CreateSession(ctx context.Context, session social.NewSession) error {
	err := s.InTx(ctx, func(tx *Tx) error { return tx.insertSession(ctx, session) })
	return wrap(err, "create a session")
}

func (tx *Tx) insertSession(ctx context.Context, n social.NewSession) error {
	row := sessionRow{ID: n.ID, PlayerID: n.Player, ExpiresAt: milliseconds(&n.ExpiresAt)}
	if err := tx.with(ctx).Create(&row).Error; err != nil || n.Refresh == nil {
		return err
	}
	return tx.insertRefresh(ctx, n.ID, *n.Refresh)
}

func (tx *Tx) insertRefresh(ctx context.Context, session social.SessionID, t social.RefreshToken) error {
	return tx.with(ctx).Create(&refreshTokenRow{Hash: t.Hash[:], SessionID: session, ExpiresAt: milliseconds(&t.ExpiresAt)}).Error
}

// RotateRefresh uses up the token with the hash and adds next to its session, whose end moves to that
// of next. Of several callers with one token one is RefreshDone, the next one RefreshReused: that ends
// the session and writes end, with the session and its player filled in. All others are RefreshOver.
func (s *Store) RotateRefresh(ctx context.Context, used social.TokenHash, next social.RefreshToken, end social.AccessChange) (done social.Refreshed, err error) {
	err = s.InTx(ctx, func(tx *Tx) error {
		done = social.Refreshed{State: social.RefreshOver}
		now := tx.store.now()
		token, session, err := tx.lockRefresh(ctx, used)
		if err != nil || session == nil || session.EndedAt != nil || !token.ExpiresAt.After(now) {
			return err
		}
		if token.UsedAt != nil {
			end.Session, end.Player = session.ID, session.PlayerID
			done = social.Refreshed{State: social.RefreshReused, Viewer: social.Viewer{Session: session.ID}}
			return tx.endSession(ctx, end)
		}
		standing, err := readStanding(tx.with(ctx), session.PlayerID)
		if err != nil || standing.Player == 0 {
			return err
		}
		if standing.Suspended {
			done.State = social.RefreshSuspended
			return nil
		}
		done = social.Refreshed{
			State:  social.RefreshDone,
			Viewer: social.Viewer{Player: standing.Player, Role: standing.Role, Session: session.ID},
		}
		return tx.rotate(ctx, token, next, now)
	})
	return done, wrap(err, "refresh a session")
}

// lockRefresh reads a token and its session under locks, in that order; the session is nil when there
// is no such token.
func (tx *Tx) lockRefresh(ctx context.Context, hash social.TokenHash) (token refreshTokenRow, session *sessionRow, err error) {
	var tokens []refreshTokenRow
	lock := clause.Locking{Strength: "UPDATE"}
	if err := tx.with(ctx).Clauses(lock).Where("hash = ?", hash[:]).Find(&tokens).Error; err != nil || len(tokens) == 0 {
		return token, nil, err
	}
	var sessions []sessionRow
	if err := tx.with(ctx).Clauses(lock).Where("id = ?", tokens[0].SessionID).Find(&sessions).Error; err != nil || len(sessions) == 0 {
		return token, nil, err
	}
	return tokens[0], &sessions[0], nil
}

func (tx *Tx) rotate(ctx context.Context, token refreshTokenRow, next social.RefreshToken, now time.Time) error {
	if err := tx.with(ctx).Exec("UPDATE refresh_tokens SET used_at = ? WHERE hash = ?", milliseconds(&now), token.Hash).Error; err != nil {
		return err
	}
	if err := tx.insertRefresh(ctx, token.SessionID, next); err != nil {
		return err
	}
	return tx.with(ctx).Exec("UPDATE sessions SET expires_at = ? WHERE id = ?", milliseconds(&next.ExpiresAt), token.SessionID).Error
}

// EndSession ends the session and writes the change, unless the session is over already.
func (s *Store) EndSession(ctx context.Context, end social.AccessChange) error {
	err := s.InTx(ctx, func(tx *Tx) error { return tx.endSession(ctx, end) })
	return wrap(err, "end a session")
}

func (tx *Tx) endSession(ctx context.Context, end social.AccessChange) error {
	ended := tx.with(ctx).Exec("UPDATE sessions SET ended_at = ? WHERE id = ? AND ended_at IS NULL", milliseconds(&end.At), end.Session)
	if ended.Error != nil || ended.RowsAffected == 0 {
		return ended.Error
	}
	return tx.insertAccessChange(ctx, end)
}

// PurgeSessions removes at most limit refresh tokens and at most limit sessions that expired before the
// given time, and says how many rows that were.
func (s *Store) PurgeSessions(ctx context.Context, before time.Time, limit int) (int, error) {
	tokens, err := s.purge(ctx, "refresh_tokens", "hash", "expires_at", milliseconds(&before), limit)
	if err != nil {
		return 0, err
	}
	sessions, err := s.purge(ctx, "sessions", "id", "expires_at", milliseconds(&before), limit)
	return tokens + sessions, err
}

// purge removes at most limit rows of a table whose column is less than before. It reads keys first and
// removes by key, because a range would lock what lies between.
func (s *Store) purge(ctx context.Context, table, key, column string, before any, limit int) (int, error) {
	var keys []any
	err := query(s.reader(ctx), fmt.Sprintf("SELECT %s FROM %s WHERE %s < ? ORDER BY %s LIMIT ?", key, table, column, column),
		[]any{before, limit}, func(scan scanner) error {
			var k any
			err := scan(&k)
			keys = append(keys, k)
			return err
		})
	if err != nil || len(keys) == 0 {
		return 0, wrap(err, "purge "+table)
	}
	done := s.writer(ctx).Exec(fmt.Sprintf("DELETE FROM %s WHERE %s IN ? AND %s < ?", table, key, column), keys, before)
	return int(done.RowsAffected), wrap(done.Error, "purge "+table)
}
