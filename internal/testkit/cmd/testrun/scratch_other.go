//go:build !linux

package main

import "os"

// scratchParent is where temporary files lie.
func scratchParent() string { return os.TempDir() }
