package auth

import (
	"context"

	"circle/internal/social"
)

// Suspend ends a player's sessions and subscriptions, and refuses new ones: at once in this process, within about a
// second in others. To suspend who is suspended changes nothing. Errors: SELF_REFERENCE and NOT_FOUND at playerId;
// FORBIDDEN for all but moderators and for players whose role is not below the viewer's; UNAVAILABLE.
func (a *Accounts) Suspend(ctx context.Context, viewer social.Viewer, player social.PlayerID) error {
	return a.setSuspended(ctx, viewer, player, true)
}

// Reinstate lets a suspended player log in again. What was ended stays ended. Errors: those of Suspend.
func (a *Accounts) Reinstate(ctx context.Context, viewer social.Viewer, player social.PlayerID) error {
	return a.setSuspended(ctx, viewer, player, false)
}

func (a *Accounts) setSuspended(ctx context.Context, viewer social.Viewer, player social.PlayerID, suspended bool) error {
	if err := viewer.RequireRole(social.RoleModerator); err != nil {
		return err
	}
	if viewer.Player == player {
		return social.Fail(social.CodeSelfReference, "That is yourself.", "playerId")
	}
	change, err := a.newChange(ctx, social.AccessSuspension)
	if err != nil {
		return err
	}
	change.Player, change.Suspended = player, suspended
	if suspended {
		change.Session = social.SessionID(change.ID)
	}
	found, forbidden, err := a.Store.SetSuspended(ctx, change, viewer.Role)
	switch {
	case err != nil:
		return err
	case !found:
		return social.NotFound("playerId")
	case forbidden:
		return social.Fail(social.CodeForbidden, "Your role does not allow this.")
	}
	// Reading, instead of noting what was written, can't put an older state over a newer one.
	if err := a.Changes.RunOnce(ctx); err != nil {
		a.Log.WarnContext(ctx, "a suspension is not known here yet", "player", player, "error", err)
	}
	return nil
}
