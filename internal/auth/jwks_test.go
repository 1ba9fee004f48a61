package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// provider is an identity provider on loopback.
type provider struct {
	*httptest.Server
	rsa      *rsa.PrivateKey
	ecdsa    *ecdsa.PrivateKey
	ed25519  ed25519.PrivateKey
	away     atomic.Bool
	requests atomic.Int64
}

// rsaKey is one for all tests, as it takes long to make.
var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func newIdentityProvider(t *testing.T) *provider {
	p := &provider{rsa: rsaKey()}
	var err error
	p.ecdsa, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, p.ed25519, err = ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.requests.Add(1)
		if p.away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": p.keys(t)})
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) keys(t *testing.T) []map[string]string {
	number := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
	point, err := p.ecdsa.PublicKey.Bytes()
	require.NoError(t, err)
	return []map[string]string{
		{"kid": "rsa", "kty": "RSA", "n": number(p.rsa.N.Bytes()), "e": number(big.NewInt(int64(p.rsa.E)).Bytes())},
		{"kid": "ec", "kty": "EC", "crv": "P-256", "x": number(point[1:33]), "y": number(point[33:])},
		{"kid": "ed", "kty": "OKP", "crv": "Ed25519", "x": number(p.ed25519.Public().(ed25519.PublicKey))},
		{"kid": "shared", "kty": "oct", "k": number(secret)},
	}
}

// token signs claims like those of a good token after a change.
func (p *provider) token(t *testing.T, clock *clock, method jwt.SigningMethod, kid string, key any, change func(jwt.MapClaims)) string {
	claims := jwt.MapClaims{
		"iss": p.URL, "aud": []string{"other", "square"}, "sub": "u-1", "exp": clock.Now().Add(time.Hour).Unix(), "preferred_username": "Dora",
	}
	if change != nil {
		change(claims)
	}
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	signed, err := token.SignedString(key)
	require.NoError(t, err)
	return signed
}

func (p *provider) good(t *testing.T, clock *clock, subject, username string) string {
	return p.token(t, clock, jwt.SigningMethodES256, "ec", p.ecdsa, func(c jwt.MapClaims) {
		c["sub"], c["preferred_username"] = subject, username
	})
}

func (p *provider) verifier(t *testing.T, accounts *Accounts) *Provider {
	v, err := NewProvider(t.Context(), ProviderConfig{JWKSURL: p.URL, Issuer: p.URL, Audience: "square"}, accounts)
	require.NoError(t, err)
	return v
}

func TestProviderTakesAsymmetricAlgorithms(t *testing.T) {
	here, clock := alone(t)
	p := newIdentityProvider(t)
	v := p.verifier(t, here.Accounts)
	cases := []struct {
		method jwt.SigningMethod
		kid    string
		key    crypto.Signer
	}{
		{jwt.SigningMethodRS256, "rsa", p.rsa}, {jwt.SigningMethodRS384, "rsa", p.rsa}, {jwt.SigningMethodRS512, "rsa", p.rsa},
		{jwt.SigningMethodPS256, "rsa", p.rsa}, {jwt.SigningMethodPS384, "rsa", p.rsa}, {jwt.SigningMethodPS512, "rsa", p.rsa},
		{jwt.SigningMethodES256, "ec", p.ecdsa}, {jwt.SigningMethodEdDSA, "ed", p.ed25519}, {jwt.SigningMethodES256, "", p.ecdsa},
	}
	for _, c := range cases {
		t.Run(c.method.Alg()+" "+c.kid, func(t *testing.T) {
			viewer, err := v.Verify(t.Context(), p.token(t, clock, c.method, c.kid, c.key, nil))
			require.NoError(t, err)
			require.Equal(t, social.Viewer{Player: 1}, viewer)
		})
	}
	require.Len(t, here.near.events, 1)
}

