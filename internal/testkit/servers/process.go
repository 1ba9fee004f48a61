package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	host = "127.0.0.1"
	// startTimeout bounds one start of a server; a cold MariaDB on a busy machine takes several seconds.
	startTimeout = 60 * time.Second
	// pollInterval is the pause between two questions to a server that does not answer yet.
	pollInterval = 20 * time.Millisecond
	// startTries is how often a start is tried on another port: a free port may be taken by someone
	// else before the server binds it.
	startTries = 5
)

// process is one server program and the folder that it writes to.
type process struct {
	program string
	args    []string
	folder  string
	port    int
	as      *syscall.Credential

	cmd  *exec.Cmd
	done chan struct{}
	exit error
}

// newProcess makes the folder of a server and chooses its port.
func newProcess(program string, as *syscall.Credential) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "circle-"+program+"-")
	if err != nil {
		return nil, fmt.Errorf("folder of %s: %w", program, err)
	}
	if as != nil {
		if err := os.Chown(folder, int(as.Uid), int(as.Gid)); err != nil {
			return nil, errors.Join(fmt.Errorf("folder of %s: %w", program, err), os.RemoveAll(folder))
		}
	}
	return &process{program: program, folder: folder, port: port, as: as}, nil
}

// start runs the program and waits until ask, which is to make sure that this very process answers,
// returns nil.
func (p *process) start(ctx context.Context, ask func(context.Context) error) error {
	path, err := lookup(p.program)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(p.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("log of %s: %w", p.program, err)
	}
	defer log.Close()
	cmd := exec.Command(path, p.args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = p.folder, p.env(), log, log, attributes(p.as)
	started, done := make(chan error, 1), make(chan struct{})
	p.cmd, p.done, p.exit = cmd, done, nil
	go func() {
		// The parent of the parent-death signal is this thread, so it has to live as long as the server.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		err := cmd.Start()
		started <- err
		if err == nil {
			p.exit = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", p.program, err)
	}
	return p.await(ctx, ask)
}

// await polls ask until it succeeds, the process ends or the time is up.
func (p *process) await(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return &endedError{program: p.program, exit: p.exit, log: p.logTail()}
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w (last: %v)\n%s", p.program, ctx.Err(), err, p.logTail())
		case <-tick.C:
		}
	}
}

// kill ends the process at once and waits until it is gone. It may have ended before.
func (p *process) kill() error {
	if p.cmd == nil || p.cmd.Process == nil {
		return nil
	}
	err := p.cmd.Process.Kill()
	<-p.done
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.program, err)
	}
	return nil
}

// stop kills the process, whose data nobody needs any more, and removes its folder.
func (p *process) stop() error {
	return errors.Join(p.kill(), os.RemoveAll(p.folder))
}

func (p *process) addr() string { return net.JoinHostPort(host, strconv.Itoa(p.port)) }

func (p *process) pid() int { return p.cmd.Process.Pid }

// env is the environment of the server's programs, which keep their temporary files in its folder too:
// the account that they run under need not be let into another.
func (p *process) env() []string { return append(os.Environ(), "TMPDIR="+p.folder) }

func (p *process) logPath() string { return filepath.Join(p.folder, "server.log") }

// logTail is the end of the server's log, for messages.
func (p *process) logTail() string {
	const most = 2000
	text, err := os.ReadFile(p.logPath())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// endedError says that a server ended instead of answering.
type endedError struct {
	program string
	exit    error
	log     string
}

func (e *endedError) Error() string {
	return fmt.Sprintf("%s ended before it answered (%v)\n%s", e.program, e.exit, e.log)
}

// portTaken tells whether somebody bound the port after it was found free.
func (e *endedError) portTaken() bool { return strings.Contains(e.log, "Address already in use") }

// retry starts a server anew while its port turns out to be taken.
func retry[S any](start func() (S, error)) (S, error) {
	for try := 1; ; try++ {
		server, err := start()
		var ended *endedError
		if err == nil || try == startTries || !errors.As(err, &ended) || !ended.portTaken() {
			return server, err
		}
	}
}
