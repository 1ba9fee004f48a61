//go:build !linux

package servers

import "syscall"

// attributes puts a server into a process group of its own, so that an interrupt typed at the terminal
// reaches its owner first.
func attributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: as}
}
