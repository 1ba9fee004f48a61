package servers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
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

// command asks the server one question and returns the text of the answer.
func (r *Redis) command(ctx context.Context, question string) (text string, err error) {
	err = r.exchange(ctx, question, func(answer *bufio.Reader) error {
		var size int
		if _, err := fmt.Fscanf(answer, "$%d\r\n", &size); err != nil {
			return err
		}
		bytes := make([]byte, size)
		_, err := io.ReadFull(answer, bytes)
		text = string(bytes)
		return err
	})
	return text, err
}

// order gives the server a command that it answers with OK.
func (r *Redis) order(ctx context.Context, command string) error {
	return r.exchange(ctx, command, func(answer *bufio.Reader) error {
		line, err := answer.ReadString('\n')
		if err == nil && !strings.HasPrefix(line, "+OK") {
			err = errors.New(strings.TrimSpace(line))
		}
		return err
	})
}

// exchange sends a command without arguments that hold blanks, over a connection of its own, and reads
// the answer. It is no client library's call since those log and go on dialling in the background while
// the server is not there yet.
func (r *Redis) exchange(ctx context.Context, command string, read func(*bufio.Reader) error) error {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", r.process.addr())
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, command+"\r\n"); err != nil {
		return err
	}
	if err := read(bufio.NewReader(conn)); err != nil {
		return fmt.Errorf("answer to %s: %w", command, err)
	}
	return nil
}

// Addr is the host and port of the server.
func (r *Redis) Addr() string { return r.process.addr() }

// URL names the server as CIRCLE_REDIS_URL does.
func (r *Redis) URL() string { return "redis://" + r.process.addr() + "/0" }

// String tells where the server is, for logs.
func (r *Redis) String() string {
	return fmt.Sprintf("Redis on %s in %s", r.process.addr(), r.process.folder)
}

// snapshot is the file that a server loads when it starts.
func (r *Redis) snapshot() string { return filepath.Join(r.process.folder, "dump.rdb") }

// Save gives all that the server holds, for RestartFrom.
func (r *Redis) Save(ctx context.Context) ([]byte, error) {
	if err := r.order(ctx, "SAVE"); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(r.snapshot())
	return data, errors.Join(err, os.Remove(r.snapshot()))
}

// RestartFrom starts the server again on its port, after killing it when it runs, with what Save gave.
func (r *Redis) RestartFrom(ctx context.Context, data []byte) error {
	if err := r.process.kill(); err != nil {
		return err
	}
	if err := os.WriteFile(r.snapshot(), data, 0o600); err != nil {
		return err
	}
	return errors.Join(r.process.start(ctx, r.ask), os.Remove(r.snapshot()))
}

// Follow makes the server a replica of another and returns once it holds all that the other does.
func (r *Redis) Follow(ctx context.Context, primary *Redis) error {
	if err := r.order(ctx, fmt.Sprintf("REPLICAOF %s %d", host, primary.process.port)); err != nil {
		return err
	}
	return r.process.await(ctx, func(ctx context.Context) error {
		info, err := r.command(ctx, "INFO replication")
		if err == nil && !strings.Contains(info, "master_link_status:up\r\n") {
			err = errors.New("the replica is not in step yet")
		}
		return err
	})
}

// Promote makes a replica a primary of its own: it takes nothing more from the one that it followed.
func (r *Redis) Promote(ctx context.Context) error { return r.order(ctx, "REPLICAOF NO ONE") }

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
