package auth

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

func TestPasswordHash(t *testing.T) {
	p := NewPasswords(PasswordMemory)
	hash, err := p.Hash(t.Context(), password)
	require.NoError(t, err)
	require.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`, hash)
	again, err := p.Hash(t.Context(), password)
	require.NoError(t, err)
	require.NotEqual(t, hash, again, "each has a salt of its own")
	accented, err := p.Hash(t.Context(), "cafe\u0301 cre\u0300me")
	require.NoError(t, err)

	cases := []struct {
		name, hash, password string
		want                 bool
	}{
		{"right", hash, password, true},
		{"wrong", hash, password + " ", false},
		{"other case", hash, strings.ToUpper(password), false},
		{"another keyboard's accents", accented, "café crème", true},
		{"no accents", accented, "cafe creme", false},
		{"no hash", "", password, false},
		{"no hash, and the password of the stand-in", "", "nobody has this password", false},
		// Made by the reference implementation, with other parameters.
		{"other parameters", "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", "password", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ok, err := p.Verify(t.Context(), c.hash, c.password)
			require.NoError(t, err)
			require.Equal(t, c.want, ok)
		})
	}
	for _, malformed := range []string{
		"x", "$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=16$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=19456,t=0,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
		"$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$", "$argon2id$v=19$m=19456,t=2,p=1$!$!",
	} {
		ok, err := p.Verify(t.Context(), malformed, password)
		require.Error(t, err, malformed)
		require.False(t, ok)
	}
}

func TestPasswordsWaitInABoundedQueue(t *testing.T) {
	p := &Passwords{slots: make(chan struct{}, 1)}
	p.slots <- struct{}{} // as if one were being hashed
	p.waiting.Add(1)

	ctx, cancel := context.WithCancel(t.Context())
	var results [waitersPerSlot]error
	done := make(chan struct{})
	for i := range results {
		go func() {
			_, results[i] = p.Hash(ctx, password)
			done <- struct{}{}
		}()
	}
	require.Eventually(t, func() bool { return p.waiting.Load() == waitersPerSlot+1 }, eventually, tick)
	_, err := p.Hash(t.Context(), password)
	requireCode(t, social.CodeUnavailable, err)
	cancel()
	for range results {
		<-done
	}
	for _, err := range results {
		require.ErrorIs(t, err, context.Canceled)
	}

	late, cancel := context.WithTimeout(t.Context(), tick)
	defer cancel()
	_, err = p.Hash(late, password)
	requireCode(t, social.CodeUnavailable, err)

	<-p.slots
	p.waiting.Add(-1)
	_, err = p.Hash(t.Context(), password)
	require.NoError(t, err)
	require.Zero(t, p.waiting.Load())
}
