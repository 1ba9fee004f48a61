package auth

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

func TestSuspendedPlayersAreRefusedUntilTheyLogInAgain(t *testing.T) {
	each(t, func(t *testing.T, here, there process, clock *clock) {
		ctx := t.Context()
		before, err := here.SignUp(ctx, "player", password)
		require.NoError(t, err)
		moderator := social.Viewer{Player: before.Player + 1000, Role: social.RoleModerator}
		good := func(p process, token string) bool {
			require.NoError(t, p.Changes.RunOnce(ctx))
			_, err := p.Tokens.Verify(token)
			return err == nil
		}
		require.True(t, good(there, before.AccessToken))
		for range 2 {
			require.NoError(t, here.Suspend(ctx, moderator, before.Player))
		}
		_, err = here.Tokens.Verify(before.AccessToken)
		require.Equal(t, social.CodeUnauthenticated, social.CodeOf(err), "at once")
		require.False(t, good(there, before.AccessToken))
		_, err = there.LogIn(ctx, "player", password)
		require.Equal(t, social.CodeSuspended, social.CodeOf(err))
		_, err = there.Refresh(ctx, before.RefreshToken)
		require.Equal(t, social.CodeSessionExpired, social.CodeOf(err))
		// One that was begun while the suspension was written.
		late, _, err := here.Tokens.Issue(social.Viewer{Player: before.Player, Session: social.MaxID})
		require.NoError(t, err)
		require.False(t, good(there, late))

		require.NoError(t, there.Reinstate(ctx, moderator, before.Player))
		require.False(t, good(here, before.AccessToken), "what was ended stays ended")
		after, err := here.LogIn(ctx, "player", password)
		require.NoError(t, err)
		require.True(t, good(here, after.AccessToken))
		require.True(t, good(there, after.AccessToken))
		clock.move(AccessTokenLife + changeOverlap + time.Second)
		require.NoError(t, there.Changes.RunOnce(ctx))
		require.Empty(t, there.Changes.suspensions, "forgotten when no token can ask for it")

		for _, c := range []struct {
			name   string
			viewer social.Viewer
			of     social.PlayerID
			code   social.Code
		}{
			{"nobody", social.Viewer{}, before.Player, social.CodeUnauthenticated},
			{"an editor", social.Viewer{Player: 99, Role: social.RoleEditor}, before.Player, social.CodeForbidden},
			{"oneself", moderator, moderator.Player, social.CodeSelfReference},
			{"an unknown player", moderator, before.Player + 999, social.CodeNotFound},
		} {
			require.Equal(t, c.code, social.CodeOf(here.Suspend(ctx, c.viewer, c.of)), c.name)
		}
		require.NoError(t, here.SetRole(ctx, before.Player, social.RoleModerator))
		require.Equal(t, social.CodeForbidden, social.CodeOf(here.Suspend(ctx, moderator, before.Player)), "of the same role")
		admin := social.Viewer{Player: moderator.Player, Role: social.RoleAdmin}
		require.NoError(t, here.Suspend(ctx, admin, before.Player))
	})
}
