package servers

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// childEnv makes the test binary play the program that starts a server and is then killed.
const childEnv = "SERVERS_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		startAndWaitToBeKilled()
	}
	goleak.VerifyTestMain(m)
}

func TestNoServerOutlivesItsStarter(t *testing.T) {
	starter := exec.Command(os.Args[0])
	starter.Env = append(os.Environ(), childEnv+"=1", "TMPDIR="+sharedTemp(t))
	out, err := starter.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, starter.Start())
	t.Cleanup(func() { _ = starter.Process.Kill() })
	line := make([]byte, 200)
	n, err := out.Read(line)
	require.NoError(t, err)
	addrs := strings.Fields(string(line[:n]))
	require.Len(t, addrs, 2, string(line[:n]))
	for _, addr := range addrs {
		require.True(t, answers(addr))
	}
	require.NoError(t, starter.Process.Kill())
	_ = starter.Wait()
	for _, addr := range addrs {
		require.Eventually(t, func() bool { return !answers(addr) }, 10*time.Second, 10*time.Millisecond, addr)
	}
}

func startAndWaitToBeKilled() {
	m, err := StartMariaDB(context.Background())
	if err != nil {
		panic(err)
	}
	r, err := StartRedis(context.Background())
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString(m.process.addr() + " " + r.Addr() + "\n")
	select {}
}

// sharedTemp is a folder that the server's account can enter too.
func sharedTemp(t *testing.T) string {
	dir, err := os.MkdirTemp("", "circle-starter-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
