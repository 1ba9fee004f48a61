package main

import (
	"os"
	"syscall"
)

const (
	memory = "/dev/shm"
	// memoryNeeded is several times what the servers and tests have written at the end.
	memoryNeeded = 2 << 30
	tmpfsMagic   = 0x01021994
	noExec       = 8
)

// scratchParent is where temporary files lie: in memory where there is room, since the databases that
// tests make by the hundred then take a fifth of the time. TMPDIR overrules it.
func scratchParent() string {
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &fs) != nil {
		return os.TempDir()
	}
	roomy := uint64(fs.Bsize)*fs.Bavail >= memoryNeeded
	if fs.Type != tmpfsMagic || fs.Flags&noExec != 0 || !roomy {
		return os.TempDir()
	}
	return memory
}
