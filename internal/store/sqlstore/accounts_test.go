package sqlstore

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/testkit/freshdb"
)

var accountsNow = time.Date(2026, 11, 30, 16, 0, 0, 123_456_789, time.UTC)

func eachAccounts(t *testing.T, fn func(t *testing.T, s *Store)) {
	freshdb.Each(t, func(t *testing.T, url string) {
		s, err := Open(t.Context(), Config{URL: url, Owner: 1, Now: func() time.Time { return accountsNow }})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		require.NoError(t, s.Migrate(t.Context()))
		fn(t, s)
	})
}

// account is a new player with a session and a token, all of whose ids are made of one number.
func account(n int64) social.NewAccount {
	id := social.PlayerID(n)
	return social.NewAccount{
		ID: id, Name: fmt.Sprintf("Name%d", n), NameKey: fmt.Sprintf("name%d", n), JoinedAt: accountsNow, Version: 1000 + n,
		PasswordHash: "hash",
		Session:      &social.NewSession{ID: social.SessionID(n), Player: id, ExpiresAt: in(30), Refresh: token(byte(n), 30)},
		Event:        social.Event{ID: social.EventID(n), Kind: social.EventPlayer, Actor: id, Subject: n, Epoch: 1},
	}
}

func in(days int) time.Time { return accountsNow.Add(time.Duration(days) * 24 * time.Hour) }

func token(n byte, days int) *social.RefreshToken {
	return &social.RefreshToken{Hash: hash(n), ExpiresAt: in(days)}
}

func hash(n byte) social.TokenHash { return social.TokenHash{31: n} }

func end(id int64) social.AccessChange {
	return social.AccessChange{ID: id, Kind: social.AccessEnded, At: accountsNow}
}

// count counts the rows of a table.
func count(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	require.NoError(t, s.reader(t.Context()).Raw("SELECT COUNT(*) FROM "+table).Scan(&n).Error)
	return n
}

func create(t *testing.T, s *Store, a social.NewAccount) {
	t.Helper()
	player, err := s.CreateAccount(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, a.ID, player)
}

func suspend(t *testing.T, s *Store, player social.PlayerID) {
	t.Helper()
	require.NoError(t, s.writer(t.Context()).Exec("UPDATE players SET suspended = 1 WHERE id = ?", player).Error)
}

func TestPlayerIDsAreDense(t *testing.T) {
	eachAccounts(t, func(t *testing.T, s *Store) {
		var mu sync.Mutex
		drawn := map[social.PlayerID]bool{}
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				id, err := s.NextPlayerID(t.Context())
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					drawn[id] = true
				}
			})
		}
		all.Wait()
		require.Len(t, drawn, 50)
		require.True(t, drawn[1])
		require.True(t, drawn[50])
	})
}

func TestCreateAccount(t *testing.T) {
	eachAccounts(t, func(t *testing.T, s *Store) {
		create(t, s, account(1))
		var row struct {
			Name, NameKey, Bio string
			Level, Role        int
			Suspended          bool
			AvatarURL, GuildID *string
			JoinedAt           time.Time
			Version            int64
		}
		require.NoError(t, s.reader(t.Context()).Raw("SELECT * FROM players WHERE id = 1").Scan(&row).Error)
		require.Equal(t, "Name1", row.Name)
		require.Equal(t, "name1", row.NameKey)
		require.Equal(t, 1, row.Level)
		require.Empty(t, row.Bio)
		require.Nil(t, row.AvatarURL)
		require.Nil(t, row.GuildID)
		require.Zero(t, row.Role)
		require.False(t, row.Suspended)
		require.Equal(t, accountsNow.Truncate(time.Millisecond), row.JoinedAt.UTC())
		require.Equal(t, int64(1001), row.Version)

		player, err := s.PlayerByNameKey(t.Context(), "name1")
		require.NoError(t, err)
		require.Equal(t, social.PlayerID(1), player)
		standing, hash, err := s.CredentialsByName(t.Context(), "name1")
		require.NoError(t, err)
		require.Equal(t, social.Standing{Player: 1}, standing)
		require.Equal(t, "hash", hash)
		standing, hash, err = s.CredentialsByName(t.Context(), "nobody")
		require.NoError(t, err)
		require.Zero(t, standing)
		require.Empty(t, hash)
		for _, table := range []string{"player_counts", "sessions", "refresh_tokens", "outbox"} {
			require.Equal(t, 1, count(t, s, table), table)
		}
	})
}

func TestATakenNameLeavesNothingBehind(t *testing.T) {
	eachAccounts(t, func(t *testing.T, s *Store) {
		create(t, s, account(1))
		second := account(2)
		second.NameKey, second.Identity = "name1", &social.Identity{Issuer: "i", Subject: "s"}
		_, err := s.CreateAccount(t.Context(), second)
		require.Equal(t, social.CodeNameTaken, social.CodeOf(err))
		third := account(3)
		third.Event.ID = 1
		_, err = s.CreateAccount(t.Context(), third)
		require.ErrorIs(t, err, social.ErrIDTaken)
		fourth := account(4)
		fourth.ID = 1
		_, err = s.CreateAccount(t.Context(), fourth)
		require.ErrorIs(t, err, social.ErrIDTaken)
		for _, table := range []string{"players", "player_counts", "credentials", "sessions", "refresh_tokens", "outbox"} {
			require.Equal(t, 1, count(t, s, table), table)
		}
		require.Zero(t, count(t, s, "identities"))
	})
}

