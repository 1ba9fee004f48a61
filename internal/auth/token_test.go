package auth

import (
	"encoding/base64"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// newTokens are tokens that know of no changes.
func newTokens(secret []byte, clock *clock) *Tokens {
	return NewTokens(secret, NewChanges(&changeList{}, clock.Now, slog.New(slog.DiscardHandler)), clock.Now)
}

var someone = social.Viewer{Player: 7, Role: social.RoleEditor, Session: 1 << 52}

func TestTokenTellsItsViewerUntilItExpires(t *testing.T) {
	clock := newClock()
	clock.move(999 * time.Millisecond)
	tokens := newTokens(secret, clock)
	token, expires, err := tokens.Issue(someone)
	require.NoError(t, err)
	require.Equal(t, clock.Now().Truncate(time.Second).Add(AccessTokenLife), expires)
	require.Less(t, len(token), 400)
	viewer, err := newTokens(secret, clock).Verify(token)
	require.NoError(t, err)
	require.Equal(t, someone, viewer)
	clock.move(AccessTokenLife - time.Second)
	_, err = tokens.Verify(token)
	require.NoError(t, err)
	clock.move(time.Second)
	_, err = tokens.Verify(token)
	requireCode(t, social.CodeUnauthenticated, err)
}

func TestTokenIsRefused(t *testing.T) {
	clock := newClock()
	tokens := newTokens(secret, clock)
	good, _, err := tokens.Issue(someone)
	require.NoError(t, err)
	foreign, _, err := newTokens([]byte("another secret, of more than 32 bytes"), clock).Issue(someone)
	require.NoError(t, err)
	parts := strings.Split(good, ".")

	// sign signs the claims of a good token after a change.
	sign := func(method jwt.SigningMethod, key any, change func(jwt.MapClaims)) string {
		claims := jwt.MapClaims{}
		_, _, err := jwt.NewParser().ParseUnverified(good, claims)
		require.NoError(t, err)
		if change != nil {
			change(claims)
		}
		token, err := jwt.NewWithClaims(method, claims).SignedString(key)
		require.NoError(t, err)
		return token
	}
	set := func(name string, value any) string {
		return sign(jwt.SigningMethodHS256, tokens.key, func(c jwt.MapClaims) { c[name] = value })
	}
	drop := func(name string) string {
		return sign(jwt.SigningMethodHS256, tokens.key, func(c jwt.MapClaims) { delete(c, name) })
	}
	segment := func(json string) string { return base64.RawURLEncoding.EncodeToString([]byte(json)) }
	_, err = tokens.Verify(sign(jwt.SigningMethodHS256, tokens.key, nil))
	require.NoError(t, err, "an unchanged token must be good, or the cases prove nothing")

	cases := []struct{ name, token string }{
		{"empty", ""},
		{"no token", "nonsense"},
		{"two dots", ".."},
		{"a refresh token", "q1Zr5Z3nHnqlUHqYPpH0gk3mQ0h1nYb5yqf4yqB0a2c"},
		{"foreign key", foreign},
		{"the secret itself as key", sign(jwt.SigningMethodHS256, secret, nil)},
		{"unsigned", parts[0] + "." + parts[1] + "."},
		{"alg none", sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil)},
		{"alg nOnE", segment(`{"alg":"nOnE","typ":"JWT"}`) + "." + parts[1] + "."},
		{"no alg", segment(`{"typ":"JWT"}`) + "." + parts[1] + "." + parts[2]},
		{"another algorithm of the same key", sign(jwt.SigningMethodHS512, tokens.key, nil)},
		{"claims of another token", parts[0] + "." + strings.Split(set("role", "ADMIN"), ".")[1] + "." + parts[2]},
		{"changed signature", good[:len(good)-4] + "AAAA"},
		{"last bits that say nothing", sloppy(good)},
		{"expired", set("exp", clock.Now().Add(-time.Second).Unix())},
		{"no end", drop("exp")},
		{"end that is text", set("exp", "tomorrow")},
		{"not yet", set("nbf", clock.Now().Add(time.Minute).Unix())},
		{"another issuer", set("iss", "circus")},
		{"no issuer", drop("iss")},
		{"another audience", set("aud", "square")},
		{"no audience", drop("aud")},
		{"no subject", drop("sub")},
		{"malformed subject", set("sub", "7")},
		{"subject of another kind", set("sub", social.FeedID(7).String())},
		{"no session", drop("sid")},
		{"session 0", set("sid", "0")},
		{"no role", drop("role")},
		{"unknown role", set("role", "EMPEROR")},
		{"huge", set("padding", strings.Repeat("x", maxTokenLength))},
		{"a megabyte of dots", strings.Repeat(".", 1<<20)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			viewer, err := tokens.Verify(c.token)
			requireCode(t, social.CodeUnauthenticated, err)
			require.Zero(t, viewer)
		})
	}
}

// sloppy changes bits of the last character that decode to nothing: 32 bytes leave two over.
func sloppy(token string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(token) - 1
	return token[:last] + string(digits[strings.IndexByte(digits, token[last])+1])
}

func FuzzVerify(f *testing.F) {
	clock := newClock()
	tokens := newTokens(secret, clock)
	good, _, err := tokens.Issue(someone)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("..")
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := tokens.Verify(token); (err == nil) != (token == good) {
			t.Fatalf("%q: %v", token, err)
		}
	})
}
