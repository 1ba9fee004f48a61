package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"circle/internal/testkit/servers"
)

const (
	// serversPackage starts real servers by itself, so what is tested with it needs the programs.
	serversPackage = "circle/internal/testkit/servers"
	// wholePackage is what makes a whole server.
	wholePackage = "circle/internal/app"
	// variablePrefix marks, as the beginning of a string literal, code that finds its stores in the
	// environment that this program sets.
	variablePrefix = `"CIRCLE_TEST_`
)

// suite is the packages with tests, sorted out by what they need.
type suite struct {
	// pure tests run the same wherever they run; those of stores run again on every kind of store.
	pure, stores []string
	// The packages whose tests are partly for the build with failpoints alone.
	pureFailpoints, storesFailpoints []string
	// servers are the packages whose tests start servers themselves.
	servers []string
	// whole are the packages that test whole servers.
	whole []string
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir, Name     string
	GoFiles, Deps             []string
	TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports []string
}

func (p *listed) tests() []string { return slices.Concat(p.TestGoFiles, p.XTestGoFiles) }

// discover sorts the packages out, once.
func (r *run) discover(ctx context.Context) (*suite, error) {
	if r.suite != nil {
		return r.suite, nil
	}
	all, err := list(ctx, everything)
	if err != nil {
		return nil, err
	}
	tagged, err := list(ctx, append([]string{"-tags", failpoints}, r.patterns...)...)
	if err != nil {
		return nil, err
	}
	s, err := sortOut(all, tagged)
	if err != nil {
		return nil, err
	}
	if len(s.stores) == 0 && slices.Equal(r.patterns, []string{everything}) {
		return nil, fmt.Errorf("no package's tests read %s…: the real servers would test nothing", variablePrefix[1:])
	}
	if missing := servers.Missing(); r.external.given() && len(missing) > 0 && len(s.servers) > 0 {
		fmt.Fprintf(r.out, "left out, since %s is not installed: %s\n", strings.Join(missing, ", "), strings.Join(s.servers, " "))
		s.leaveOutServers()
	}
	r.suite = s
	return s, nil
}

func list(ctx context.Context, args ...string) (map[string]*listed, error) {
	out, err := output(ctx, "go", append([]string{"list", "-e", "-json=ImportPath,Dir,Name,GoFiles,Deps,TestGoFiles,XTestGoFiles,TestImports,XTestImports"}, args...)...)
	if err != nil {
		return nil, err
	}
	packages := map[string]*listed{}
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("answer of go list: %w", err)
		}
		packages[p.ImportPath] = &p
	}
}

// sortOut sorts the packages in tagged, which were listed for a build with failpoints; all is every
// package of the module in the ordinary build.
func sortOut(all, tagged map[string]*listed) (*suite, error) {
	readers := map[string]bool{}
	for path, p := range all {
		// A command's code is linked into no test but its own.
		if p.Name != "main" {
			reads, err := anyReads(p.Dir, p.GoFiles)
			if err != nil {
				return nil, err
			}
			readers[path] = reads
		}
	}
	s := &suite{}
	for _, path := range slices.Sorted(maps.Keys(tagged)) {
		p := tagged[path]
		if len(p.tests()) == 0 {
			continue
		}
		linked := testLinks(p, tagged, all)
		reads, err := anyReads(p.Dir, p.tests())
		if err != nil {
			return nil, err
		}
		reads = reads || slices.ContainsFunc(linked, func(path string) bool { return readers[path] })
		s.add(p, all[path], reads, slices.Contains(linked, serversPackage))
		if slices.Contains(linked, wholePackage) {
			s.whole = append(s.whole, path)
		}
	}
	return s, nil
}

// add puts one package into the lists; plain is the same package without failpoints.
func (s *suite) add(tagged, plain *listed, stores, startsServers bool) {
	tests, more := &s.pure, &s.pureFailpoints
	if stores {
		tests, more = &s.stores, &s.storesFailpoints
	}
	if plain != nil && len(plain.tests()) > 0 {
		*tests = append(*tests, tagged.ImportPath)
	}
	if plain == nil || !slices.Equal(plain.tests(), tagged.tests()) {
		*more = append(*more, tagged.ImportPath)
	}
	if startsServers {
		s.servers = append(s.servers, tagged.ImportPath)
	}
}

// lanes parts packages: into those that test whole servers, which take longest, and the rest.
func (s *suite) lanes(packages []string, n int) [][]string {
	if n == 1 {
		return [][]string{packages}
	}
	parts := make([][]string, 2)
	for _, path := range packages {
		lane := 1
		if slices.Contains(s.whole, path) {
			lane = 0
		}
		parts[lane] = append(parts[lane], path)
	}
	return parts
}

func (s *suite) leaveOutServers() {
	for _, list := range []*[]string{&s.pure, &s.stores, &s.pureFailpoints, &s.storesFailpoints} {
		*list = slices.DeleteFunc(*list, func(path string) bool { return slices.Contains(s.servers, path) })
	}
}

// testLinks lists the packages of the module that a package's test program is made of.
func testLinks(p *listed, known ...map[string]*listed) []string {
	links := append([]string{p.ImportPath}, p.Deps...)
	for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
		for _, packages := range known {
			if imported := packages[path]; imported != nil {
				links = append(append(links, path), imported.Deps...)
				break
			}
		}
	}
	return links
}

// anyReads tells whether one of the files names a variable of the tests.
func anyReads(dir string, files []string) (bool, error) {
	for _, file := range files {
		source, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return false, fmt.Errorf("look for %s…: %w", variablePrefix[1:], err)
		}
		if bytes.Contains(source, []byte(variablePrefix)) {
			return true, nil
		}
	}
	return false, nil
}
