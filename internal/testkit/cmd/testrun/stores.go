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

// redisEnv is the environment of tests on MariaDB and Redis. It starts what does not run yet.
func (r *run) redisEnv(ctx context.Context) ([]string, error) {
	if r.external.given() {
		return storesEnv(r.external.database, r.external.redis), nil
	}
	if err := r.startMariaDB(ctx); err != nil {
		return nil, err
	}
	if r.redis == nil {
		server, err := servers.StartRedis(ctx)
		if err != nil {
			return nil, err
		}
		r.redis = server
		fmt.Fprintln(r.out, "started", server)
	}
	return storesEnv(r.mariadb.URL(), r.redis.URL()), nil
}

// clusterEnv is the environment of tests on MariaDB and a cluster. It starts what does not run yet.
func (r *run) clusterEnv(ctx context.Context) ([]string, error) {
	if r.external.given() {
		return storesEnv(r.external.database, r.external.cluster), nil
	}
	if err := r.startMariaDB(ctx); err != nil {
		return nil, err
	}
	if r.cluster == nil {
		cluster, err := servers.StartCluster(ctx)
		if err != nil {
			return nil, err
		}
		r.cluster = cluster
		fmt.Fprintln(r.out, "started", cluster)
	}
	return storesEnv(r.mariadb.URL(), r.cluster.URL()), nil
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
	if r.cluster != nil {
		errs = append(errs, r.cluster.Stop())
	}
	if r.redis != nil {
		errs = append(errs, r.redis.Stop())
	}
	if r.mariadb != nil {
		errs = append(errs, r.mariadb.Stop())
	}
	return errors.Join(errs...)
}

func storesEnv(database, redis string) []string {
	return []string{databaseVariable + "=" + database, redisVariable + "=" + redis}
}
