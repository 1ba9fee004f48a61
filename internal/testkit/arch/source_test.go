package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/testkit/tree"
)

const (
	// mostLines is the length of a file that nobody wants to read any more.
	mostLines = 400
	keysFile  = "internal/store/redisstore/keys.go"
)

// file is a Go file that people write.
type file struct {
	path   string
	source []byte
	fset   *token.FileSet
	tree   *ast.File
}

func parse(path string, source []byte) (file, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, path, source, parser.ParseComments)
	return file{path, source, fset, parsed}, err
}

func (f file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

func (f file) at(node ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", f.path, f.fset.Position(node.Pos()).Line, fmt.Sprintf(format, args...))
}

// checks are what every file keeps to; each lists what does not.
var checks = map[string]func(file) []string{
	"short":      tooLong,
	"documented": undocumented,
	"clock":      readsClock,
	"keys":       func(f file) []string { return spellsKeys(f, []string{"feed", "simple"}) },
}

func tooLong(f file) []string {
	if lines := bytes.Count(f.source, []byte("\n")); lines > mostLines {
		return []string{fmt.Sprintf("%s: %d lines, over %d", f.path, lines, mostLines)}
	}
	return nil
}

// undocumented finds exported names without a comment. In a group the group's comment is enough.
func undocumented(f file) []string {
	if f.isTest() {
		return nil
	}
	var found []string
	for _, declaration := range f.tree.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || ast.IsExported(receiver(d))) {
				found = append(found, f.at(d, "%s has no comment", d.Name))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if name := undocumentedIn(spec); name != "" && d.Doc == nil {
					found = append(found, f.at(spec, "%s has no comment", name))
				}
			}
		}
	}
	return found
}

// undocumentedIn is the first exported name of a type, constant or variable without its own comment.
func undocumentedIn(spec ast.Spec) string {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
			return s.Name.Name
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if s.Doc == nil && s.Comment == nil && name.IsExported() {
				return name.Name
			}
		}
	}
	return ""
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// clockless are the packages whose time is a field that tests can set.
var clockless = []string{
	"internal/social", "internal/text", "internal/service", "internal/fanout", "internal/outbox", "internal/live",
	"internal/auth", "internal/lease", "internal/fence", "graph", "graph/loader",
}

func readsClock(f file) []string {
	if f.isTest() || !slices.Contains(clockless, path.Dir(f.path)) {
		return nil
	}
	var found []string
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && id.Name == "time" && slices.Contains([]string{"Now", "Since", "Until"}, s.Sel.Name) {
				found = append(found, f.at(n, "time.%s, where the clock is a field", s.Sel.Name))
			}
		}
		return true
	})
	return found
}

// spellsKeys finds keys of the given families that are spelled out beside the one list of keys.
func spellsKeys(f file, families []string) []string {
	if f.isTest() || path.Dir(f.path) == path.Dir(keysFile) {
		return nil
	}
	key := regexp.MustCompile(`^(` + strings.Join(families, "|") + `):($|[{%*\d])`)
	var found []string
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil && key.MatchString(text) {
				found = append(found, f.at(n, "%s spells a key of Redis, which %s alone does", literal.Value, keysFile))
			}
		}
		return true
	})
	return found
}

// keyFamilies are the names that the list of keys gives to its families.
func keyFamilies(f file) []string {
	var names []string
	ast.Inspect(f.tree, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if id, ok := literal.Type.(*ast.Ident); !ok || id.Name != "family" {
			return true
		}
		for _, element := range literal.Elts {
			if kv, ok := element.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == "name" {
				if name, err := strconv.Unquote(kv.Value.(*ast.BasicLit).Value); err == nil {
					names = append(names, name)
				}
			}
		}
		return true
	})
	return names
}

func TestSources(t *testing.T) {
	files := readFiles(t)
	i := slices.IndexFunc(files, func(f file) bool { return f.path == keysFile })
	require.GreaterOrEqual(t, i, 0, keysFile)
	families := keyFamilies(files[i])
	require.Contains(t, families, "feed")
	for name, check := range checks {
		if name == "keys" {
			check = func(f file) []string { return spellsKeys(f, families) }
		}
		t.Run(name, func(t *testing.T) {
			var found []string
			for _, f := range files {
				found = append(found, check(f)...)
			}
			require.Empty(t, found, strings.Join(found, "\n"))
		})
	}
}

func readFiles(t *testing.T) []file {
	t.Helper()
	root, err := tree.Root()
	require.NoError(t, err)
	paths, err := tree.GoFiles(root)
	require.NoError(t, err)
	var files []file
	for _, path := range paths {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		require.NoError(t, err)
		if tree.IsGenerated(source) || strings.Contains(path, "/testdata/") {
			continue
		}
		f, err := parse(path, source)
		require.NoError(t, err)
		files = append(files, f)
	}
	return files
}
