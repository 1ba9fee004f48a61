package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"circle/internal/social"
)

// SessionLife is how long a session goes on without being refreshed; each refresh token lasts as long.
const SessionLife = 30 * 24 * time.Hour

// newSession draws a session and its first refresh token.
func (a *Accounts) newSession(ctx context.Context, player social.PlayerID) (token string, s social.NewSession, err error) {
	id, err := a.nextID(ctx)
	if err != nil {
		return "", s, err
	}
	token, refresh := a.newRefresh()
	return token, social.NewSession{ID: social.SessionID(id), Player: player, ExpiresAt: refresh.ExpiresAt, Refresh: &refresh}, nil
}

// newRefresh draws a refresh token of 256 bits.
func (a *Accounts) newRefresh() (token string, stored social.RefreshToken) {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(bits[:])
	return token, social.RefreshToken{Hash: sha256.Sum256([]byte(token)), ExpiresAt: a.Now().Add(SessionLife)}
}

// Refresh gives new tokens for a refresh token, which is used up by it. One that was used up before
// ends its session: somebody else has it. Errors: SESSION_EXPIRED, SUSPENDED, UNAVAILABLE.
func (a *Accounts) Refresh(ctx context.Context, refreshToken string) (Login, error) {
	end, err := a.newChange(ctx, social.AccessEnded)
	if err != nil {
		return Login{}, err
	}
	token, next := a.newRefresh()
	refreshed, err := a.Store.RotateRefresh(ctx, sha256.Sum256([]byte(refreshToken)), next, end)
	if err != nil {
		return Login{}, err
	}
	switch refreshed.State {
	case social.RefreshDone:
		return a.login(refreshed.Viewer, token)
	case social.RefreshSuspended:
		return Login{}, errSuspended
	case social.RefreshReused:
		a.Log.WarnContext(ctx, "a used refresh token came back; its session is ended", "session", refreshed.Viewer.Session)
		end.Session = refreshed.Viewer.Session
		a.Changes.note([]social.AccessChange{end})
	}
	return Login{}, errSessionExpired
}

func (a *Accounts) newChange(ctx context.Context, kind social.AccessKind) (social.AccessChange, error) {
	id, err := a.nextID(ctx)
	return social.AccessChange{ID: id, Kind: kind, At: a.Now()}, err
}

// LogOut ends the viewer's session: its access tokens are refused at once by this process and within
// about a second by others. A viewer with a token of an outside provider has no session here, so
// nothing ends. Errors: UNAUTHENTICATED for the anonymous viewer, UNAVAILABLE.
func (a *Accounts) LogOut(ctx context.Context, viewer social.Viewer) error {
	if err := viewer.Require(); err != nil {
		return err
	}
	if viewer.Session == 0 {
		return nil
	}
	end, err := a.newChange(ctx, social.AccessEnded)
	if err != nil {
		return err
	}
	end.Player, end.Session = viewer.Player, viewer.Session
	if err := a.Store.EndSession(ctx, end); err != nil {
		return err
	}
	a.Changes.note([]social.AccessChange{end})
	return nil
}

const (
	purgeChunk = 1000
	// purgeChunks bounds one call of Purge. A player who is there all day leaves some hundred tokens.
	purgeChunks = 100
)

// Purge removes expired sessions and refresh tokens, and changes that no token can ask for any more,
// in chunks, up to some hundred thousand rows of each. Whatever is left waits for the next call.
func (a *Accounts) Purge(ctx context.Context) error {
	now := a.Now()
	purges := []struct {
		purge  func(ctx context.Context, before time.Time, limit int) (int, error)
		before time.Time
	}{
		{a.Store.PurgeSessions, now},
		{a.Store.PurgeAccessChanges, now.Add(-AccessTokenLife - 2*changeOverlap)},
	}
	for _, p := range purges {
		for range purgeChunks {
			n, err := p.purge(ctx, p.before, purgeChunk)
			if err != nil {
				return fmt.Errorf("purge sessions: %w", err)
			}
			if n < purgeChunk {
				break
			}
		}
	}
	return nil
}
