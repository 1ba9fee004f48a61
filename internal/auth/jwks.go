package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"circle/internal/social"
)

// ProviderConfig names an outside identity provider whose tokens are accepted.
type ProviderConfig struct {
	// JWKSURL is where the provider publishes its keys.
	JWKSURL string
	// Issuer and Audience are what its tokens must say, exactly.
	Issuer   string
	Audience string
}

const (
	keyRefresh = 5 * time.Minute
	// keyTimeout bounds a request for keys, and the wait of a token with an unknown key.
	keyTimeout = 3 * time.Second
	// unknownKeyInterval is how often unknown keys may make the provider be asked.
	unknownKeyInterval = 10 * time.Second
	maxKeySetBytes     = 1 << 20
	// clockSkew is how far the provider's clock may differ.
	clockSkew = 5 * time.Second

	maxIdentities = 10_000
	// standingLife is how long a standing is taken from memory. It is less than the time for which
	// changed roles are known, which override it.
	standingLife = 10 * time.Minute
)

// providerAlgorithms are asymmetric alone: with others, whoever can check tokens could make them.
var providerAlgorithms = []string{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
}

// Provider checks the tokens of an outside identity provider and knows whose they are. The first
// token of an identity makes a player.
type Provider struct {
	issuer   string
	keys     keyfunc.Keyfunc
	parser   *jwt.Parser
	accounts *Accounts
	// players holds whose an identity is, which never changes, with a standing that does.
	players *lru.Cache[social.Identity, knownPlayer]
}

type knownPlayer struct {
	social.Standing
	readAt time.Time
}

type providerClaims struct {
	jwt.RegisteredClaims
	PreferredUsername string `json:"preferred_username"`
}

// NewProvider fetches the provider's keys and keeps them fresh in the background until ctx ends. It
// does not fail when the provider is away, but takes up to three seconds then; until it is back, its
// tokens are UNAVAILABLE.
func NewProvider(ctx context.Context, cfg ProviderConfig, accounts *Accounts) (*Provider, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	log := accounts.Log
	keys, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{cfg.JWKSURL}, keyfunc.Override{
		Client:            &http.Client{Transport: bounded{http.DefaultTransport}, Timeout: keyTimeout},
		HTTPTimeout:       keyTimeout,
		RefreshInterval:   keyRefresh,
		RefreshUnknownKID: rate.NewLimiter(rate.Every(unknownKeyInterval), 1),
		RateLimitWaitMax:  keyTimeout,
		RefreshErrorHandlerFunc: func(string) func(context.Context, error) {
			return func(ctx context.Context, err error) {
				log.WarnContext(ctx, "can't fetch the keys of the identity provider", "error", err)
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("CIRCLE_JWKS_URL: %w", err)
	}
	players, err := lru.New[social.Identity, knownPlayer](maxIdentities)
	if err != nil {
		return nil, err
	}
	parser := jwt.NewParser(
		jwt.WithValidMethods(providerAlgorithms),
		jwt.WithIssuer(cfg.Issuer), jwt.WithAudience(cfg.Audience), jwt.WithExpirationRequired(),
		jwt.WithLeeway(clockSkew), jwt.WithStrictDecoding(), jwt.WithTimeFunc(accounts.Now))
	return &Provider{issuer: cfg.Issuer, keys: keys, parser: parser, accounts: accounts, players: players}, nil
}

func (c ProviderConfig) check() error {
	u, err := url.Parse(c.JWKSURL)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http"):
		return errors.New("CIRCLE_JWKS_URL must be an http or https address")
	case c.Issuer == "" || len(c.Issuer) > social.MaxIdentityLength || c.Issuer == ownIssuer:
		return fmt.Errorf("CIRCLE_JWT_ISSUER must be set beside CIRCLE_JWKS_URL, have at most %d bytes and not be %q", social.MaxIdentityLength, ownIssuer)
	case c.Audience == "":
		return errors.New("CIRCLE_JWT_AUDIENCE must be set beside CIRCLE_JWKS_URL")
	}
	return nil
}

// Verify tells whose token it is. The viewer has no session. Errors: UNAUTHENTICATED for a token that
// is not good and for a suspended player, UNAVAILABLE when the keys or the store are away.
func (p *Provider) Verify(ctx context.Context, token string) (social.Viewer, error) {
	if len(token) > maxTokenLength {
		return social.Viewer{}, unauthenticated(errTooLong)
	}
	var claims providerClaims
	if _, err := p.parser.ParseWithClaims(token, &claims, p.keys.KeyfuncCtx(ctx)); err != nil {
		return social.Viewer{}, p.refuse(ctx, err)
	}
	identity := social.Identity{Issuer: p.issuer, Subject: claims.Subject}
	if claims.Subject == "" || len(claims.Subject) > social.MaxIdentityLength {
		return social.Viewer{}, unauthenticated(errSubject)
	}
	standing, err := p.standing(ctx, identity, claims.PreferredUsername)
	if err != nil {
		return social.Viewer{}, err
	}
	switch {
	case standing.Player == 0:
		return social.Viewer{}, unauthenticated(errGone)
	case standing.Suspended:
		return social.Viewer{}, &social.Error{Code: social.CodeUnauthenticated, Message: errSuspended.Message}
	}
	return p.accounts.Changes.apply(social.Viewer{Player: standing.Player, Role: standing.Role})
}

var (
	errSubject = errors.New("the token's subject is missing or too long")
	errGone    = errors.New("the token's player is gone")
)

// refuse tells a token that is bad from one that nobody can check, because no key was ever fetched.
func (p *Provider) refuse(ctx context.Context, cause error) error {
	known, err := p.keys.Storage().KeyReadAll(ctx)
	if errors.Is(cause, jwt.ErrTokenUnverifiable) && (err != nil || len(known) == 0) {
		return social.Unavailable(cause)
	}
	return unauthenticated(cause)
}

func (p *Provider) standing(ctx context.Context, identity social.Identity, preferred string) (social.Standing, error) {
	now := p.accounts.Now()
	known, ok := p.players.Get(identity)
	if ok && now.Sub(known.readAt) < standingLife {
		return known.Standing, nil
	}
	player := known.Player
	if !ok {
		var err error
		if player, err = p.accounts.playerOf(ctx, identity, preferred); err != nil {
			return social.Standing{}, err
		}
	}
	standing, err := p.accounts.Store.Standing(ctx, player)
	if err != nil {
		return social.Standing{}, err
	}
	p.players.Add(identity, knownPlayer{Standing: standing, readAt: now})
	return standing, nil
}

// bounded cuts answers off, so that no provider can fill the memory.
type bounded struct{ http.RoundTripper }

// RoundTrip does the request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxKeySetBytes), resp.Body}
	}
	return resp, err
}
