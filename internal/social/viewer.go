package social

import (
	"context"
	"io"
	"strings"
)

// Role says what a player may do beyond what every player may.
type Role uint8

// Roles, each including the rights of those before it.
const (
	RolePlayer Role = iota
	RoleEditor
	RoleModerator
	RoleAdmin
)

var roleNames = [...]string{"PLAYER", "EDITOR", "MODERATOR", "ADMIN"}

// String is the role's name in the contract.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return roleNames[RolePlayer]
}

// ParseRole reads a role's name in any case.
func ParseRole(s string) (Role, error) {
	for i, name := range roleNames {
		if strings.EqualFold(name, s) {
			return Role(i), nil
		}
	}
	return RolePlayer, Fail(CodeInvalid, "A role is player, editor, moderator or admin.")
}

// MarshalGQL writes the role as an enum value.
func (r Role) MarshalGQL(w io.Writer) { writeQuoted(w, r.String()) }

// UnmarshalGQL reads a role.
func (r *Role) UnmarshalGQL(v any) error {
	s, _ := v.(string)
	role, err := ParseRole(s)
	*r = role
	return err
}

// Viewer is whoever asks. The zero value is the anonymous viewer.
type Viewer struct {
	Player  PlayerID
	Role    Role
	Session SessionID
}

// Anonymous says that nobody is logged in.
func (v Viewer) Anonymous() bool { return v.Player == 0 }

// RequireRole fails with UNAUTHENTICATED for the anonymous viewer and with FORBIDDEN for one of a lower role.
func (v Viewer) RequireRole(role Role) error {
	if err := v.Require(); err != nil {
		return err
	}
	if v.Role < role {
		return Fail(CodeForbidden, "Your role does not allow this.")
	}
	return nil
}

// SeesHidden says whether the viewer sees what moderators have hidden.
func (v Viewer) SeesHidden() bool { return v.Role >= RoleModerator }

// Require fails with UNAUTHENTICATED for the anonymous viewer.
func (v Viewer) Require() error {
	if v.Anonymous() {
		return Fail(CodeUnauthenticated, "Log in first.")
	}
	return nil
}

type contextKey int

const (
	viewerKey contextKey = iota
	requestIDKey
)

// WithViewer returns a context that carries who asks.
func WithViewer(ctx context.Context, v Viewer) context.Context {
	return context.WithValue(ctx, viewerKey, v)
}

// ViewerFrom tells who asks; the anonymous viewer if nobody was set.
func ViewerFrom(ctx context.Context) Viewer {
	v, _ := ctx.Value(viewerKey).(Viewer)
	return v
}

// WithRequestID returns a context that carries the id under which a request is logged.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey, id)
}

// RequestIDFrom is the request's id, or empty outside a request.
func RequestIDFrom(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey).(string)
	return id
}
