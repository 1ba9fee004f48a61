// Command testrun is what make test runs: it looks for what the tests need, checks that the tree is
// in order, and runs the tests on the embedded default, on MariaDB with Redis and on MariaDB with a
// Redis Cluster. It starts these servers on free loopback ports and ends them, also when it is
// interrupted. It stops at the first failure.
//
// With CIRCLE_TEST_DATABASE_URL and CIRCLE_TEST_REDIS_URL both set nothing is installed or started:
// the tests run on those servers, and on a cluster only if CIRCLE_TEST_CLUSTER_URL names one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"circle/internal/testkit/tree"
)

func main() {
	only := flag.String("only", "", "run these steps alone, by name, separated by commas")
	packages := flag.String("packages", everything, "check and test these packages, patterns separated by commas")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: testrun [-only STEP,...] [-packages PATTERN,...]\nsteps:", strings.Join(names(new(run).steps()), " "))
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := start(ctx, split(*only), split(*packages)); err != nil {
		// The last line is the one that is read first.
		first, details, _ := strings.Cut(err.Error(), "\n")
		if details != "" {
			fmt.Println(details)
		}
		fmt.Println("make test:", first)
		os.Exit(1)
	}
}

// start runs the chosen steps, all of them when none is named, from the root of the module.
func start(ctx context.Context, only, packages []string) error {
	root, err := tree.Root()
	if err != nil {
		return err
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	r := &run{out: os.Stdout, patterns: packages, external: externalServers(os.Getenv)}
	steps := r.steps()
	for _, name := range only {
		if !slices.Contains(names(steps), name) {
			return fmt.Errorf("no step %q; the steps are %s", name, strings.Join(names(steps), " "))
		}
	}
	remove, err := useScratch()
	if err != nil {
		return err
	}
	err = r.each(ctx, steps, only)
	err = errors.Join(err, r.stopServers(), remove())
	if r.total.ran() {
		fmt.Fprintln(r.out, r.total)
	}
	return err
}

// each runs the steps in order until one fails.
func (r *run) each(ctx context.Context, steps []step, only []string) error {
	for _, s := range steps {
		if len(only) > 0 && !slices.Contains(only, s.name) {
			continue
		}
		fmt.Fprintf(r.out, "== %s: %s\n", s.name, s.does)
		begin := time.Now()
		err := s.run(ctx)
		took := time.Since(begin).Round(10 * time.Millisecond)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted in %s after %s", s.name, took)
		}
		if err != nil {
			return fmt.Errorf("%s failed after %s: %w", s.name, took, err)
		}
		fmt.Fprintf(r.out, "== %s: %s\n", s.name, took)
	}
	return nil
}

func names(steps []step) []string {
	var names []string
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
