// Package auth turns names, passwords and tokens into viewers and back: accounts and their
// sessions, access tokens, and tokens of an outside identity provider. Checking an access token
// costs no trip to a store.
package auth
