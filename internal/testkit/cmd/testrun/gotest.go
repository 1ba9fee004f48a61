package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// counts are numbers of tests, subtests included.
type counts struct {
	passed, failed, skipped int
}

func (c counts) ran() bool { return c.passed+c.failed > 0 }

// String is the line that closes a run.
func (c counts) String() string {
	line := fmt.Sprintf("%d passed, %d failed", c.passed, c.failed)
	if c.skipped > 0 {
		line += fmt.Sprintf(", %d skipped", c.skipped)
	}
	return line
}

// test runs the tests of some packages; env is added to the environment.
func (r *run) test(ctx context.Context, env, packages []string, flags ...string) error {
	if len(packages) == 0 {
		return nil
	}
	// The vet that is a part of go test would analyse all dependencies again for each set of flags.
	args := slices.Concat([]string{"test", "-json", "-vet", "off"}, flags, packages)
	lines, into := io.Pipe()
	report := &report{out: &locked{mu: &r.mu, out: r.out}, kept: map[[2]string][]string{}}
	done := make(chan error, 1)
	go func() { done <- report.read(lines) }()
	err := runIn(ctx, environment(env...), into, "go", args...)
	err = errors.Join(err, into.Close(), <-done)
	r.mu.Lock()
	r.total.passed += report.passed
	r.total.failed += report.failed
	r.total.skipped += report.skipped
	r.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(report.failures) > 0:
		return fmt.Errorf("failing: %s", strings.Join(report.failures, ", "))
	case err != nil:
		return err
	case !report.ran():
		return fmt.Errorf("no test ran in %s", strings.Join(packages, " "))
	}
	return nil
}

// locked keeps lines of reports that come at the same time whole.
type locked struct {
	mu  *sync.Mutex
	out io.Writer
}

func (l *locked) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(line)
}

// report reads what go test -json tells, shows it as go test alone would, and counts.
type report struct {
	counts
	out io.Writer
	// kept is the output of what has not ended yet, by package and test.
	kept     map[[2]string][]string
	failures []string
}

type event struct {
	Action, Package, Test, Output string
}

func (r *report) read(lines io.Reader) error {
	reader := bufio.NewReader(lines)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				fmt.Fprint(r.out, string(line))
			} else {
				r.take(e)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("output of go test: %w", err)
		}
	}
}

func (r *report) take(e event) {
	switch {
	case e.Action == "build-output":
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output" && e.Test == "" && strings.HasPrefix(e.Output, "ok  \t"):
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output" && e.Test == "" && strings.HasPrefix(e.Output, "FAIL\t"):
		r.showAll(e.Package)
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output":
		key := [2]string{e.Package, e.Test}
		r.kept[key] = append(r.kept[key], e.Output)
	case e.Test == "":
		r.endPackage(e)
	default:
		r.endTest(e)
	}
}

func (r *report) endTest(e event) {
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "pass":
		r.passed++
	case "skip":
		r.skipped++
	case "fail":
		r.failed++
		r.failures = append(r.failures, e.Package+"."+e.Test)
		r.show(key)
	default:
		return
	}
	delete(r.kept, key)
}

// endPackage counts a failing package without a failing test, whether it did not build or died, as one
// that failed.
func (r *report) endPackage(e event) {
	if e.Action == "fail" && !slices.ContainsFunc(r.failures, func(name string) bool { return strings.HasPrefix(name, e.Package+".") }) {
		r.failed++
		r.failures = append(r.failures, e.Package)
	}
	if e.Action == "pass" || e.Action == "fail" {
		maps.DeleteFunc(r.kept, func(key [2]string, _ []string) bool { return key[0] == e.Package })
	}
}

// showAll shows what is kept of a package: of tests that never ended and of what lies outside tests.
func (r *report) showAll(path string) {
	keys := slices.SortedFunc(maps.Keys(r.kept), func(a, b [2]string) int { return strings.Compare(a[1], b[1]) })
	for _, key := range keys {
		if key[0] == path {
			r.show(key)
			delete(r.kept, key)
		}
	}
}

func (r *report) show(key [2]string) {
	for _, line := range r.kept[key] {
		if !strings.HasPrefix(line, "=== ") {
			fmt.Fprint(r.out, line)
		}
	}
}
