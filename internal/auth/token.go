package auth

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"circle/internal/social"
)

// AccessTokenLife is how long an access token is good.
const AccessTokenLife = 15 * time.Minute

const (
	ownIssuer   = "circle"
	ownAudience = "circle"
	// maxTokenLength bounds what is parsed at all, in bytes.
	maxTokenLength = 8 << 10
)

// Tokens makes and checks access tokens: JWT, HS256.
type Tokens struct {
	key     []byte
	changes *Changes
	now     func() time.Time
	parser  *jwt.Parser
}

// accessClaims are what an access token says. The subject is the player's global id.
type accessClaims struct {
	jwt.RegisteredClaims
	Session string `json:"sid"`
	Role    string `json:"role"`
}

// NewTokens makes and checks tokens with a key derived from the secret. changes tells of sessions
// that ended and roles that changed while tokens are good.
func NewTokens(secret []byte, changes *Changes, now func() time.Time) *Tokens {
	return &Tokens{
		key: DeriveKey(secret, "access token"), changes: changes, now: now,
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
			jwt.WithIssuer(ownIssuer), jwt.WithAudience(ownAudience),
			jwt.WithExpirationRequired(), jwt.WithStrictDecoding(), jwt.WithTimeFunc(now)),
	}
}

// Issue makes an access token for the viewer and says when it expires, to the second.
func (t *Tokens) Issue(viewer social.Viewer) (token string, expires time.Time, err error) {
	now := t.now()
	expires = now.Add(AccessTokenLife).Truncate(time.Second).UTC()
	claims := accessClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: ownIssuer, Audience: jwt.ClaimStrings{ownAudience}, Subject: viewer.Player.String(),
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expires),
		},
		Session: strconv.FormatInt(int64(viewer.Session), 10),
		Role:    viewer.Role.String(),
	}
	token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(t.key)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("sign an access token: %w", err)
	}
	return token, expires, nil
}

// Verify tells whose token it is, with the player's present role. A token that is not good, or whose
// session is over, is UNAUTHENTICATED.
func (t *Tokens) Verify(token string) (social.Viewer, error) {
	if len(token) > maxTokenLength {
		return social.Viewer{}, unauthenticated(errTooLong)
	}
	var claims accessClaims
	if _, err := t.parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return t.key, nil }); err != nil {
		return social.Viewer{}, unauthenticated(err)
	}
	viewer, err := claims.viewer()
	if err != nil {
		return social.Viewer{}, unauthenticated(err)
	}
	return t.changes.apply(viewer)
}

func (c *accessClaims) viewer() (v social.Viewer, err error) {
	if v.Player, err = social.ParsePlayerID(c.Subject); err != nil {
		return social.Viewer{}, err
	}
	if v.Role, err = social.ParseRole(c.Role); err != nil {
		return social.Viewer{}, err
	}
	session, err := strconv.ParseInt(c.Session, 10, 64)
	if err != nil || session <= 0 {
		return social.Viewer{}, errNoSession
	}
	v.Session = social.SessionID(session)
	return v, nil
}

var (
	errTooLong   = errors.New("the token is too long")
	errNoSession = errors.New("the token names no session")
	errEnded     = errors.New("the token's session is over")
)

// unauthenticated is the answer to each token that is not good; the cause is for the log.
func unauthenticated(cause error) error {
	return &social.Error{Code: social.CodeUnauthenticated, Message: "The token is not valid.", Err: cause}
}
