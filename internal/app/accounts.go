package app

import (
	"cmp"

	"circle/internal/auth"
)

func newAccounts(o Options, b *base, near auth.Near) *auth.Accounts {
	changes := auth.NewChanges(b.store, o.Now, o.Log)
	return &auth.Accounts{
		Store: b.store, Changes: changes, Tokens: auth.NewTokens(b.secret, changes, o.Now),
		Passwords: auth.NewPasswords(cmp.Or(o.PasswordMemory, uint32(auth.PasswordMemory))), IDs: b.ids, Near: near, Now: o.Now, Log: o.Log,
	}
}
