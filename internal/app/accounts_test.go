package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPasswordsAreSafeUnlessATestSaysOtherwise(t *testing.T) {
	for memory, want := range map[uint32]string{0: "m=19456,", 64: "m=64,"} {
		accounts := newAccounts(Options{PasswordMemory: memory}, &base{}, nil)
		hash, err := accounts.Passwords.Hash(t.Context(), "correct horse battery")
		require.NoError(t, err)
		require.Contains(t, hash, want)
	}
}
