package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"circle/internal/social"
)

// NextPlayerID hands out the next dense id, for good.
func (s *Store) NextPlayerID(ctx context.Context) (id social.PlayerID, err error) {
	err = s.InTx(ctx, func(tx *Tx) error {
		// The update locks the row, so that the read sees what it wrote.
		if err := tx.with(ctx).Exec("UPDATE sequences SET next = next + 1 WHERE name = 'player'").Error; err != nil {
			return err
		}
		return query(tx.with(ctx), "SELECT next - 1 FROM sequences WHERE name = 'player'", nil, func(scan scanner) error { return scan(&id) })
	})
	if err == nil && id == 0 {
		err = errors.New("there is no sequence of players")
	}
	return id, wrap(err, "draw a player's id")
}

// errIdentityKnown rolls back an account whose identity has a player.
var errIdentityKnown = errors.New("the identity has a player")

// CreateAccount makes the player, and whatever else the account holds, all or nothing, and returns who
// has the account's identity: another player when it was there already, so that nothing was made. A
// name that is taken is NAME_TAKEN.
func (s *Store) CreateAccount(ctx context.Context, a social.NewAccount) (player social.PlayerID, err error) {
	err = s.InTx(ctx, func(tx *Tx) error {
		player = a.ID
		if a.Identity != nil {
			// First, so that whoever comes at the same time waits here.
			if player, err = tx.claimIdentity(ctx, *a.Identity, a.ID); err != nil {
				return err
			}
			if player != a.ID {
				return errIdentityKnown
			}
		}
		return tx.insertAccount(ctx, a)
	})
	switch {
	case errors.Is(err, errIdentityKnown):
		return player, nil
	case err != nil:
		return 0, wrap(err, "create an account")
	}
	return player, nil
}

// claimIdentity gives the identity to the player unless it has one, and returns whose it is.
func (tx *Tx) claimIdentity(ctx context.Context, identity social.Identity, player social.PlayerID) (owner social.PlayerID, err error) {
	insert := tx.with(ctx).Exec("INSERT INTO identities (issuer, subject, player_id) VALUES (?, ?, ?)"+tx.store.dialect.onDuplicate("player_id"),
		identity.Issuer, identity.Subject, player)
	if insert.Error != nil {
		return 0, insert.Error
	}
	err = query(tx.with(ctx), identityQuery, []any{identity.Issuer, identity.Subject}, func(scan scanner) error { return scan(&owner) })
	return owner, err
}

func (tx *Tx) insertAccount(ctx context.Context, a social.NewAccount) error {
	if err := tx.insertPlayer(ctx, a); err != nil {
		return err
	}
	err := tx.with(ctx).Exec("INSERT INTO player_counts (player_id, feeds, fans, following, friends, version) VALUES (?, 0, 0, 0, 0, ?)",
		a.ID, a.Version).Error
	if err != nil {
		return err
	}
	if a.PasswordHash != "" {
		err := tx.with(ctx).Exec("INSERT INTO credentials (player_id, password_hash) VALUES (?, ?)", a.ID, a.PasswordHash).Error
		if err != nil {
			return err
		}
	}
	if a.Session != nil {
		if err := tx.insertSession(ctx, *a.Session); err != nil {
			return err
		}
	}
	return tx.Append(ctx, a.Event)
}

func (tx *Tx) insertPlayer(ctx context.Context, a social.NewAccount) error {
	err := tx.with(ctx).Exec("INSERT INTO players (id, name, name_key, level, bio, role, suspended, joined_at, version)"+
		" VALUES (?, ?, ?, 1, '', ?, 0, ?, ?)", a.ID, a.Name, a.NameKey, social.RolePlayer, milliseconds(&a.JoinedAt), a.Version).Error
	if !isDuplicate(err) {
		return err
	}
	var holder social.PlayerID
	found := query(tx.with(ctx), "SELECT id FROM players WHERE name_key = ?", []any{a.NameKey}, func(scan scanner) error { return scan(&holder) })
	if found != nil {
		return found
	}
	if holder == 0 {
		return fmt.Errorf("%w: %w", social.ErrIDTaken, err)
	}
	return social.Fail(social.CodeNameTaken, "Somebody has this name.", "name")
}

const identityQuery = "SELECT player_id FROM identities WHERE issuer = ? AND subject = ?"

// PlayerByIdentity finds the player of an outside identity; 0 when there is none.
func (s *Store) PlayerByIdentity(ctx context.Context, identity social.Identity) (player social.PlayerID, err error) {
	err = query(s.reader(ctx), identityQuery, []any{identity.Issuer, identity.Subject}, func(scan scanner) error { return scan(&player) })
	return player, wrap(err, "find a player by identity")
}