func TestProviderRefuses(t *testing.T) {
	here, clock := alone(t)
	p := newIdentityProvider(t)
	v := p.verifier(t, here.Accounts)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	good := p.good(t, clock, "u-1", "Dora")
	parts := strings.Split(good, ".")
	set := func(name string, value any) string {
		return p.token(t, clock, jwt.SigningMethodES256, "ec", p.ecdsa, func(c jwt.MapClaims) {
			c[name] = value
			if value == nil {
				delete(c, name)
			}
		})
	}
	cases := []struct{ name, token string }{
		{"foreign key", p.token(t, clock, jwt.SigningMethodES256, "ec", stranger, nil)},
		{"unknown key", p.token(t, clock, jwt.SigningMethodES256, "nobody's", stranger, nil)},
		{"foreign key without a name", p.token(t, clock, jwt.SigningMethodES256, "", stranger, nil)},
		{"symmetric", p.token(t, clock, jwt.SigningMethodHS256, "shared", secret, nil)},
		{"symmetric with the public key", p.token(t, clock, jwt.SigningMethodHS256, "rsa", p.rsa.N.Bytes(), nil)},
		{"alg none", p.token(t, clock, jwt.SigningMethodNone, "ec", jwt.UnsafeAllowNoneSignatureType, nil)},
		{"unsigned", parts[0] + "." + parts[1] + "."},
		{"tampered", parts[0] + "." + strings.Split(set("sub", "u-2"), ".")[1] + "." + parts[2]},
		{"key of another kind", p.token(t, clock, jwt.SigningMethodES256, "rsa", p.ecdsa, nil)},
		{"expired", set("exp", clock.Now().Add(-clockSkew-time.Second).Unix())},
		{"no end", set("exp", nil)},
		{"not yet", set("nbf", clock.Now().Add(clockSkew+time.Second).Unix())},
		{"another issuer", set("iss", p.URL+"/")},
		{"no issuer", set("iss", nil)},
		{"another audience", set("aud", "squares")},
		{"no audience", set("aud", nil)},
		{"no subject", set("sub", nil)},
		{"long subject", set("sub", strings.Repeat("x", social.MaxIdentityLength+1))},
		{"huge", set("padding", strings.Repeat("x", maxTokenLength))},
		{"nonsense", "nonsense"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			viewer, err := v.Verify(t.Context(), c.token)
			requireCode(t, social.CodeUnauthenticated, err)
			require.Zero(t, viewer)
		})
	}
	require.Empty(t, here.near.events, "nobody was made")
	_, err = v.Verify(t.Context(), good)
	require.NoError(t, err)
}

func TestUnknownKeysDoNotFloodTheProvider(t *testing.T) {
	here, clock := alone(t)
	p := newIdentityProvider(t)
	v := p.verifier(t, here.Accounts)
	for range 20 {
		_, err := v.Verify(t.Context(), p.token(t, clock, jwt.SigningMethodES256, rand.Text(), p.ecdsa, nil))
		requireCode(t, social.CodeUnauthenticated, err)
	}
	require.LessOrEqual(t, p.requests.Load(), int64(2))
}

func TestProviderThatIsAwayAtTheStart(t *testing.T) {
	here, clock := alone(t)
	p := newIdentityProvider(t)
	p.away.Store(true)
	v := p.verifier(t, here.Accounts)
	_, err := v.Verify(t.Context(), p.token(t, clock, jwt.SigningMethodES256, "", p.ecdsa, nil))
	requireCode(t, social.CodeUnavailable, err)
	p.away.Store(false)
	_, err = v.Verify(t.Context(), p.good(t, clock, "u-1", "Dora"))
	require.NoError(t, err)
}

func TestFirstTokensOfAnIdentityMakeOnePlayer(t *testing.T) {
	each(t, func(t *testing.T, here, there process, clock *clock) {
		p := newIdentityProvider(t)
		verifiers := []*Provider{p.verifier(t, here.Accounts), p.verifier(t, there.Accounts)}
		token := p.good(t, clock, "u-1", "Dora")
		viewers := make([]social.Viewer, 30)
		for _, err := range together(len(viewers), func(i int) (err error) {
			viewers[i], err = verifiers[i%2].Verify(t.Context(), token)
			return err
		}) {
			require.NoError(t, err)
		}
		for _, viewer := range viewers {
			require.Equal(t, viewers[0], viewer)
		}
		require.Equal(t, 1, len(here.near.events)+len(there.near.events))
		again, err := p.verifier(t, here.Accounts).Verify(t.Context(), token)
		require.NoError(t, err)
		require.Equal(t, viewers[0], again, "from the store, by a process that knows nothing yet")
	})
}

