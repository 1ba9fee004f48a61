package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"circle/internal/testkit/servers"
)

const (
	everything = "./..."
	// failpoints is the build tag of the points at which tests kill the process.
	failpoints = "failpoints"
)

// step is one of the things that have to hold.
type step struct {
	name string
	does string
	run  func(context.Context) error
}

// run is one run of all steps.
type run struct {
	out io.Writer
	// patterns say which packages are checked.
	patterns []string
	external external

	// suite is found out by the first step that needs it.
	suite *suite
	// mu guards total and out, which lanes share.
	mu    sync.Mutex
	total counts

	mariadb *servers.MariaDB
	redis   []*servers.Redis
	cluster []*servers.Cluster
}

// steps are in the order in which they fail soonest.
func (r *run) steps() []step {
	return []step{
		{"needs", "a C compiler, Redis and MariaDB are there or get installed", r.needs},
		{"modules", "go.mod and go.sum are tidy", r.tidy},
		{"generate", "generated files are up to date", r.generate},
		{"format", "gofmt changes nothing", r.format},
		{"build", "all packages build, also with failpoints", r.build},
		{"vet", "go vet finds nothing", r.vet},
		{"staticcheck", "staticcheck finds nothing", r.staticcheck},
		{"pure", "tests without stores, under the race detector", r.testPure},
		{"embedded", "tests on the embedded default", r.testEmbedded},
		{"redis", "tests on MariaDB and Redis, under the race detector", r.testRedis},
		{"cluster", "tests on MariaDB and a Redis Cluster", r.testCluster},
	}
}

func (r *run) tidy(ctx context.Context) error { return r.command(ctx, "go", "mod", "tidy", "-diff") }

func (r *run) build(ctx context.Context) error {
	if err := r.goTool(ctx, "build"); err != nil {
		return err
	}
	return r.goTool(ctx, "build", "-tags", failpoints)
}

func (r *run) vet(ctx context.Context) error {
	if err := r.goTool(ctx, "vet"); err != nil {
		return err
	}
	return r.goTool(ctx, "vet", "-tags", failpoints)
}

func (r *run) staticcheck(ctx context.Context) error { return r.goTool(ctx, "tool", "staticcheck") }

// goTool runs a command of go over the packages.
func (r *run) goTool(ctx context.Context, args ...string) error {
	return r.command(ctx, "go", append(args, r.patterns...)...)
}

// testPure runs what needs no store.
func (r *run) testPure(ctx context.Context) error {
	s, err := r.discover(ctx)
	if err != nil {
		return err
	}
	if err := r.test(ctx, nil, s.pure, "-race"); err != nil {
		return err
	}
	return r.test(ctx, nil, s.pureFailpoints, "-tags", failpoints)
}

// testEmbedded leaves the race detector to the real servers, which are faster under it than SQLite. Its
// embedded stores are each test's own, so packages may meet as they will. It is short like testRedis.
func (r *run) testEmbedded(ctx context.Context) error {
	return r.testStores(ctx, [][]string{nil}, "-short")
}

// testRedis is short, which cuts down the number of random cases alone: each takes several times as
// long under the race detector, and the cluster sees all of them.
func (r *run) testRedis(ctx context.Context) error {
	envs, err := r.redisEnvs(ctx)
	if err != nil {
		return err
	}
	return r.testStores(ctx, envs, "-race", "-short", "-p", "1", "-count", "1")
}

func (r *run) testCluster(ctx context.Context) error {
	if r.external.given() && r.external.cluster == "" {
		fmt.Fprintf(r.out, "left out: %s is not set, and with servers from outside none is started\n", clusterVariable)
		return nil
	}
	envs, err := r.clusterEnvs(ctx)
	if err != nil {
		return err
	}
	return r.testStores(ctx, envs, "-p", "1", "-count", "1")
}

// testStores runs what depends on a store: where there are two environments, whole servers in the one and
// at the same time the rest in the other. The first failure ends both.
func (r *run) testStores(ctx context.Context, envs [][]string, flags ...string) error {
	s, err := r.discover(ctx)
	if err != nil {
		return err
	}
	both, ctx := errgroup.WithContext(ctx)
	for i, packages := range s.lanes(s.stores, len(envs)) {
		both.Go(func() error { return r.test(ctx, envs[i], packages, flags...) })
	}
	if err := both.Wait(); err != nil {
		return err
	}
	return r.test(ctx, envs[0], s.storesFailpoints, append(flags, "-tags", failpoints)...)
}
