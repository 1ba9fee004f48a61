//go:build failpoints

package failpoint

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test run itself as the process that dies.
func TestMain(m *testing.M) {
	if os.Getenv("FAILPOINT_CHILD") != "" {
		for range 3 {
			_, _ = os.Stdout.WriteString("x")
			Hit(AmidNear)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestHitKillsTheProcess(t *testing.T) {
	for _, c := range []struct {
		name, arm, want string
		killed          bool
		code            int
	}{
		{name: "first time", arm: "amid-near=kill", want: "x", killed: true},
		{name: "third time", arm: "amid-near=kill@3", want: "xxx", killed: true},
		{name: "not often enough", arm: "amid-near=kill@4", want: "xxx"},
		{name: "another point", arm: "before-done=kill", want: "xxx"},
		{name: "nothing armed", arm: "", want: "xxx"},
		{name: "unknown point", arm: "nowhere=kill", code: 2},
		{name: "unknown action", arm: "amid-near=sleep", code: 2},
		{name: "bad count", arm: "amid-near=kill@0", code: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "FAILPOINT_CHILD=1", Variable+"="+c.arm)
			out, _ := cmd.Output()
			require.Equal(t, c.want, string(out))
			status := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if c.killed {
				require.True(t, status.Signaled())
				require.Equal(t, syscall.SIGKILL, status.Signal())
				return
			}
			require.Equal(t, c.code, cmd.ProcessState.ExitCode())
		})
	}
}
