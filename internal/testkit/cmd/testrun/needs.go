package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"circle/internal/testkit/servers"
)

// policyFile is the script that Debian's packages ask whether they may start their service.
const policyFile = "/usr/sbin/policy-rc.d"

// needs makes sure that what the tests run on is there.
func (r *run) needs(ctx context.Context) error {
	out, err := output(ctx, "go", "env", "CC")
	if err != nil {
		return err
	}
	compiler := strings.Fields(string(out))
	if len(compiler) == 0 {
		return errors.New("go env CC names no C compiler, which the race detector needs")
	}
	if _, err := exec.LookPath(compiler[0]); err != nil {
		return fmt.Errorf("the race detector needs a C compiler: %w", err)
	}
	if r.external.partly() {
		return fmt.Errorf("set both %s and %s, or neither", databaseVariable, redisVariable)
	}
	if r.external.given() {
		fmt.Fprintf(r.out, "real servers: %s and %s from the environment; nothing is installed or started\n", databaseVariable, redisVariable)
		return nil
	}
	missing := servers.Missing()
	if len(missing) == 0 {
		return nil
	}
	return r.install(ctx, missing)
}

// install installs Debian packages without letting them start their services.
func (r *run) install(ctx context.Context, packages []string) (err error) {
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return fmt.Errorf("not installed: %s. Install it (on Debian as root make test does), or set %s and %s",
			strings.Join(packages, ", "), databaseVariable, redisVariable)
	}
	restore, err := forbidServices(policyFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	for _, args := range [][]string{{"update", "-q"}, slices.Concat([]string{"install", "-q", "-y", "--no-install-recommends"}, packages)} {
		if err := runIn(ctx, environment("DEBIAN_FRONTEND=noninteractive"), r.out, "apt-get", args...); err != nil {
			return err
		}
	}
	if missing := servers.Missing(); len(missing) > 0 {
		return fmt.Errorf("still not there after their installation: %s", strings.Join(missing, ", "))
	}
	return nil
}

// forbidServices keeps packages from starting their services until restore is called. A system that
// has a policy of its own keeps it.
func forbidServices(policy string) (restore func() error, err error) {
	file, err := os.OpenFile(policy, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, fmt.Errorf("forbid services: %w", err)
	}
	restore = func() error { return os.Remove(policy) }
	// 101 is the answer "not allowed".
	_, err = file.WriteString("#!/bin/sh\nexit 101\n")
	if err := errors.Join(err, file.Close(), os.Chmod(policy, 0o755)); err != nil {
		return nil, errors.Join(fmt.Errorf("forbid services: %w", err), restore())
	}
	return restore, nil
}