// CredentialsByName finds a player by name key, with an empty hash if there is no password; nobody is
// the zero Standing.
func (s *Store) CredentialsByName(ctx context.Context, key string) (standing social.Standing, hash string, err error) {
	err = query(s.reader(ctx), "SELECT p.id, p.role, p.suspended, COALESCE(c.password_hash, '') FROM players p"+
		" LEFT JOIN credentials c ON c.player_id = p.id WHERE p.name_key = ?", []any{key}, func(scan scanner) error {
		return scan(&standing.Player, &standing.Role, &standing.Suspended, &hash)
	})
	return standing, hash, wrap(err, "read credentials")
}

// Standing reads a player's standing; nobody is the zero Standing.
func (s *Store) Standing(ctx context.Context, player social.PlayerID) (social.Standing, error) {
	standing, err := readStanding(s.reader(ctx), player)
	return standing, wrap(err, "read a player's standing")
}

func readStanding(db *gorm.DB, player social.PlayerID) (standing social.Standing, err error) {
	err = query(db, "SELECT id, role, suspended FROM players WHERE id = ?", []any{player}, func(scan scanner) error {
		return scan(&standing.Player, &standing.Role, &standing.Suspended)
	})
	return standing, err
}

// SetRole writes a player's role and the change; false when there is no such player.
func (s *Store) SetRole(ctx context.Context, role social.AccessChange) (found bool, err error) {
	err = s.InTx(ctx, func(tx *Tx) error {
		var ids []social.PlayerID
		lock := clause.Locking{Strength: "UPDATE"}
		err := tx.with(ctx).Table("players").Clauses(lock).Where("id = ?", role.Player).Pluck("id", &ids).Error
		found = len(ids) > 0
		if err != nil || !found {
			return err
		}
		if err := tx.with(ctx).Exec("UPDATE players SET role = ? WHERE id = ?", role.Role, role.Player).Error; err != nil {
			return err
		}
		return tx.insertAccessChange(ctx, role)
	})
	return found, wrap(err, "set a role")
}

// SetSuspended writes whether a player is suspended, unless that is so already, ends the player's sessions where he
// is, and writes the change. Found is false when there is no such player, forbidden true when his role is not below
// the given one.
func (s *Store) SetSuspended(ctx context.Context, change social.AccessChange, below social.Role) (found, forbidden bool, err error) {
	err = s.InTx(ctx, func(tx *Tx) error {
		lock := clause.Locking{Strength: "UPDATE"}
		var rows []struct {
			Role      social.Role
			Suspended bool
		}
		err := tx.with(ctx).Table("players").Clauses(lock).Select("role", "suspended").Where("id = ?", change.Player).Find(&rows).Error
		found, forbidden = len(rows) > 0, len(rows) > 0 && rows[0].Role >= below
		if err != nil || !found || forbidden || rows[0].Suspended == change.Suspended {
			return err
		}
		if err := tx.with(ctx).Exec("UPDATE players SET suspended = ? WHERE id = ?", change.Suspended, change.Player).Error; err != nil {
			return err
		}
		if change.Suspended {
			const end = "UPDATE sessions SET ended_at = ? WHERE player_id = ? AND ended_at IS NULL"
			if err := tx.with(ctx).Exec(end, milliseconds(&change.At), change.Player).Error; err != nil {
				return err
			}
		}
		return tx.insertAccessChange(ctx, change)
	})
	return found, forbidden, wrap(err, "suspend a player")
}

func (tx *Tx) insertAccessChange(ctx context.Context, c social.AccessChange) error {
	return tx.with(ctx).Exec("INSERT INTO access_changes (id, kind, player_id, session_id, role, at_ms) VALUES (?, ?, ?, ?, ?, ?)",
		c.ID, c.Kind, c.Player, c.Session, c.Role, c.At.UnixMilli()).Error
}

// AccessChanges reads at most limit changes at or after from, in the order of time and id, behind the
// change after unless that is nil.
func (s *Store) AccessChanges(ctx context.Context, from time.Time, after *social.AccessChange, limit int) (changes []social.AccessChange, err error) {
	place := social.AccessChange{ID: -1, At: from}
	if after != nil {
		place = *after
	}
	at := place.At.UnixMilli()
	err = query(s.reader(ctx), "SELECT c.id, c.kind, c.player_id, c.session_id, COALESCE(p.role, c.role), COALESCE(p.suspended, 0), c.at_ms FROM access_changes c"+
		" LEFT JOIN players p ON p.id = c.player_id"+
		" WHERE c.at_ms >= ? AND (c.at_ms > ? OR c.id > ?) ORDER BY c.at_ms, c.id LIMIT ?",
		[]any{at, at, place.ID, limit}, func(scan scanner) error {
			var c social.AccessChange
			var ms int64
			err := scan(&c.ID, &c.Kind, &c.Player, &c.Session, &c.Role, &c.Suspended, &ms)
			c.At = time.UnixMilli(ms)
			changes = append(changes, c)
			return err
		})
	return changes, wrap(err, "read access changes")
}

// PurgeAccessChanges removes at most limit changes from before the given time and says how many.
func (s *Store) PurgeAccessChanges(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.purge(ctx, "access_changes", "id", "at_ms", before.UnixMilli(), limit)
}
