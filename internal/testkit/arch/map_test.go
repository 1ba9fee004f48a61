package arch

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/testkit/tree"
)

// mapped finds the paths in the first column of the README's map.
var mapped = regexp.MustCompile("`([a-z./]+)`")

// TestTheReadmesMapIsTheTree holds the map against the folders: what it names is there, and what holds
// Go code is named, itself or by a folder above it.
func TestTheReadmesMapIsTheTree(t *testing.T) {
	root, err := tree.Root()
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	section := regexp.MustCompile(`(?s)## Map\n(.*?)\n## `).FindSubmatch(readme)
	require.NotNil(t, section)

	var named []string
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllSubmatch(section[1], -1) {
		for _, name := range mapped.FindAllSubmatch(row[1], -1) {
			named = append(named, path.Clean(string(name[1])))
		}
	}
	require.NotEmpty(t, named)
	for _, name := range named {
		_, err := os.Stat(filepath.Join(root, name))
		assert.NoError(t, err, "the map names %s", name)
	}
	files, err := tree.GoFiles(root)
	require.NoError(t, err)
	for _, file := range files {
		dir, file := path.Dir(file), strings.Replace(file, "_test.go", ".go", 1)
		assert.True(t, slices.ContainsFunc(named, func(name string) bool {
			return name == file || name == dir || (name != "graph" && path.Dir(dir) == name) || path.Dir(path.Dir(dir)) == name
		}), "the map lacks %s", dir)
	}
}