func TestAnIdentityHasOnePlayer(t *testing.T) {
	eachAccounts(t, func(t *testing.T, s *Store) {
		identity := social.Identity{Issuer: "https://id.example", Subject: "界"}
		first, second := account(1), account(2)
		first.Identity, first.PasswordHash, first.Session = &identity, "", nil
		second.Identity = &identity
		create(t, s, first)
		player, err := s.CreateAccount(t.Context(), second)
		require.NoError(t, err)
		require.Equal(t, first.ID, player)
		player, err = s.PlayerByIdentity(t.Context(), identity)
		require.NoError(t, err)
		require.Equal(t, first.ID, player)
		player, err = s.PlayerByIdentity(t.Context(), social.Identity{Issuer: identity.Issuer, Subject: "other"})
		require.NoError(t, err)
		require.Zero(t, player)
		_, hash, err := s.CredentialsByName(t.Context(), "name1")
		require.NoError(t, err)
		require.Empty(t, hash)
		require.Equal(t, 1, count(t, s, "players"))
		require.Zero(t, count(t, s, "sessions"))
	})
}

func TestRotateRefresh(t *testing.T) {
	eachAccounts(t, func(t *testing.T, s *Store) {
		for n := range int64(4) {
			create(t, s, account(n+1))
		}
		suspend(t, s, 2)
		ended := end(100)
		ended.Session, ended.Player = 3, 3
		require.NoError(t, s.EndSession(t.Context(), ended))
		old := account(5)
		old.Session.Refresh.ExpiresAt = accountsNow
		create(t, s, old)

		rotate := func(used, next byte) social.Refreshed {
			done, err := s.RotateRefresh(t.Context(), hash(used), *token(next, 60), end(100+int64(next)))
			require.NoError(t, err)
			return done
		}
		over := social.Refreshed{State: social.RefreshOver}
		done := social.Refreshed{State: social.RefreshDone, Viewer: social.Viewer{Player: 1, Session: 1}}
		require.Equal(t, over, rotate(99, 10), "unknown")
		require.Equal(t, over, rotate(3, 11), "the session is over")
		require.Equal(t, over, rotate(5, 12), "too old")
		require.Equal(t, social.RefreshSuspended, rotate(2, 13).State)
		require.Equal(t, social.RefreshSuspended, rotate(2, 14).State, "it was not used up")
		require.Equal(t, done, rotate(1, 15))
		require.Equal(t, done, rotate(15, 16))
		reused := social.Refreshed{State: social.RefreshReused, Viewer: social.Viewer{Session: 1}}
		require.Equal(t, reused, rotate(1, 17))
		require.Equal(t, over, rotate(1, 18))
		require.Equal(t, over, rotate(16, 19), "the newest token went with the session")
		require.Equal(t, social.RefreshDone, rotate(4, 20).State, "other sessions go on")

		changes, err := s.AccessChanges(t.Context(), accountsNow.Add(-time.Minute), nil, 10)
		require.NoError(t, err)
		require.Len(t, changes, 2)
		require.Equal(t, social.AccessChange{
			ID: 117, Kind: social.AccessEnded, Player: 1, Session: 1, At: changes[1].At,
		}, changes[1])
		require.Equal(t, accountsNow.UnixMilli(), changes[1].At.UnixMilli())
	})
}

func TestAccessChangesComeInPages(t *testing.T) {
	eachAccounts(t, func(t *testing.T, s *Store) {
		create(t, s, account(1))
		for i, at := range []time.Duration{0, time.Second, time.Second, time.Second, 2 * time.Second} {
			change := social.AccessChange{ID: 50 - int64(i), Kind: social.AccessRole, Player: 1, Role: social.Role(i % 3), At: accountsNow.Add(at)}
			found, err := s.SetRole(t.Context(), change)
			require.NoError(t, err)
			require.True(t, found)
		}
		var ids []int64
		var after *social.AccessChange
		for {
			page, err := s.AccessChanges(t.Context(), accountsNow.Add(time.Second), after, 2)
			require.NoError(t, err)
			for _, c := range page {
				ids = append(ids, c.ID)
				require.Equal(t, social.RoleEditor, c.Role, "what the role is now, not what it was")
			}
			if len(page) < 2 {
				break
			}
			after = &page[1]
		}
		require.Equal(t, []int64{47, 48, 49, 46}, ids)

		found, err := s.SetRole(t.Context(), social.AccessChange{ID: 60, Kind: social.AccessRole, Player: 9, At: accountsNow})
		require.NoError(t, err)
		require.False(t, found)
		require.Equal(t, 5, count(t, s, "access_changes"))
		for _, want := range []int{3, 1, 0} {
			n, err := s.PurgeAccessChanges(t.Context(), accountsNow.Add(2*time.Second), 3)
			require.NoError(t, err)
			require.Equal(t, want, n)
		}
		require.Equal(t, 1, count(t, s, "access_changes"))
	})
}

func TestPurgeSessionsIsBounded(t *testing.T) {
	eachAccounts(t, func(t *testing.T, s *Store) {
		for n := range int64(5) {
			a := account(n + 1)
			a.Session.ExpiresAt, a.Session.Refresh.ExpiresAt = in(int(n)), in(int(n))
			create(t, s, a)
		}
		for _, want := range []int{4, 2, 0} {
			n, err := s.PurgeSessions(t.Context(), in(3), 2)
			require.NoError(t, err)
			require.Equal(t, want, n)
		}
		require.Equal(t, 2, count(t, s, "sessions"))
		require.Equal(t, 2, count(t, s, "refresh_tokens"))
	})
}
