package auth

import (
	"context"
	"errors"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"circle/internal/social"
)

// Authenticator tells who asks by a request's Authorization header.
type Authenticator struct {
	Tokens *Tokens
	// Provider checks tokens of an outside identity provider; nil when there is none.
	Provider *Provider
}

var errScheme = errors.New("the Authorization header is not Bearer and a token")

// Authenticate tells who asks. An empty header is the anonymous viewer; anything but "Bearer" and a
// token that is good is UNAUTHENTICATED, which is meant for the whole request. It is UNAVAILABLE when
// that can't be told now.
func (a *Authenticator) Authenticate(ctx context.Context, authorizationHeader string) (social.Viewer, error) {
	if authorizationHeader == "" {
		return social.Viewer{}, nil
	}
	scheme, token, _ := strings.Cut(authorizationHeader, " ")
	token = strings.Trim(token, " ")
	switch {
	case !strings.EqualFold(scheme, "Bearer") || token == "":
		return social.Viewer{}, unauthenticated(errScheme)
	case len(token) > maxTokenLength:
		return social.Viewer{}, unauthenticated(errTooLong)
	case a.Provider != nil && issuerOf(token) == a.Provider.issuer:
		return a.Provider.Verify(ctx, token)
	}
	return a.Tokens.Verify(token)
}

// issuerOf reads who claims to have made a token, unverified, to choose who verifies it.
func issuerOf(token string) string {
	var claims jwt.RegisteredClaims
	if _, _, err := jwt.NewParser().ParseUnverified(token, &claims); err != nil {
		return ""
	}
	return claims.Issuer
}
