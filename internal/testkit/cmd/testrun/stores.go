package main

import (
	"context"
	"errors"
	"fmt"

	"circle/internal/testkit/servers"
)

// The variables that tell tests, and tell this program, where real servers are.
const (
	databaseVariable = "CIRCLE_TEST_DATABASE_URL"
	redisVariable    = "CIRCLE_TEST_REDIS_URL"
	clusterVariable  = "CIRCLE_TEST_CLUSTER_URL"
)

// external is servers that somebody else runs.
type external struct {
	database, redis, cluster string
}

func externalServers(getenv func(string) string) external {
	return external{getenv(databaseVariable), getenv(redisVariable), getenv(clusterVariable)}
}

func (e external) given() bool { return e.database != "" && e.redis != "" }

func (e external) partly() bool {
	return !e.given() && e != external{}
}

// lanes is how many sets of packages are tested at the same time. Tests empty their Redis, so each lane has
// its own; databases they make themselves.
const lanes = 2

// redisEnvs are the environments of tests on MariaDB and Redis, one a lane; servers from outside make a
// single lane. It starts what does not run yet.
func (r *run) redisEnvs(ctx context.Context) ([][]string, error) {
	if r.external.given() {
		return [][]string{storesEnv(r.external.database, r.external.redis)}, nil
	}
	return laneEnvs(ctx, r, &r.redis, func(ctx context.Context) (*servers.Redis, error) { return servers.StartRedis(ctx) })
}

// clusterEnvs are the same on MariaDB and a cluster.
func (r *run) clusterEnvs(ctx context.Context) ([][]string, error) {
	if r.external.given() {
		return [][]string{storesEnv(r.external.database, r.external.cluster)}, nil
	}
	return laneEnvs(ctx, r, &r.cluster, servers.StartCluster)
}

// server is a Redis of a lane.
type server interface {
	fmt.Stringer
	URL() string
	Stop() error
}

func laneEnvs[S server](ctx context.Context, r *run, running *[]S, start func(context.Context) (S, error)) ([][]string, error) {
	if err := r.startMariaDB(ctx); err != nil {
		return nil, err
	}
	for len(*running) < lanes {
		started, err := start(ctx)
		if err != nil {
			return nil, err
		}
		*running = append(*running, started)
		fmt.Fprintln(r.out, "started", started)
	}
	envs := make([][]string, lanes)
	for i, s := range *running {
		envs[i] = storesEnv(r.mariadb.URL(), s.URL())
	}
	return envs, nil
}

func (r *run) startMariaDB(ctx context.Context) error {
	if r.mariadb != nil {
		return nil
	}
	server, err := servers.StartMariaDB(ctx)
	if err != nil {
		return err
	}
	r.mariadb = server
	fmt.Fprintln(r.out, "started", server)
	return nil
}

// stopServers ends all servers that were started.
func (r *run) stopServers() error {
	var errs []error
	for _, s := range r.cluster {
		errs = append(errs, s.Stop())
	}
	for _, s := range r.redis {
		errs = append(errs, s.Stop())
	}
	if r.mariadb != nil {
		errs = append(errs, r.mariadb.Stop())
	}
	return errors.Join(errs...)
}

func storesEnv(database, redis string) []string {
	return []string{databaseVariable + "=" + database, redisVariable + "=" + redis}
}
