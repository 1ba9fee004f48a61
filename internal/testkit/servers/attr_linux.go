package servers

import "syscall"

// attributes puts a server into a process group of its own, so that an interrupt typed at the terminal
// reaches its owner first, and has the kernel kill it when the thread that started it is gone.
func attributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: as}
}
