package app_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain bounds property tests, each of whose runs makes players on a real server, unless a run
// asks for more with -rapid.checks.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.checks": "20", "rapid.steps": "30"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	flag.Parse()
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}
