package deploy

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/testkit/tree"
)

// instruction is one of a Dockerfile, its flags apart.
type instruction struct {
	name  string
	flags []string
	args  []string
}

func parseDockerfile(text string) []instruction {
	var all []instruction
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		i := instruction{name: words[0]}
		for _, word := range words[1:] {
			if strings.HasPrefix(word, "--") && len(i.args) == 0 {
				i.flags = append(i.flags, word)
			} else {
				i.args = append(i.args, word)
			}
		}
		all = append(all, i)
	}
	return all
}

func TestParseDockerfile(t *testing.T) {
	require.Equal(t, []instruction{
		{name: "FROM", args: []string{"a:1", "AS", "b"}},
		{name: "COPY", flags: []string{"--from=b"}, args: []string{"x", "y", "z"}},
		{name: "RUN", args: []string{"go", "--flag"}},
	}, parseDockerfile("# syntax\nFROM a:1 AS b\n\nCOPY --from=b x \\\n  y z\nRUN go --flag\n"))
}

func TestWhatTheImageCopiesIsThere(t *testing.T) {
	root, err := tree.Root()
	require.NoError(t, err)
	stages, copies := map[string]bool{}, 0
	for _, i := range parseDockerfile(string(readFile(t, "Dockerfile"))) {
		switch i.name {
		case "FROM":
			require.Regexp(t, pinned, i.args[0])
			if len(i.args) == 3 {
				stages[i.args[2]] = true
			}
		case "COPY":
			copies++
			if len(i.flags) > 0 {
				stage, found := strings.CutPrefix(i.flags[0], "--from=")
				require.True(t, found, i.flags[0])
				require.True(t, stages[stage], "no stage %s above", stage)
				continue
			}
			for _, source := range i.args[:len(i.args)-1] {
				matches, err := filepath.Glob(filepath.Join(root, source))
				require.NoError(t, err)
				require.NotEmpty(t, matches, "%s is not there", source)
			}
		}
	}
	require.Positive(t, copies)
}

func TestTheImageIsBuiltWithTheModulesGo(t *testing.T) {
	want := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(readFile(t, "go.mod")))
	require.Len(t, want, 2)
	require.Contains(t, string(readFile(t, "Dockerfile")), "FROM golang:"+want[1]+" AS ")
}

func TestTheImageRunsWithoutRights(t *testing.T) {
	last := map[string][]string{}
	for _, i := range parseDockerfile(string(readFile(t, "Dockerfile"))) {
		if i.name == "FROM" {
			clear(last)
		}
		last[i.name] = i.args
	}
	require.Len(t, last["USER"], 1)
	require.NotContains(t, []string{"0", "root"}, last["USER"][0])
	require.Contains(t, strings.Join(last["HEALTHCHECK"], " "), "http://127.0.0.1:8080/readyz")
	require.Equal(t, []string{`["circle"]`}, last["ENTRYPOINT"])
	require.Equal(t, []string{"/data"}, last["VOLUME"])
	for _, setting := range last["ENV"] {
		name, _, _ := strings.Cut(setting, "=")
		require.Contains(t, settings(), name)
	}
	require.Contains(t, last["ENV"], "CIRCLE_DATA_DIR=/data")
}
