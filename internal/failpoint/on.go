//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Enabled says whether points can be armed in this program.
const Enabled = true

// Variable names the environment variable that arms a point.
const Variable = "CIRCLE_FAILPOINT"

// armed is the point at which to die, and left how often it must be met until then.
var (
	armed string
	left  atomic.Int64
)

func init() {
	value := os.Getenv(Variable)
	if value == "" {
		return
	}
	name, times, err := parse(value)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	armed = name
	left.Store(times)
}

func parse(value string) (name string, times int64, err error) {
	name, action, _ := strings.Cut(value, "=")
	action, count, counted := strings.Cut(action, "@")
	times = 1
	if counted {
		times, err = strconv.ParseInt(count, 10, 64)
	}
	if err != nil || times < 1 || action != "kill" || !slices.Contains(Names(), name) {
		return "", 0, fmt.Errorf("%s=%q is not NAME=kill or NAME=kill@N with one of %v", Variable, value, Names())
	}
	return name, times, nil
}

// Hit kills the process with SIGKILL if the point is armed and was met often enough.
func Hit(name string) {
	if name != armed || left.Add(-1) != 0 {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(fmt.Sprintf("failpoint %s: %v", name, err))
	}
	select {}
}
