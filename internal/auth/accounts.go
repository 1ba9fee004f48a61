package auth

import (
	"context"
	"log/slog"
	"time"
	"unicode/utf8"

	"circle/internal/social"
	"circle/internal/text"
)

// Store keeps accounts and sessions. Each call is a transaction of its own on the primary.
type Store interface {
	// NextPlayerID hands out the next dense id, for good.
	NextPlayerID(ctx context.Context) (social.PlayerID, error)
	// CreateAccount makes the player, and whatever else the account holds, all or nothing, and returns
	// who has the account's identity: another player when it was there already, so that nothing was
	// made. A name that is taken is NAME_TAKEN.
	CreateAccount(ctx context.Context, account social.NewAccount) (social.PlayerID, error)
	// CredentialsByName finds a player by name key, with an empty hash if there is no password; nobody
	// is the zero Standing.
	CredentialsByName(ctx context.Context, key string) (social.Standing, string, error)
	// PlayerByIdentity finds the player of an outside identity; 0 when there is none.
	PlayerByIdentity(ctx context.Context, identity social.Identity) (social.PlayerID, error)
	// Standing reads a player's standing; nobody is the zero Standing.
	Standing(ctx context.Context, player social.PlayerID) (social.Standing, error)
	// SetRole writes a player's role and the change; false when there is no such player.
	SetRole(ctx context.Context, role social.AccessChange) (bool, error)
	// SetSuspended writes whether a player is suspended, unless that is so already, ends the player's sessions
	// where he is, and writes the change; found is false when there is no such player, forbidden true when his
	// role is not below the given one.
	SetSuspended(ctx context.Context, change social.AccessChange, below social.Role) (found, forbidden bool, err error)
	// CreateSession notes a login.
	CreateSession(ctx context.Context, session social.NewSession) error
	// RotateRefresh uses up the token with the hash and adds next to its session, whose end moves to
	// that of next. Of several callers with one token, one is RefreshDone and all others are
	// RefreshReused. That ends the session and writes end, whose session and player it fills in.
	RotateRefresh(ctx context.Context, used social.TokenHash, next social.RefreshToken, end social.AccessChange) (social.Refreshed, error)
	// EndSession ends the session and writes the change, unless the session is over already.
	EndSession(ctx context.Context, end social.AccessChange) error
	// PurgeSessions removes at most limit refresh tokens and at most limit sessions that expired
	// before the given time, and says how many rows that were.
	PurgeSessions(ctx context.Context, before time.Time, limit int) (int, error)
	// PurgeAccessChanges removes at most limit changes from before the given time and says how many.
	PurgeAccessChanges(ctx context.Context, before time.Time, limit int) (int, error)
}

// IDs makes identifiers.
type IDs interface {
	Next(ctx context.Context) (int64, error)
}

// Near runs the near stages of events right after their transaction has committed.
type Near interface {
	RunInline(ctx context.Context, events []social.Event)
}

// Accounts makes players and begins, renews and ends their sessions. All fields must be set.
type Accounts struct {
	Store     Store
	Tokens    *Tokens
	Changes   *Changes
	Passwords *Passwords
	IDs       IDs
	Near      Near
	Now       func() time.Time
	Log       *slog.Logger
}

// Login is a session as its player gets it.
type Login struct {
	AccessToken  string
	RefreshToken string
	// ExpiresAt is the end of the access token.
	ExpiresAt time.Time
	Player    social.PlayerID
}

// SignUp makes a player and a session. Errors at field name: those of text.Name, NAME_TAKEN; at field
// password: those of CheckPassword; UNAVAILABLE.
func (a *Accounts) SignUp(ctx context.Context, name, password string) (Login, error) {
	name, key, err := text.Name(name)
	if err != nil {
		return Login{}, err
	}
	if err := CheckPassword(password); err != nil {
		return Login{}, err
	}
	hash, err := a.Passwords.Hash(ctx, password)
	if err != nil {
		return Login{}, err
	}
	account, err := a.newAccount(ctx, name, key)
	if err != nil {
		return Login{}, err
	}
	account.PasswordHash = hash
	refresh, session, err := a.newSession(ctx, account.ID)
	if err != nil {
		return Login{}, err
	}
	account.Session = &session
	if _, err := a.Store.CreateAccount(ctx, account); err != nil {
		return Login{}, err
	}
	a.Near.RunInline(ctx, []social.Event{account.Event})
	return a.login(social.Viewer{Player: account.ID, Session: session.ID}, refresh)
}

