package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"circle/internal/social"
)

// Limits of passwords, in code points.
const (
	MinPasswordLength = 8
	MaxPasswordLength = 128
)

// PasswordMemory is what a hash takes, in KiB: argon2id as OWASP recommends it has 19 MiB, two passes and one
// lane.
const PasswordMemory = 19 * 1024

const (
	argonPasses  = 2
	argonLanes   = 1
	saltLength   = 16
	digestLength = 32
)

// waitersPerSlot bounds the callers that wait for a hash. One takes about 25 ms, so the last of them
// waits about a second.
const waitersPerSlot = 40

// errBusy is the cause of UNAVAILABLE when too many callers wait.
var errBusy = errors.New("too many passwords are waiting to be hashed")

// Passwords hashes passwords with argon2id, at most GOMAXPROCS at once, because each takes a core and
// 19 MiB.
type Passwords struct {
	slots   chan struct{}
	waiting atomic.Int64
	memory  uint32
	dummy   string
}

// NewPasswords makes a hasher whose hashes take so much memory, in KiB; less than PasswordMemory is for tests
// alone.
func NewPasswords(memory uint32) *Passwords {
	p := &Passwords{slots: make(chan struct{}, runtime.GOMAXPROCS(0)), memory: memory}
	p.dummy = hashPassword("nobody has this password", memory)
	return p
}

// CheckPassword holds a new password against the limits. Errors, at field password: REQUIRED, TOO_SHORT,
// TOO_LONG, INVALID.
func CheckPassword(password string) error {
	length := utf8.RuneCountInString(password)
	switch {
	case length == 0:
		return social.Fail(social.CodeRequired, "A password must hold something.", "password")
	case !utf8.ValidString(password):
		return social.Fail(social.CodeInvalid, "A password is text.", "password")
	case length < MinPasswordLength:
		return social.Fail(social.CodeTooShort, "A password has at least 8 characters.", "password")
	case length > MaxPasswordLength:
		return social.Fail(social.CodeTooLong, "A password has at most 128 characters.", "password")
	}
	return nil
}

// Hash makes the hash of a password, in the PHC format. It fails with UNAVAILABLE when too many
// callers wait or the context's deadline passes, and with context.Canceled when that comes first.
func (p *Passwords) Hash(ctx context.Context, password string) (hash string, err error) {
	err = p.limited(ctx, func() { hash = hashPassword(password, p.memory) })
	return hash, err
}

// Verify says whether the password has the hash. An empty hash, for a player who is unknown or has no
// password, takes as long as any other and is false. Errors are those of Hash.
func (p *Passwords) Verify(ctx context.Context, hash, password string) (ok bool, err error) {
	against := hash
	if hash == "" {
		against = p.dummy
	}
	var failed error
	err = p.limited(ctx, func() { ok, failed = verifyPassword(against, password) })
	return ok && hash != "", errors.Join(err, failed)
}

func (p *Passwords) limited(ctx context.Context, fn func()) error {
	defer p.waiting.Add(-1)
	if p.waiting.Add(1) > int64(cap(p.slots)*(1+waitersPerSlot)) {
		return social.Unavailable(errBusy)
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		return social.Unavailable(ctx.Err())
	}
	defer func() { <-p.slots }()
	fn()
	return nil
}

// Passwords are hashed in NFC, because keyboards differ in how they write the same letter.
func digest(password string, salt []byte, passes, memory uint32, lanes uint8, length uint32) []byte {
	return argon2.IDKey([]byte(norm.NFC.String(password)), salt, passes, memory, lanes, length)
}

func hashPassword(password string, memory uint32) string {
	salt := make([]byte, saltLength)
	_, _ = rand.Read(salt) // never fails
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memory, argonPasses, argonLanes,
		base64.RawStdEncoding.EncodeToString(salt),
		base64.RawStdEncoding.EncodeToString(digest(password, salt, argonPasses, memory, argonLanes, digestLength)))
}

var errHash = errors.New("a stored password hash is malformed")

func verifyPassword(hash, password string) (bool, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return false, errHash
	}
	var version int
	var memory, passes uint32
	var lanes uint8
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return false, errHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &lanes); err != nil || passes < 1 || lanes < 1 {
		return false, errHash
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, errHash
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || len(want) < saltLength {
		return false, errHash
	}
	got := digest(password, salt, passes, memory, lanes, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}