func TestNamesOfOutsidePlayers(t *testing.T) {
	here, clock := alone(t)
	p := newIdentityProvider(t)
	v := p.verifier(t, here.Accounts)
	_, err := here.SignUp(t.Context(), "dora", password)
	require.NoError(t, err)
	recorded := &recordingStore{Store: here.Store}
	here.Store = recorded
	long := strings.Repeat("界", 20)
	cases := []struct{ name, preferred, want string }{
		{"free", "Anna", `^Anna$`},
		{"taken", "Dora", `^Dora-[a-z2-7]{6}$`},
		{"none", "", `^player-[a-z2-7]{12}$`},
		{"too short", "x", `^x-[a-z2-7]{6}$`},
		{"not a name", "a\nb", `^player-[a-z2-7]{12}$`},
		{"longest", long, `^界{20}$`},
		{"longest, taken", long, `^界{13}-[a-z2-7]{6}$`},
		{"far too long", strings.Repeat("x", 5000), `^x{13}-[a-z2-7]{6}$`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := v.Verify(t.Context(), p.good(t, clock, c.name, c.preferred))
			require.NoError(t, err)
			require.Regexp(t, c.want, recorded.made)
		})
	}
}

// recordingStore remembers the name of the account that was made last.
type recordingStore struct {
	Store
	made string
}

func (s *recordingStore) CreateAccount(ctx context.Context, a social.NewAccount) (social.PlayerID, error) {
	player, err := s.Store.CreateAccount(ctx, a)
	if err == nil {
		s.made = a.Name
	}
	return player, err
}

func TestStandingOfOutsidePlayers(t *testing.T) {
	each(t, func(t *testing.T, here, there process, clock *clock) {
		p := newIdentityProvider(t)
		v := p.verifier(t, here.Accounts)
		verify := func() (social.Viewer, error) {
			return v.Verify(t.Context(), p.token(t, clock, jwt.SigningMethodES256, "ec", p.ecdsa, nil))
		}
		viewer, err := verify()
		require.NoError(t, err)
		require.Equal(t, social.RolePlayer, viewer.Role)
		require.NoError(t, there.SetRole(t.Context(), viewer.Player, social.RoleAdmin))
		require.NoError(t, here.Changes.RunOnce(t.Context()))
		viewer, err = verify()
		require.NoError(t, err)
		require.Equal(t, social.RoleAdmin, viewer.Role)

		clock.move(20 * time.Minute) // the change is forgotten, so the role must come from the store
		require.NoError(t, here.Changes.RunOnce(t.Context()))
		viewer, err = verify()
		require.NoError(t, err)
		require.Equal(t, social.RoleAdmin, viewer.Role)

		clock.move(standingLife)
		here.Store = suspending{here.Store}
		_, err = verify()
		requireCode(t, social.CodeUnauthenticated, err)
	})
}

func TestProviderConfig(t *testing.T) {
	good := ProviderConfig{JWKSURL: "https://id.example/keys", Issuer: "https://id.example", Audience: "circle"}
	require.NoError(t, good.check())
	cases := []struct {
		name   string
		change func(*ProviderConfig)
		want   string
	}{
		{"no scheme", func(c *ProviderConfig) { c.JWKSURL = "id.example/keys" }, "CIRCLE_JWKS_URL"},
		{"a file", func(c *ProviderConfig) { c.JWKSURL = "file:///keys" }, "CIRCLE_JWKS_URL"},
		{"no issuer", func(c *ProviderConfig) { c.Issuer = "" }, "CIRCLE_JWT_ISSUER"},
		{"our own issuer", func(c *ProviderConfig) { c.Issuer = "circle" }, "CIRCLE_JWT_ISSUER"},
		{"long issuer", func(c *ProviderConfig) { c.Issuer = strings.Repeat("x", 256) }, "CIRCLE_JWT_ISSUER"},
		{"no audience", func(c *ProviderConfig) { c.Audience = "" }, "CIRCLE_JWT_AUDIENCE"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := good
			c.change(&cfg)
			_, err := NewProvider(t.Context(), cfg, nil)
			require.ErrorContains(t, err, c.want)
		})
	}
}
