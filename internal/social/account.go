package social

import "time"

// Identity is who somebody is at an outside identity provider.
type Identity struct {
	Issuer  string
	Subject string
}

// MaxIdentityLength bounds an identity's issuer and its subject, in bytes.
const MaxIdentityLength = 255

// NewAccount is a player who is to be made, with one way to log in: a password or an identity.
type NewAccount struct {
	ID       PlayerID
	Name     string
	NameKey  string
	JoinedAt time.Time
	// Version is the first version of the player and of the player's counters.
	Version int64
	// PasswordHash is empty for a player with an outside identity.
	PasswordHash string
	// Identity is nil for a player with a password.
	Identity *Identity
	// Session is the player's first login, if any.
	Session *NewSession
	// Event tells the outbox of the new player.
	Event Event
}

// TokenHash is the SHA-256 of a refresh token.
type TokenHash [32]byte

// RefreshToken is a refresh token as it is stored.
type RefreshToken struct {
	Hash      TokenHash
	ExpiresAt time.Time
}

// NewSession is a login that is to be noted.
type NewSession struct {
	ID        SessionID
	Player    PlayerID
	ExpiresAt time.Time
	// Refresh is the session's first refresh token; nil for a session that ends with its access token.
	Refresh *RefreshToken
}

// Standing is what decides whether a player may log in, and as what.
type Standing struct {
	Player    PlayerID
	Role      Role
	Suspended bool
}

// RefreshState says what came of a refresh token.
type RefreshState uint8

// The states of a refresh token that was shown.
const (
	// RefreshDone: it was good and is used up now.
	RefreshDone RefreshState = iota + 1
	// RefreshOver: it is unknown or too old, or its session is over.
	RefreshOver
	// RefreshReused: it had been used, so its session was ended.
	RefreshReused
	// RefreshSuspended: its player is suspended; it stays as it was.
	RefreshSuspended
)

// Refreshed is what came of a refresh token. Viewer is set for RefreshDone; for RefreshReused its
// Session is.
type Refreshed struct {
	State  RefreshState
	Viewer Viewer
}

// AccessKind says what an access change is about. The numbers are stored.
type AccessKind uint8

// The kinds of access changes.
const (
	// AccessEnded: the session is over.
	AccessEnded AccessKind = 1
	// AccessRole: the player's role changed.
	AccessRole AccessKind = 2
	// AccessSuspension: the player was suspended, which ended all sessions up to Session, or reinstated.
	AccessSuspension AccessKind = 3
)

// AccessChange is what must be known of access tokens that have not expired yet.
type AccessChange struct {
	ID      int64
	Kind    AccessKind
	Player  PlayerID
	Session SessionID
	// Role and Suspended are, when read, the player's at that moment.
	Role      Role
	Suspended bool
	At        time.Time
}
