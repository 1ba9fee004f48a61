package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReportShowsWhatGoTestAloneWould(t *testing.T) {
	for _, c := range []struct {
		name, events, want string
		counts             counts
		failures           []string
	}{
		{
			name: "passing tests are silent",
			events: `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}`,
			want:   "ok  \tp\t0.1s\n",
			counts: counts{passed: 1, skipped: 1},
		},
		{
			name: "a failing test shows its output",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: wrong\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}`,
			want:     "    a_test.go:1: wrong\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tp\t0.1s\n",
			counts:   counts{failed: 1},
			failures: []string{"p.TestA"},
		},
		{
			name: "a package that dies shows the output of the test that ran",
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"goroutine 7 is stuck\n"}
{"Action":"output","Package":"p","Output":"exit status 2\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}`,
			want:     "exit status 2\ngoroutine 7 is stuck\nFAIL\tp\t0.1s\n",
			counts:   counts{failed: 1},
			failures: []string{"p"},
		},
		{
			name: "a package that does not build",
			events: `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: undefined: x\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p"}`,
			want:     "p.go:1: undefined: x\nFAIL\tp [build failed]\n",
			counts:   counts{failed: 1},
			failures: []string{"p"},
		},
		{name: "what is no event is passed on", events: "go: warning\n", want: "go: warning\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			r := &report{out: &out, kept: map[[2]string][]string{}}
			require.NoError(t, r.read(strings.NewReader(c.events)))
			require.Equal(t, c.want, out.String())
			require.Equal(t, c.counts, r.counts)
			require.Equal(t, c.failures, r.failures)
		})
	}
}

func TestCountsCloseARun(t *testing.T) {
	require.Equal(t, "3 passed, 0 failed", counts{passed: 3}.String())
	require.Equal(t, "3 passed, 1 failed, 2 skipped", counts{3, 1, 2}.String())
}

func TestTestRunsPackages(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod":           "module m\n\ngo 1.26\n",
		"good/a_test.go":   "package good\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestEnv(t *testing.T) {\n\tif os.Getenv(\"CIRCLE_GIVEN\") != \"1\" || os.Getenv(\"CIRCLE_LEAKED\") != \"\" {\n\t\tt.Fatal(\"environment\")\n\t}\n}\n",
		"bad/a_test.go":    "package bad\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Error(\"it is bad\") }\n",
		"hollow/a_test.go": "package hollow\n",
	})
	t.Chdir(dir)
	t.Setenv("CIRCLE_LEAKED", "1")
	for _, c := range []struct {
		name, pkg, err, shows string
		total                 counts
	}{
		{"passing", "m/good", "", "ok  \tm/good", counts{passed: 1}},
		{"failing", "m/bad", "failing: m/bad.TestBad", "it is bad", counts{failed: 1}},
		{"without a test", "m/hollow", "no test ran in m/hollow", "", counts{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			r := &run{out: &out}
			err := r.test(t.Context(), []string{"CIRCLE_GIVEN=1"}, []string{c.pkg}, "-count", "1")
			if c.err == "" {
				require.NoError(t, err, out.String())
			} else {
				require.ErrorContains(t, err, c.err)
			}
			require.Contains(t, out.String(), c.shows)
			require.Equal(t, c.total, r.total)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, (&run{out: &bytes.Buffer{}}).test(ctx, nil, []string{"m/good"}), context.Canceled)
}

// write writes files with the given content below dir.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for file, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
}
