package httpserver

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/99designs/gqlgen/graphql"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"golang.org/x/time/rate"

	"circle/internal/social"
)

// Rate limits: so many a second for good, after a burst. Addresses of IPv6 count by their /64.
const (
	// RequestRate is for all requests of an address. It is generous: many players may share one.
	RequestRate  = rate.Limit(200)
	RequestBurst = 1000
	// AccountRate is for each signUp, logIn and refreshSession of an address, because the first two
	// hash a password, which takes tens of milliseconds.
	AccountRate  = rate.Limit(0.5)
	AccountBurst = 20
	// MutationRate is for each mutation of a player.
	MutationRate  = rate.Limit(20)
	MutationBurst = 100
	// trackedKeys bounds how many addresses or players a limiter remembers. Whoever is forgotten
	// starts again with a full burst.
	trackedKeys = 50_000
)

var accountMutations = map[string]bool{"signUp": true, "logIn": true, "refreshSession": true}

// buckets holds a token bucket per key.
type buckets[K comparable] struct {
	rate  rate.Limit
	burst int
	byKey *lru.Cache[K, *rate.Limiter]
}

func newBuckets[K comparable](r rate.Limit, burst int) *buckets[K] {
	byKey, err := lru.New[K, *rate.Limiter](trackedKeys)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &buckets[K]{r, burst, byKey}
}

// take spends n tokens of key; if there are too few it spends none and tells when there will be
// enough.
func (b *buckets[K]) take(key K, n int, now time.Time) (wait time.Duration) {
	bucket, ok := b.byKey.Get(key)
	if !ok {
		bucket = rate.NewLimiter(b.rate, b.burst)
		if earlier, found, _ := b.byKey.PeekOrAdd(key, bucket); found {
			bucket = earlier
		}
	}
	if bucket.AllowN(now, n) {
		return 0
	}
	missing := float64(n) - bucket.TokensAt(now)
	return max(time.Duration(missing/float64(b.rate)*float64(time.Second)), time.Millisecond)
}

// rateLimits counts requests and mutations; those of anonymous callers by their address.
type rateLimits struct {
	now       func() time.Time
	requests  *buckets[netip.Addr]
	accounts  *buckets[netip.Addr]
	mutations *buckets[social.PlayerID]
}

func newRateLimits(now func() time.Time) *rateLimits {
	return &rateLimits{
		now:       now,
		requests:  newBuckets[netip.Addr](RequestRate, RequestBurst),
		accounts:  newBuckets[netip.Addr](AccountRate, AccountBurst),
		mutations: newBuckets[social.PlayerID](MutationRate, MutationBurst),
	}
}

var _ graphql.OperationContextMutator = (*rateLimits)(nil)

// ExtensionName names the extension.
func (*rateLimits) ExtensionName() string { return "RateLimits" }

// Validate has nothing to check against a schema.
func (*rateLimits) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext counts each mutation of an operation; it fails with RATE_LIMITED.
func (l *rateLimits) MutateOperationContext(ctx context.Context, op *graphql.OperationContext) *gqlerror.Error {
	if op.Operation.Operation != ast.Mutation {
		return nil
	}
	fields := graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Mutation"})
	accounts := 0
	for _, field := range fields {
		if accountMutations[field.Name] {
			accounts++
		}
	}
	if accounts > 0 {
		if wait := l.accounts.take(clientFrom(ctx), accounts, l.now()); wait > 0 {
			return rateLimited(wait)
		}
	}
	if viewer := social.ViewerFrom(ctx); !viewer.Anonymous() {
		if wait := l.mutations.take(viewer.Player, len(fields), l.now()); wait > 0 {
			return rateLimited(wait)
		}
	}
	return nil
}

type clientKey struct{}

func withClient(ctx context.Context, client netip.Addr) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

func clientFrom(ctx context.Context) netip.Addr {
	client, _ := ctx.Value(clientKey{}).(netip.Addr)
	return client
}

// clientOf is the address that a request comes from, as the connection has it: what a header says
// of it anybody can write.
func clientOf(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	client := at.Addr().Unmap().WithZone("")
	if client.Is6() {
		client = netip.PrefixFrom(client, 64).Masked().Addr()
	}
	return client
}
