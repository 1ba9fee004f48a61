package auth

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfiguredSecret(t *testing.T) {
	dir := t.TempDir()
	got, err := LoadSecret("0123456789abcdef0123456789abcdef", dir)
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef0123456789abcdef", string(got))
	_, err = LoadSecret("too short", dir)
	require.ErrorContains(t, err, "CIRCLE_JWT_SECRET")
	require.NotContains(t, err.Error(), "too short")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestProcessesThatStartAtOnceAgreeOnASecret(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	secrets := make([][]byte, 20)
	for _, err := range together(len(secrets), func(i int) (err error) {
		secrets[i], err = LoadSecret("", dir)
		return err
	}) {
		require.NoError(t, err)
	}
	require.Len(t, secrets[0], MinSecretLength)
	for _, s := range secrets {
		require.Equal(t, secrets[0], s)
	}
	later, err := LoadSecret("", dir)
	require.NoError(t, err)
	require.Equal(t, secrets[0], later)

	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1)
	info, err := files[0].Info()
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	other, err := LoadSecret("", t.TempDir())
	require.NoError(t, err)
	require.NotEqual(t, secrets[0], other)
}

func TestADamagedSecretIsNotReplaced(t *testing.T) {
	for _, text := range []string{"", "zz", "0123"} {
		dir := t.TempDir()
		path := filepath.Join(dir, secretFile)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := LoadSecret("", dir)
		require.ErrorContains(t, err, "CIRCLE_JWT_SECRET")
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(left))
	}
}

func TestDeriveKey(t *testing.T) {
	key := DeriveKey(secret, "access token")
	require.Len(t, key, 32)
	require.Equal(t, key, DeriveKey(secret, "access token"))
	require.NotEqual(t, key, DeriveKey(secret, "cursor"))
	require.NotEqual(t, key, DeriveKey([]byte("another secret, of more than 32 bytes"), "access token"))
	// The keys must stay what they are, or an update would end all sessions.
	require.Equal(t, "edb7951f6f8872341b98ecdaa96a1232a6dd627da516bd193abc0fa78eeb5d8a", hex.EncodeToString(key))
}
