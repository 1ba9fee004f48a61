package auth

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

func TestAuthenticate(t *testing.T) {
	here, clock := alone(t)
	p := newIdentityProvider(t)
	a := &Authenticator{Tokens: here.Tokens, Provider: p.verifier(t, here.Accounts)}
	login, err := here.SignUp(t.Context(), "dora", password)
	require.NoError(t, err)
	own, outside := login.AccessToken, p.good(t, clock, "u-1", "Anna")
	cases := []struct {
		name, header string
		want         social.PlayerID // 0: refused
	}{
		{"own token", "Bearer " + own, 1},
		{"scheme in another case", "bearer " + own, 1},
		{"white space", "Bearer   " + own + " ", 1},
		{"outside token", "Bearer " + outside, 2},
		{"token alone", own, 0},
		{"scheme alone", "Bearer", 0},
		{"scheme and white space", "Bearer  ", 0},
		{"another scheme", "Basic " + own, 0},
		{"white space alone", " ", 0},
		{"two tokens", "Bearer " + own + " " + own, 0},
		{"a list", "Bearer " + own + ",Bearer " + own, 0},
		{"refresh token", "Bearer " + login.RefreshToken, 0},
		{"changed token", "Bearer x" + own, 0},
		{"huge", "Bearer " + strings.Repeat("x", 1<<20), 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			viewer, err := a.Authenticate(t.Context(), c.header)
			require.Equal(t, c.want, viewer.Player)
			if c.want == 0 {
				requireCode(t, social.CodeUnauthenticated, err)
			} else {
				require.NoError(t, err)
			}
		})
	}
	viewer, err := a.Authenticate(t.Context(), "")
	require.NoError(t, err)
	require.True(t, viewer.Anonymous())

	without := &Authenticator{Tokens: here.Tokens}
	_, err = without.Authenticate(t.Context(), "Bearer "+outside)
	requireCode(t, social.CodeUnauthenticated, err)

	here.Store = failing{here.Store}
	_, err = a.Authenticate(t.Context(), "Bearer "+p.good(t, clock, "u-2", "Bert"))
	requireCode(t, social.CodeUnavailable, err)
	_, err = a.Authenticate(t.Context(), "Bearer "+own)
	require.NoError(t, err, "own tokens need no store")
}
