package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

const (
	scratchPrefix = "circle-test-"
	// scratchLock is held as long as its folder is in use. A process that was killed holds none.
	scratchLock = "lock"
)

// useScratch makes all programs of this run keep their temporary files in one folder, which remove
// removes. What go builds stays where it was, since it is large.
func useScratch() (remove func() error, err error) {
	built := os.Getenv("GOTMPDIR")
	if built == "" {
		built = os.TempDir()
	}
	folder, remove, err := makeScratch(scratchParent())
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Setenv("GOTMPDIR", built), os.Setenv("TMPDIR", folder)); err != nil {
		return nil, errors.Join(err, remove())
	}
	return remove, nil
}

// makeScratch makes a folder below parent for all temporary files of a run, and removes those that runs
// which were killed left behind. remove is to be called at the end.
func makeScratch(parent string) (folder string, remove func() error, err error) {
	if err := removeStale(parent); err != nil {
		return "", nil, err
	}
	folder, err = os.MkdirTemp(parent, scratchPrefix)
	if err != nil {
		return "", nil, fmt.Errorf("scratch folder: %w", err)
	}
	lock := flock.New(filepath.Join(folder, scratchLock))
	// Servers that run under another account have their folders in it.
	if err := errors.Join(lock.Lock(), os.Chmod(folder, 0o711)); err != nil {
		return "", nil, errors.Join(fmt.Errorf("scratch folder: %w", err), os.RemoveAll(folder))
	}
	return folder, func() error { return errors.Join(os.RemoveAll(folder), lock.Close()) }, nil
}

// removeStale removes the folders that nobody uses. One whose lock is not made yet is being made.
func removeStale(parent string) error {
	locks, err := filepath.Glob(filepath.Join(parent, scratchPrefix+"*", scratchLock))
	if err != nil {
		return fmt.Errorf("scratch folders: %w", err)
	}
	for _, path := range locks {
		lock := flock.New(path)
		free, err := lock.TryLock()
		if err == nil && free {
			err = errors.Join(os.RemoveAll(filepath.Dir(path)), lock.Close())
		}
		if err != nil {
			return fmt.Errorf("scratch folder of an earlier run: %w", err)
		}
	}
	return nil
}
