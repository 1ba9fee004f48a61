package servers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	_ "github.com/go-sql-driver/mysql" // the driver that asks whether the server is ready
)

// initSQL runs at each start, before the server takes connections. The account may create
// databases, so that each test can have its own.
const initSQL = `CREATE DATABASE IF NOT EXISTS circle CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS 'circle'@'127.0.0.1' IDENTIFIED BY 'circle';
GRANT ALL ON *.* TO 'circle'@'127.0.0.1';
`

// MariaDB is a private MariaDB server with its default isolation and full durability.
type MariaDB struct {
	process *process
}

// StartMariaDB makes an empty data folder and starts a server on it. It returns once the server
// answers, at most about a minute later; ctx bounds the start alone.
func StartMariaDB(ctx context.Context) (*MariaDB, error) {
	return retry(func() (*MariaDB, error) {
		as, err := serverAccount("mysql")
		if err != nil {
			return nil, err
		}
		p, err := newProcess("mariadbd", as)
		if err != nil {
			return nil, err
		}
		m := &MariaDB{process: p}
		if err := m.install(ctx); err != nil {
			return nil, errors.Join(err, p.stop())
		}
		if err := p.start(ctx, m.ask); err != nil {
			return nil, errors.Join(err, p.stop())
		}
		return m, nil
	})
}

// install makes the system tables and settles the server's arguments.
func (m *MariaDB) install(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	program, err := lookup("mariadb-install-db")
	if err != nil {
		return err
	}
	p := m.process
	cmd := exec.CommandContext(ctx, program, "--no-defaults", "--datadir="+m.dataDir(),
		"--auth-root-authentication-method=normal", "--skip-test-db")
	cmd.Dir, cmd.Env, cmd.SysProcAttr = p.folder, p.env(), attributes(p.as)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	initFile := filepath.Join(p.folder, "init.sql")
	if err := os.WriteFile(initFile, []byte(initSQL), 0o644); err != nil {
		return fmt.Errorf("init file of mariadbd: %w", err)
	}
	p.args = []string{
		"--no-defaults", "--datadir=" + m.dataDir(), "--init-file=" + initFile,
		"--bind-address=" + host, "--port=" + strconv.Itoa(p.port),
		// Relative to the data folder: the path of a socket has to be short.
		"--socket=server.sock", "--pid-file=server.pid",
		"--skip-name-resolve", "--character-set-server=utf8mb4", "--max-connections=500",
		"--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=256M",
	}
	return nil
}

// ask makes sure that it is this server that answers on the port, with the account set up.
func (m *MariaDB) ask(ctx context.Context) error {
	db, err := sql.Open("mysql", "circle:circle@tcp("+m.process.addr()+")/circle?timeout=2s&readTimeout=5s")
	if err != nil {
		return err
	}
	defer db.Close()
	var dir string
	if err := db.QueryRowContext(ctx, "SELECT @@datadir").Scan(&dir); err != nil {
		return err
	}
	if filepath.Clean(dir) != m.dataDir() {
		return fmt.Errorf("another server answers on port %d: its data is in %s", m.process.port, dir)
	}
	return nil
}

// URL names the server as CIRCLE_DATABASE_URL does. Its account may create databases.
func (m *MariaDB) URL() string { return "mysql://circle:circle@" + m.process.addr() + "/circle" }

// String tells where the server is, for logs.
func (m *MariaDB) String() string {
	return fmt.Sprintf("MariaDB on %s in %s", m.process.addr(), m.process.folder)
}

// Kill ends the server as a crash would, without a chance to flush. Its data stays.
func (m *MariaDB) Kill() error { return m.process.kill() }

// Restart starts the server again with its data and port, after killing it when it runs.
func (m *MariaDB) Restart(ctx context.Context) error {
	if err := m.process.kill(); err != nil {
		return err
	}
	return m.process.start(ctx, m.ask)
}

// Stop ends the server and removes its data.
func (m *MariaDB) Stop() error { return m.process.stop() }

func (m *MariaDB) dataDir() string { return filepath.Join(m.process.folder, "data") }

// serverAccount is the account that a server is to run under which refuses to run as root; nil when
// this process is not root's. The server is started under it, rather than told to change to it, since
// that change would make Linux forget the parent-death signal.
func serverAccount(name string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("account for the server: %w", err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", name, err)
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", name, err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
