package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
)

func TestScratchFoldersOfKilledRunsGo(t *testing.T) {
	parent := t.TempDir()
	write(t, parent, map[string]string{
		scratchPrefix + "stale/" + scratchLock: "", scratchPrefix + "stale/some/file": "",
		scratchPrefix + "used/" + scratchLock: "",
		scratchPrefix + "begun/file":          "",
		"other/" + scratchLock:                "",
	})
	used := flock.New(filepath.Join(parent, scratchPrefix+"used", scratchLock))
	require.NoError(t, used.Lock())
	t.Cleanup(func() { require.NoError(t, used.Close()) })

	folder, remove, err := makeScratch(parent)
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(parent, scratchPrefix+"stale"))
	for _, kept := range []string{scratchPrefix + "used", scratchPrefix + "begun", "other"} {
		require.DirExists(t, filepath.Join(parent, kept))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "left over"), nil, 0o600))
	require.NoError(t, removeStale(parent))
	require.DirExists(t, folder, "it is in use")
	require.NoError(t, remove())
	require.NoDirExists(t, folder)
}
