package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// killDelay is what a program gets to end after an interrupt.
const killDelay = 10 * time.Second

// command runs a program and passes its output through.
func (r *run) command(ctx context.Context, name string, args ...string) error {
	return runIn(ctx, environment(), r.out, name, args...)
}

// output runs a program and returns its output; what it says besides goes to standard error.
func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	var out bytes.Buffer
	err := runIn(ctx, environment(), &out, name, args...)
	return out.Bytes(), err
}

// runIn runs a program in a process group of its own, so that an end before its time, on ctx, also
// ends whatever it started.
func runIn(ctx context.Context, env []string, out io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, out, os.Stderr, killDelay
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		// Whoever is left has not heeded the interrupt; that nobody is left is no failure.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// environment is this process's without the settings of a server, which must not reach tests.
func environment(extra ...string) []string {
	var env []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "CIRCLE_") {
			env = append(env, variable)
		}
	}
	return append(env, extra...)
}
