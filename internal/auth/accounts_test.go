package auth

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

func TestSignUpMakesAPlayerWhoIsLoggedIn(t *testing.T) {
	each(t, func(t *testing.T, here, _ process, clock *clock) {
		login, err := here.SignUp(t.Context(), " 阿青 ", password)
		require.NoError(t, err)
		require.Equal(t, social.PlayerID(1), login.Player)
		require.Equal(t, clock.Now().Add(AccessTokenLife), login.ExpiresAt)
		viewer, err := here.Tokens.Verify(login.AccessToken)
		require.NoError(t, err)
		require.Equal(t, login.Player, viewer.Player)
		require.Equal(t, social.RolePlayer, viewer.Role)
		require.Len(t, here.near.events, 1)
		event := here.near.events[0]
		require.Equal(t, social.Event{ID: event.ID, Kind: social.EventPlayer, Actor: 1, Subject: 1, Epoch: 1}, event)
		require.Positive(t, event.ID)

		second, err := here.SignUp(t.Context(), "Bertram", password)
		require.NoError(t, err)
		require.Equal(t, social.PlayerID(2), second.Player, "ids are dense")
	})
}

func TestSignUpRefuses(t *testing.T) {
	each(t, func(t *testing.T, here, _ process, _ *clock) {
		_, err := here.SignUp(t.Context(), "Bertram", password)
		require.NoError(t, err)
		cases := []struct {
			name, player, password string
			want                   social.Code
			field                  string
		}{
			{"taken name", "Bertram", password, social.CodeNameTaken, "name"},
			{"taken in another case", "BERTRAM", password, social.CodeNameTaken, "name"},
			{"taken in another width", "Ｂertram", password, social.CodeNameTaken, "name"},
			{"short name", "b", password, social.CodeTooShort, "name"},
			{"no password", "anna", "", social.CodeRequired, "password"},
			{"short password", "anna", "1234567", social.CodeTooShort, "password"},
			{"long password", "anna", strings.Repeat("x", 129), social.CodeTooLong, "password"},
			{"password that is not text", "anna", "\xff\xff\xff\xff\xff\xff\xff\xff", social.CodeInvalid, "password"},
		}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				_, err := here.SignUp(t.Context(), c.player, c.password)
				requireCode(t, c.want, err, c.field)
			})
		}
		for _, name := range []string{"jose", "José", "👍👍", "🎉🎉"} {
			_, err := here.SignUp(t.Context(), name, strings.Repeat("界", 128))
			require.NoError(t, err, name)
		}
		require.Len(t, here.near.events, 5)
	})
}

func TestOneOfManySignUpsGetsTheName(t *testing.T) {
	each(t, func(t *testing.T, here, there process, _ *clock) {
		names := []string{"Bertram", "BERTRAM", "bertram", "Ｂertram"}
		errs := together(20, func(i int) error {
			p := []process{here, there}[i%2]
			_, err := p.SignUp(t.Context(), names[i%len(names)], password)
			return err
		})
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			requireCode(t, social.CodeNameTaken, err, "name")
		}
		require.Equal(t, 1, won)
		require.Equal(t, 1, len(here.near.events)+len(there.near.events))
	})
}

func TestLogIn(t *testing.T) {
	each(t, func(t *testing.T, here, _ process, _ *clock) {
		signedUp, err := here.SignUp(t.Context(), "José", password)
		require.NoError(t, err)
		login, err := here.LogIn(t.Context(), " JOSE\u0301 ", password)
		require.NoError(t, err)
		require.Equal(t, signedUp.Player, login.Player)
		require.NotEqual(t, signedUp.RefreshToken, login.RefreshToken)

		cases := []struct{ name, player, password string }{
			{"wrong password", "José", "correct horse batterie"},
			{"unknown name", "Joseph", password},
			{"empty", "", ""},
			{"no password", "José", ""},
			{"huge password", "José", strings.Repeat("x", 1<<20)},
			{"huge name", strings.Repeat("x", 1<<20), password},
		}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				_, err := here.LogIn(t.Context(), c.player, c.password)
				require.Equal(t, error(errBadCredentials), err)
			})
		}
		here.Store = suspending{here.Store}
		_, err = here.LogIn(t.Context(), "José", password)
		requireCode(t, social.CodeSuspended, err)
		_, err = here.LogIn(t.Context(), "José", "a wrong password")
		requireCode(t, social.CodeBadCredentials, err)
	})
}

// suspending is a store in which everybody is suspended.
type suspending struct{ Store }

func (s suspending) CredentialsByName(ctx context.Context, key string) (social.Standing, string, error) {
	standing, hash, err := s.Store.CredentialsByName(ctx, key)
	standing.Suspended = true
	return standing, hash, err
}

func (s suspending) Standing(ctx context.Context, player social.PlayerID) (social.Standing, error) {
	standing, err := s.Store.Standing(ctx, player)
	standing.Suspended = true
	return standing, err
}

