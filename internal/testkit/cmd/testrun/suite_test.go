package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/testkit/tree"
)

func TestSortOutFindsWhatTestsNeed(t *testing.T) {
	dir := t.TempDir()
	reads := "package p\n\nconst v = " + variablePrefix + "X\"\n"
	write(t, dir, map[string]string{
		"plain/a_test.go":   "package p\n",
		"direct/a_test.go":  reads,
		"kit/kit.go":        reads,
		"through/a_test.go": "package p\n", "far/a_test.go": "package p\n", "starter/a_test.go": "package p\n",
		"tagged/a_test.go": "package p\n", "half/a_test.go": "package p\n", "half/b_test.go": "package p\n",
		"cmd/main.go": reads, "cmd/a_test.go": "package p\n",
	})
	pkg := func(name string, p listed) *listed {
		p.ImportPath, p.Dir = "m/"+name, filepath.Join(dir, name)
		return &p
	}
	one := []string{"a_test.go"}
	all := map[string]*listed{}
	for _, p := range []*listed{
		pkg("plain", listed{TestGoFiles: one}),
		pkg("direct", listed{XTestGoFiles: one}),
		pkg("kit", listed{GoFiles: []string{"kit.go"}}),
		pkg("helper", listed{Deps: []string{"m/kit"}}),
		pkg("through", listed{TestGoFiles: one, TestImports: []string{"m/kit", wholePackage}}),
		pkg("far", listed{TestGoFiles: one, XTestImports: []string{"m/helper"}}),
		pkg("starter", listed{TestGoFiles: one, TestImports: []string{serversPackage}}),
		pkg("tagged", listed{}),
		pkg("half", listed{TestGoFiles: one, TestImports: []string{"m/kit"}}),
		pkg("cmd", listed{Name: "main", GoFiles: []string{"main.go"}, TestGoFiles: one}),
		{ImportPath: serversPackage}, {ImportPath: wholePackage},
	} {
		all[p.ImportPath] = p
	}
	tagged := map[string]*listed{}
	for path, p := range all {
		tagged[path] = p
	}
	tagged["m/tagged"] = pkg("tagged", listed{TestGoFiles: one})
	tagged["m/half"] = pkg("half", listed{TestGoFiles: []string{"a_test.go", "b_test.go"}, TestImports: []string{"m/kit"}})

	s, err := sortOut(all, tagged)
	require.NoError(t, err)
	require.Equal(t, []string{"m/cmd", "m/plain", "m/starter"}, s.pure)
	require.Equal(t, []string{"m/direct", "m/far", "m/half", "m/through"}, s.stores)
	require.Equal(t, []string{"m/tagged"}, s.pureFailpoints)
	require.Equal(t, []string{"m/half"}, s.storesFailpoints)
	require.Equal(t, []string{"m/starter"}, s.servers)
	require.Equal(t, []string{"m/through"}, s.whole)
	require.Equal(t, [][]string{s.stores}, s.lanes(s.stores, 1))
	require.Equal(t, [][]string{{"m/through"}, {"m/direct", "m/far", "m/half"}}, s.lanes(s.stores, 2))

	s.leaveOutServers()
	require.Equal(t, []string{"m/cmd", "m/plain"}, s.pure)
}

func TestDiscoverSortsThisModule(t *testing.T) {
	root, err := tree.Root()
	require.NoError(t, err)
	t.Chdir(root)
	r := &run{patterns: []string{everything}}
	s, err := r.discover(t.Context())
	require.NoError(t, err)
	require.Contains(t, s.pure, "circle/internal/testkit/tree")
	require.Contains(t, s.servers, serversPackage)
	require.Contains(t, s.pureFailpoints, "circle/internal/failpoint")
	require.Contains(t, s.stores, "circle/internal/store/sqlstore")
	require.Contains(t, s.stores, "circle/internal/store/redisstore")
	require.Contains(t, s.whole, wholePackage)
	require.NotContains(t, s.pure, "circle/internal/store/sqlstore")
}
