package web_test

import (
	"io/fs"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/web"
)

func TestReadyNeedsEveryFile(t *testing.T) {
	whole := fstest.MapFS{}
	for _, name := range []string{"graphiql.min.js", "graphiql.min.css", "react.production.min.js", "react-dom.production.min.js"} {
		whole["vendor/"+name] = &fstest.MapFile{Data: []byte("x")}
	}
	require.True(t, web.Ready(whole))
	for name := range whole {
		file := whole[name]
		whole[name] = &fstest.MapFile{}
		assert.False(t, web.Ready(whole), "%s is empty", name)
		delete(whole, name)
		assert.False(t, web.Ready(whole), "%s is missing", name)
		whole[name] = file
	}
}

func TestThePageLoadsNothingFromElsewhere(t *testing.T) {
	page, err := fs.ReadFile(web.Playground(), "index.html")
	require.NoError(t, err)
	links := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, links)
	for _, link := range links {
		assert.Regexp(t, `^playground/[a-z./-]+$`, link[1])
	}
	assert.NotRegexp(t, `<script>|<style>|style="`, string(page), "the content policy refuses inline code")
}

func TestEmbeddedPageIsWhole(t *testing.T) {
	for _, name := range []string{"index.html", "playground.js", "playground.css", "vendor/README.md"} {
		_, err := fs.Stat(web.Playground(), name)
		assert.NoError(t, err)
	}
}