// newAccount is a player without a way to log in.
func (a *Accounts) newAccount(ctx context.Context, name, key string) (social.NewAccount, error) {
	id, err := a.Store.NextPlayerID(ctx)
	if err != nil {
		return social.NewAccount{}, err
	}
	version, err := a.nextID(ctx)
	if err != nil {
		return social.NewAccount{}, err
	}
	event, err := a.nextID(ctx)
	if err != nil {
		return social.NewAccount{}, err
	}
	return social.NewAccount{
		ID: id, Name: name, NameKey: key, JoinedAt: a.Now(), Version: version,
		Event: social.Event{ID: social.EventID(event), Kind: social.EventPlayer, Actor: id, Subject: int64(id), Epoch: 1},
	}, nil
}

func (a *Accounts) nextID(ctx context.Context) (int64, error) {
	id, err := a.IDs.Next(ctx)
	if err != nil {
		return 0, social.Unavailable(err)
	}
	return id, nil
}

func (a *Accounts) login(viewer social.Viewer, refresh string) (Login, error) {
	token, expires, err := a.Tokens.Issue(viewer)
	if err != nil {
		return Login{}, err
	}
	return Login{AccessToken: token, RefreshToken: refresh, ExpiresAt: expires, Player: viewer.Player}, nil
}

var (
	errBadCredentials = social.Fail(social.CodeBadCredentials, "Name and password don't belong together.")
	errSuspended      = social.Fail(social.CodeSuspended, "The player is suspended.")
	errSessionExpired = social.Fail(social.CodeSessionExpired, "The session is over. Log in again.")
)

// LogIn begins a session. Errors: BAD_CREDENTIALS, the same and after the same time for an unknown name
// and a wrong password; SUSPENDED, only with the right password; UNAVAILABLE.
func (a *Accounts) LogIn(ctx context.Context, name, password string) (Login, error) {
	key := text.FoldName(name)
	if utf8.RuneCountInString(password) > MaxPasswordLength || password == "" || key == "" || len(key) > text.MaxKeyLength {
		return Login{}, errBadCredentials
	}
	standing, hash, err := a.Store.CredentialsByName(ctx, key)
	if err != nil {
		return Login{}, err
	}
	ok, err := a.Passwords.Verify(ctx, hash, password)
	switch {
	case err != nil:
		return Login{}, err
	case !ok:
		return Login{}, errBadCredentials
	case standing.Suspended:
		return Login{}, errSuspended
	}
	refresh, session, err := a.newSession(ctx, standing.Player)
	if err != nil {
		return Login{}, err
	}
	if err := a.Store.CreateSession(ctx, session); err != nil {
		return Login{}, err
	}
	return a.login(social.Viewer{Player: standing.Player, Role: standing.Role, Session: session.ID}, refresh)
}

// AccessToken makes a token for the command line. Its session ends with it and can't be refreshed.
// Errors: NOT_FOUND, SUSPENDED, UNAVAILABLE.
func (a *Accounts) AccessToken(ctx context.Context, player social.PlayerID) (token string, expires time.Time, err error) {
	standing, err := a.Store.Standing(ctx, player)
	switch {
	case err != nil:
		return "", time.Time{}, err
	case standing.Player == 0:
		return "", time.Time{}, social.NotFound()
	case standing.Suspended:
		return "", time.Time{}, errSuspended
	}
	id, err := a.nextID(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	session := social.SessionID(id)
	token, expires, err = a.Tokens.Issue(social.Viewer{Player: player, Role: standing.Role, Session: session})
	if err != nil {
		return "", time.Time{}, err
	}
	err = a.Store.CreateSession(ctx, social.NewSession{ID: session, Player: player, ExpiresAt: expires})
	if err != nil {
		return "", time.Time{}, err
	}
	return token, expires, nil
}

// SetRole gives the player another role: at once in this process, within about a second in others.
// Errors: NOT_FOUND, UNAVAILABLE.
func (a *Accounts) SetRole(ctx context.Context, player social.PlayerID, role social.Role) error {
	change, err := a.newChange(ctx, social.AccessRole)
	if err != nil {
		return err
	}
	change.Player, change.Role = player, role
	found, err := a.Store.SetRole(ctx, change)
	if err != nil {
		return err
	}
	if !found {
		return social.NotFound()
	}
	// Reading, instead of noting what was written, can't put an older role over a newer one.
	if err := a.Changes.RunOnce(ctx); err != nil {
		a.Log.WarnContext(ctx, "a changed role is not known here yet", "player", player, "error", err)
	}
	return nil
}