func TestAnUnknownNameTakesAsLongAsAWrongPassword(t *testing.T) {
	p := NewPasswords(PasswordMemory)
	hash, err := p.Hash(t.Context(), password)
	require.NoError(t, err)
	// The least of several runs is what the work itself takes.
	fastest := func(hash string) time.Duration {
		least := time.Hour
		for range 5 {
			start := time.Now()
			ok, err := p.Verify(t.Context(), hash, "a wrong password")
			least = min(least, time.Since(start))
			require.NoError(t, err)
			require.False(t, ok)
		}
		return least
	}
	known, unknown := fastest(hash), fastest("")
	require.Greater(t, unknown, known/4)
	require.Less(t, unknown, known*4)
}

func TestRefreshTokensRotate(t *testing.T) {
	each(t, func(t *testing.T, here, there process, clock *clock) {
		first, err := here.SignUp(t.Context(), "dora", password)
		require.NoError(t, err)
		clock.move(29 * 24 * time.Hour)
		second, err := there.Refresh(t.Context(), first.RefreshToken)
		require.NoError(t, err)
		require.NotEqual(t, first.RefreshToken, second.RefreshToken)
		viewer, err := here.Tokens.Verify(second.AccessToken)
		require.NoError(t, err)
		require.Equal(t, first.Player, viewer.Player)
		clock.move(29 * 24 * time.Hour)
		third, err := here.Refresh(t.Context(), second.RefreshToken)
		require.NoError(t, err, "a session that is used goes on")
		clock.move(30 * 24 * time.Hour)
		_, err = here.Refresh(t.Context(), third.RefreshToken)
		requireCode(t, social.CodeSessionExpired, err)
		for _, token := range []string{"", "nonsense", third.AccessToken, strings.Repeat("x", 1<<20)} {
			_, err := here.Refresh(t.Context(), token)
			requireCode(t, social.CodeSessionExpired, err)
		}
	})
}

func TestReuseOfARefreshTokenEndsTheSession(t *testing.T) {
	each(t, func(t *testing.T, here, there process, _ *clock) {
		first, err := here.SignUp(t.Context(), "dora", password)
		require.NoError(t, err)
		other, err := here.LogIn(t.Context(), "dora", password)
		require.NoError(t, err)
		second, err := here.Refresh(t.Context(), first.RefreshToken)
		require.NoError(t, err)
		_, err = here.Refresh(t.Context(), first.RefreshToken)
		requireCode(t, social.CodeSessionExpired, err)

		_, err = here.Refresh(t.Context(), second.RefreshToken)
		requireCode(t, social.CodeSessionExpired, err)
		for _, access := range []string{first.AccessToken, second.AccessToken} {
			_, err := here.Tokens.Verify(access)
			requireCode(t, social.CodeUnauthenticated, err)
		}
		require.NoError(t, there.Changes.RunOnce(t.Context()))
		_, err = there.Tokens.Verify(second.AccessToken)
		requireCode(t, social.CodeUnauthenticated, err)

		_, err = there.Tokens.Verify(other.AccessToken)
		require.NoError(t, err, "the player's other session goes on")
		_, err = there.Refresh(t.Context(), other.RefreshToken)
		require.NoError(t, err)
	})
}

func TestOneOfManyCallersGetsTheNewTokens(t *testing.T) {
	each(t, func(t *testing.T, here, there process, _ *clock) {
		login, err := here.SignUp(t.Context(), "dora", password)
		require.NoError(t, err)
		logins := make([]Login, 50)
		errs := together(len(logins), func(i int) (err error) {
			logins[i], err = []process{here, there}[i%2].Refresh(t.Context(), login.RefreshToken)
			return err
		})
		var winners []Login
		for i, err := range errs {
			if err == nil {
				winners = append(winners, logins[i])
				continue
			}
			requireCode(t, social.CodeSessionExpired, err)
		}
		require.Len(t, winners, 1)
		_, err = here.Refresh(t.Context(), winners[0].RefreshToken)
		requireCode(t, social.CodeSessionExpired, err)
		require.NoError(t, here.Changes.RunOnce(t.Context()))
		_, err = here.Tokens.Verify(winners[0].AccessToken)
		requireCode(t, social.CodeUnauthenticated, err)
	})
}

func TestLogOutEndsTheSession(t *testing.T) {
	each(t, func(t *testing.T, here, there process, clock *clock) {
		login, err := here.SignUp(t.Context(), "dora", password)
		require.NoError(t, err)
		viewer, err := there.Tokens.Verify(login.AccessToken)
		require.NoError(t, err)
		require.NoError(t, here.LogOut(t.Context(), viewer))

		_, err = here.Tokens.Verify(login.AccessToken)
		requireCode(t, social.CodeUnauthenticated, err)
		_, err = there.Refresh(t.Context(), login.RefreshToken)
		requireCode(t, social.CodeSessionExpired, err)
		_, err = there.Tokens.Verify(login.AccessToken)
		require.NoError(t, err, "the other process has not read it yet")
		require.NoError(t, there.Changes.RunOnce(t.Context()))
		_, err = there.Tokens.Verify(login.AccessToken)
		requireCode(t, social.CodeUnauthenticated, err)
		require.NoError(t, here.LogOut(t.Context(), viewer), "twice is no fault")

		clock.move(14 * time.Minute)
		late := newProcess(here.Store.(*sqlstore.Store), clock, 3)
		require.NoError(t, late.Changes.RunOnce(t.Context()))
		_, err = late.Tokens.Verify(login.AccessToken)
		requireCode(t, social.CodeUnauthenticated, err)

		requireCode(t, social.CodeUnauthenticated, here.LogOut(t.Context(), social.Viewer{}))
		require.NoError(t, here.LogOut(t.Context(), social.Viewer{Player: login.Player}), "an outside token has no session")
	})
}

