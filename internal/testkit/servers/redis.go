package servers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Encodings are the settings under which Circle's lists and buckets stay in Redis's compact
// encodings, as arguments of redis-server.
var Encodings = []string{
	"--zset-max-listpack-entries", "1024",
	"--hash-max-listpack-value", "128",
	"--hash-max-listpack-entries", "128",
}

// Redis is a private Redis server that keeps nothing on disk.
type Redis struct {
	process *process
}

// StartRedis starts a server; args are added to its arguments, like "--replicaof". It returns once
// the server answers; ctx bounds the start alone.
func StartRedis(ctx context.Context, args ...string) (*Redis, error) {
	return retry(func() (*Redis, error) {
		p, err := newProcess("redis-server", nil)
		if err != nil {
			return nil, err
		}
		p.args = append([]string{
			"--bind", host, "--port", strconv.Itoa(p.port), "--dir", p.folder,
			"--save", "", "--appendonly", "no",
		}, Encodings...)
		p.args = append(p.args, args...)
		r := &Redis{process: p}
		if err := p.start(ctx, r.ask); err != nil {
			return nil, errors.Join(err, p.stop())
		}
		return r, nil
	})
}

// ask makes sure that it is this server that answers on the port.
func (r *Redis) ask(ctx context.Context) error {
	info, err := r.command(ctx, "INFO server")
	if err != nil {
		return err
	}
	if !strings.Contains(info, fmt.Sprintf("process_id:%d\r\n", r.process.pid())) {
		return fmt.Errorf("another server answers on port %d", r.process.port)
	}
	return nil
}

// command asks the server one question without arguments that hold blanks, over a connection of its
// own, and returns the text of the answer. It is no client library's call since those log and go on
// dialling in the background while the server is not there yet.
func (r *Redis) command(ctx context.Context, question string) (string, error) {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", r.process.addr())
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, question+"\r\n"); err != nil {
		return "", err
	}
	answer := bufio.NewReader(conn)
	var size int
	if _, err := fmt.Fscanf(answer, "$%d\r\n", &size); err != nil {
		return "", fmt.Errorf("answer to %s: %w", question, err)
	}
	text := make([]byte, size)
	_, err = io.ReadFull(answer, text)
	return string(text), err
}

// Addr is the host and port of the server.
func (r *Redis) Addr() string { return r.process.addr() }

// URL names the server as CIRCLE_REDIS_URL does.
func (r *Redis) URL() string { return "redis://" + r.process.addr() + "/0" }

// String tells where the server is, for logs.
func (r *Redis) String() string {
	return fmt.Sprintf("Redis on %s in %s", r.process.addr(), r.process.folder)
}

// Kill ends the server at once; all that it held is lost.
func (r *Redis) Kill() error { return r.process.kill() }

// Restart starts the server again on its port, empty, after killing it when it runs.
func (r *Redis) Restart(ctx context.Context) error {
	if err := r.process.kill(); err != nil {
		return err
	}
	return r.process.start(ctx, r.ask)
}

// Stop ends the server and removes its folder.
func (r *Redis) Stop() error { return r.process.stop() }
