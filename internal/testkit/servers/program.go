package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrMissing is what a start fails with when a program that it needs is not installed.
var ErrMissing = errors.New("program not installed")

// Packages that bring the programs, as Debian names them.
const (
	redisPackage   = "redis-server"
	mariadbPackage = "mariadb-server"
)

var programs = []struct{ name, debian string }{
	{"redis-server", redisPackage},
	{"redis-cli", redisPackage},
	{"mariadbd", mariadbPackage},
	{"mariadb-install-db", mariadbPackage},
}

// Missing lists the Debian packages of the programs that are not installed, each once.
func Missing() []string {
	var missing []string
	for _, p := range programs {
		if _, err := lookup(p.name); err != nil && (len(missing) == 0 || missing[len(missing)-1] != p.debian) {
			missing = append(missing, p.debian)
		}
	}
	return missing
}

// lookup finds a program in PATH or where distributions keep servers, which the PATH of an ordinary
// account leaves out.
func lookup(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/libexec"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	for _, p := range programs {
		if p.name == name {
			return "", fmt.Errorf("%w: %s (Debian package %s)", ErrMissing, name, p.debian)
		}
	}
	return "", fmt.Errorf("%w: %s", ErrMissing, name)
}