func TestSetRoleHoldsForTokensThatAreOut(t *testing.T) {
	each(t, func(t *testing.T, here, there process, _ *clock) {
		login, err := here.SignUp(t.Context(), "dora", password)
		require.NoError(t, err)
		role := func(p process, token string) social.Role {
			viewer, err := p.Tokens.Verify(token)
			require.NoError(t, err)
			return viewer.Role
		}
		require.NoError(t, here.SetRole(t.Context(), login.Player, social.RoleAdmin))
		require.Equal(t, social.RoleAdmin, role(here, login.AccessToken))
		require.Equal(t, social.RolePlayer, role(there, login.AccessToken))
		require.NoError(t, there.Changes.RunOnce(t.Context()))
		require.Equal(t, social.RoleAdmin, role(there, login.AccessToken))

		require.NoError(t, there.SetRole(t.Context(), login.Player, social.RoleEditor))
		require.NoError(t, here.Changes.RunOnce(t.Context()))
		require.Equal(t, social.RoleEditor, role(here, login.AccessToken))
		next, err := there.Refresh(t.Context(), login.RefreshToken)
		require.NoError(t, err)
		require.Equal(t, social.RoleEditor, role(there, next.AccessToken))
		require.NoError(t, there.SetRole(t.Context(), login.Player, social.RoleEditor), "the same role again is no fault")
		requireCode(t, social.CodeNotFound, here.SetRole(t.Context(), 99, social.RoleAdmin))
	})
}

func TestAccessTokenForTheCommandLine(t *testing.T) {
	each(t, func(t *testing.T, here, there process, clock *clock) {
		login, err := here.SignUp(t.Context(), "dora", password)
		require.NoError(t, err)
		require.NoError(t, here.SetRole(t.Context(), login.Player, social.RoleModerator))
		token, expires, err := here.AccessToken(t.Context(), login.Player)
		require.NoError(t, err)
		require.Equal(t, clock.Now().Add(AccessTokenLife), expires)
		viewer, err := there.Tokens.Verify(token)
		require.NoError(t, err)
		require.Equal(t, social.RoleModerator, viewer.Role)
		require.NoError(t, there.LogOut(t.Context(), viewer))
		require.NoError(t, here.Changes.RunOnce(t.Context()))
		_, err = here.Tokens.Verify(token)
		requireCode(t, social.CodeUnauthenticated, err)

		_, _, err = here.AccessToken(t.Context(), 99)
		requireCode(t, social.CodeNotFound, err)
		here.Store = suspending{here.Store}
		_, _, err = here.AccessToken(t.Context(), login.Player)
		requireCode(t, social.CodeSuspended, err)
	})
}

func TestPurgeLeavesWhatCanStillBeAskedFor(t *testing.T) {
	each(t, func(t *testing.T, here, _ process, clock *clock) {
		old, err := here.SignUp(t.Context(), "dora", password)
		require.NoError(t, err)
		viewer, err := here.Tokens.Verify(old.AccessToken)
		require.NoError(t, err)
		require.NoError(t, here.LogOut(t.Context(), viewer))
		clock.move(24 * time.Hour)
		_, err = here.LogIn(t.Context(), "dora", password)
		require.NoError(t, err)
		clock.move(29*24*time.Hour + time.Minute)
		require.NoError(t, here.Purge(t.Context()))

		left, err := here.Store.PurgeSessions(t.Context(), clock.Now().Add(100*24*time.Hour), 100)
		require.NoError(t, err)
		require.Equal(t, 2, left, "the young session and its token")
		left, err = here.Store.PurgeAccessChanges(t.Context(), clock.Now(), 100)
		require.NoError(t, err)
		require.Zero(t, left)
	})
}

func TestAFailingStoreIsNotBadCredentials(t *testing.T) {
	here, _ := alone(t)
	here.Store = failing{here.Store}
	_, err := here.LogIn(t.Context(), "dora", password)
	requireCode(t, social.CodeUnavailable, err)
	_, err = here.Refresh(t.Context(), "a token")
	requireCode(t, social.CodeUnavailable, err)
}

// failing is a store that can't be reached.
type failing struct{ Store }

var errAway = social.Unavailable(errors.New("the store is away"))

func (failing) CredentialsByName(context.Context, string) (social.Standing, string, error) {
	return social.Standing{}, "", errAway
}

func (failing) RotateRefresh(context.Context, social.TokenHash, social.RefreshToken, social.AccessChange) (social.Refreshed, error) {
	return social.Refreshed{}, errAway
}

func (failing) PlayerByIdentity(context.Context, social.Identity) (social.PlayerID, error) {
	return 0, errAway
}
