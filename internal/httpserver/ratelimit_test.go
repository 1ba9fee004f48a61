package httpserver

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	logIn = `mutation{logIn(input:{name:"a",password:"b"}){userErrors{code}}}`
	like  = `mutation{likeFeed(input:{feedId:"x"}){userErrors{code}}}`
)

func TestRateLimits(t *testing.T) {
	refresh := `mutation{refreshSession(input:{refreshToken:"a"}){userErrors{code}}}`
	signUp := `mutation{...F} fragment F on Mutation{signUp(input:{name:"a",password:"b"}){userErrors{code}}}`
	for name, tc := range map[string]struct {
		document string
		headers  []string
		burst    int
		wait     time.Duration
	}{
		"logging in":                {logIn, nil, AccountBurst, 2 * time.Second},
		"refreshing":                {refresh, nil, AccountBurst, 2 * time.Second},
		"signing up, in a fragment": {signUp, nil, AccountBurst, 2 * time.Second},
		"mutations of a player":     {like, []string{"Authorization: Bearer 7"}, MutationBurst, time.Second / 20},
		"requests of an address":    {"{__typename}", nil, RequestBurst, time.Second / 200},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, options{config: Config{RateLimits: true}})
			for range tc.burst {
				require.Empty(t, f.query(tc.document, nil, tc.headers...).code())
			}
			r := f.query(tc.document, nil, append(tc.headers, "X-Forwarded-For: 192.0.2.7")...)
			assert.Equal(t, "RATE_LIMITED", r.code())
			assert.Equal(t, http.StatusTooManyRequests, r.status)
			assert.Equal(t, map[bool]string{true: "2", false: "1"}[tc.wait == 2*time.Second], r.header.Get("Retry-After"))
			assert.NotEmpty(t, r.Errors[0].Extensions.RequestID)
			f.clock.move(tc.wait + time.Millisecond)
			assert.Empty(t, f.query(tc.document, nil, tc.headers...).code(), "free again")
			assert.Equal(t, "RATE_LIMITED", f.query(tc.document, nil, tc.headers...).code(), "but only once")
		})
	}
}

func TestRateLimitsCountFieldsNotRequests(t *testing.T) {
	f := start(t, options{config: Config{RateLimits: true}})
	many := "mutation{" + series(AccountBurst, `a#:logIn(input:{name:"a",password:"b"}){userErrors{code}} `) + "}"
	require.Empty(t, f.query(many, nil).code())
	assert.Equal(t, "RATE_LIMITED", f.query(logIn, nil).code())
	more := strings.Replace(many, "{", `{logOut{userErrors{code}} b:logIn(input:{name:"a",password:"b"}){userErrors{code}} `, 1)
	f.clock.move(time.Hour)
	assert.Equal(t, "RATE_LIMITED", f.query(more, nil).code(), "more at once than ever allowed")
}

func TestPlayersAreCountedApart(t *testing.T) {
	f := start(t, options{config: Config{RateLimits: true}})
	for range MutationBurst {
		require.Empty(t, f.query(like, nil, "Authorization: Bearer 7").code())
	}
	assert.Equal(t, "RATE_LIMITED", f.query(like, nil, "Authorization: Bearer 7").code())
	assert.Empty(t, f.query(like, nil, "Authorization: Bearer 8").code())
	assert.Empty(t, f.query("{__typename}", nil, "Authorization: Bearer 7").code(), "queries go on")
}

func TestRateLimitsCanBeOff(t *testing.T) {
	f := start(t, options{})
	for range AccountBurst + 5 {
		require.Empty(t, f.query(logIn, nil).code())
	}
}

func TestClientAddress(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:5":               "192.0.2.1",
		"[::ffff:192.0.2.1]:5":      "192.0.2.1",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::",
		"[fe80::1%eth0]:80":         "fe80::",
		"not an address":            "invalid IP",
	} {
		r := httptest.NewRequest(http.MethodPost, "/graphql", nil)
		r.RemoteAddr = remote
		r.Header.Set("X-Forwarded-For", "198.51.100.1")
		assert.Equal(t, want, clientOf(r).String())
	}
}

func TestBucketsAreBounded(t *testing.T) {
	b := newBuckets[netip.Addr](1, 1)
	addr := netip.MustParseAddr("10.0.0.0")
	for range trackedKeys + 100 {
		assert.Zero(t, b.take(addr, 1, time.Unix(0, 0)))
		addr = addr.Next()
	}
	assert.Equal(t, trackedKeys, b.byKey.Len())
}
