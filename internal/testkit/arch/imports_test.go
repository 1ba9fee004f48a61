package arch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "circle"

// stores are what only the packages of stores may be built on.
var stores = []string{
	"circle/internal/store/...", "gorm.io/...", "github.com/libtnb/sqlite/...", "github.com/go-sql-driver/...",
	"github.com/redis/...", "github.com/alicebob/miniredis/...",
}

// rule says what some packages may be built on.
type rule struct {
	// packages are paths below the module's; x/... is x and all below it.
	packages []string
	// ours are the packages of the module that they may import.
	ours []string
	// never are packages that they may not be linked with, through others neither.
	never []string
	// standard says that they import the standard library alone.
	standard bool
}

// rules are searched in order; the first with the package counts.
var rules = []rule{
	{packages: []string{"internal/social"}, standard: true},
	{packages: []string{"internal/text"}, ours: []string{"internal/social"}, never: stores},
	{packages: []string{"internal/failpoint", "migrations", "web"}, standard: true},
	{packages: []string{"internal/config", "internal/testkit/tree", "internal/testkit/servers"}},
	{packages: []string{"internal/service"}, ours: []string{"internal/social", "internal/text"}, never: stores},
	{packages: []string{"internal/store/compress"}, ours: []string{"internal/social"}},
	{
		packages: []string{"internal/store/sqlstore/..."},
		ours:     []string{"internal/social", "internal/store/sqlstore/...", "internal/store/compress", "internal/failpoint", "migrations"},
		never:    []string{"github.com/redis/..."},
	},
	{
		packages: []string{"internal/store/redisstore/..."},
		ours:     []string{"internal/social", "internal/store/redisstore/...", "internal/store/compress", "internal/failpoint"},
		never:    []string{"gorm.io/...", "database/sql"},
	},
	{
		packages: []string{"internal/outbox", "internal/fanout", "internal/live", "internal/fence", "internal/auth", "internal/lease", "internal/importer"},
		ours:     []string{"internal/social", "internal/text", "internal/failpoint"},
		never:    stores,
	},
	{packages: []string{"graph/generated", "graph/model", "graph/scalar"}, ours: []string{"internal/social", "graph/model", "graph/scalar"}, never: stores},
	{packages: []string{"graph/loader"}, ours: []string{"internal/social", "internal/service"}, never: stores},
	// The use cases of accounts are auth's.
	{packages: []string{"graph"}, ours: []string{"internal/social", "internal/text", "internal/service", "internal/auth", "graph/..."}, never: stores},
	{packages: []string{"internal/httpserver"}, ours: []string{"internal/social", "web"}, never: stores},
	// The composition root, the program around it and its tests.
	{packages: []string{"", "internal/app", "internal/testkit/..."}, ours: []string{"..."}},
}

// pkg is what go list tells of a package.
type pkg struct {
	ImportPath    string
	Imports, Deps []string
}

// breaches lists what goes against the rules.
func breaches(packages []pkg) []string {
	var found []string
	for _, p := range packages {
		i := slices.IndexFunc(rules, func(r rule) bool { return matches(ours(r.packages), p.ImportPath) })
		if i < 0 {
			found = append(found, p.ImportPath+" has no rule: say what it may import")
			continue
		}
		found = append(found, rules[i].breaches(p)...)
	}
	return found
}

func (r rule) breaches(p pkg) []string {
	var found []string
	for _, path := range p.Imports {
		switch {
		case isOurs(path) && !matches(ours(r.ours), path):
			found = append(found, fmt.Sprintf("%s may not import %s", p.ImportPath, path))
		case r.standard && !isOurs(path) && !isStandard(path):
			found = append(found, fmt.Sprintf("%s may import the standard library alone, not %s", p.ImportPath, path))
		}
	}
	for _, path := range p.Deps {
		if matches(r.never, path) {
			found = append(found, fmt.Sprintf("%s is linked with %s", p.ImportPath, path))
		}
	}
	return found
}

func ours(patterns []string) []string {
	var paths []string
	for _, pattern := range patterns {
		paths = append(paths, strings.TrimSuffix(module+"/"+pattern, "/"))
	}
	return paths
}

// matches tells whether one of the patterns means the path; x/... means x too.
func matches(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		above, found := strings.CutSuffix(pattern, "/...")
		return path == above || found && strings.HasPrefix(path, above+"/")
	})
}

func isOurs(path string) bool { return matches([]string{module + "/..."}, path) }

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func TestImports(t *testing.T) {
	packages := listPackages(t)
	require.Empty(t, breaches(packages))
	// No rule holds for want of packages.
	for _, path := range []string{"circle/internal/social", "circle/internal/service", "circle/graph", "circle/internal/store/redisstore"} {
		require.True(t, slices.ContainsFunc(packages, func(p pkg) bool { return p.ImportPath == path && len(p.Deps) > 0 }), path)
	}
}

func TestImportRulesFindBreaches(t *testing.T) {
	for _, c := range []struct {
		name string
		pkg  pkg
		want []string
	}{
		{"good", pkg{"circle/internal/service", []string{"context", "circle/internal/social"}, []string{"circle/internal/social", "context"}}, nil},
		{"own store", pkg{"circle/internal/store/sqlstore", []string{"circle/migrations", "gorm.io/gorm"}, []string{"gorm.io/gorm"}}, nil},
		{"app", pkg{"circle/internal/app", []string{"circle/graph", "circle/internal/store/sqlstore"}, []string{"gorm.io/gorm"}}, nil},
		{"main", pkg{"circle", []string{"circle/internal/app"}, []string{"gorm.io/gorm"}}, nil},
		{"social imports ours", pkg{ImportPath: "circle/internal/social", Imports: []string{"circle/internal/text"}}, []string{"circle/internal/social may not import circle/internal/text"}},
		{"social imports a module", pkg{ImportPath: "circle/internal/social", Imports: []string{"golang.org/x/text/width"}}, []string{"circle/internal/social may import the standard library alone, not golang.org/x/text/width"}},
		{"service imports a store", pkg{ImportPath: "circle/internal/service", Imports: []string{"circle/internal/store/sqlstore"}}, []string{"circle/internal/service may not import circle/internal/store/sqlstore"}},
		{"graph is linked with Redis", pkg{ImportPath: "circle/graph", Deps: []string{"github.com/redis/go-redis/v9"}}, []string{"circle/graph is linked with github.com/redis/go-redis/v9"}},
		{"loader is linked with GORM", pkg{ImportPath: "circle/graph/loader", Deps: []string{"gorm.io/gorm"}}, []string{"circle/graph/loader is linked with gorm.io/gorm"}},
		{"one store imports the other", pkg{ImportPath: "circle/internal/store/redisstore", Imports: []string{"circle/internal/store/sqlstore"}}, []string{"circle/internal/store/redisstore may not import circle/internal/store/sqlstore"}},
		{"outbox imports service", pkg{ImportPath: "circle/internal/outbox", Imports: []string{"circle/internal/service"}}, []string{"circle/internal/outbox may not import circle/internal/service"}},
		{"server imports app", pkg{ImportPath: "circle/internal/httpserver", Imports: []string{"circle/internal/app"}}, []string{"circle/internal/httpserver may not import circle/internal/app"}},
		{"a package without a rule", pkg{ImportPath: "circle/internal/new"}, []string{"circle/internal/new has no rule: say what it may import"}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, breaches([]pkg{c.pkg})) })
	}
}

func listPackages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var packages []pkg
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p pkg
		require.NoError(t, decoder.Decode(&p))
		packages = append(packages, p)
	}
	return packages
}
