package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"circle/internal/text"
)

func TestSummaryKeepsGraphemesWhole(t *testing.T) {
	family := "👨‍👩‍👧‍👦"
	for _, c := range []struct {
		name, in  string
		n         int
		want      string
		graphemes int
	}{
		{"nothing", "", 5, "", 0},
		{"shorter than asked", "abc", 5, "abc", 3},
		{"as long as asked", "abc", 3, "abc", 3},
		{"Chinese", "社交圈的动态", 3, "社交圈", 3},
		{"a family is one", family + "x", 1, family, 1},
		{"a combining mark stays with its letter", "e\u0301a", 1, "e\u0301", 1},
		{"flags", "🇨🇳🇩🇪", 1, "🇨🇳", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, graphemes := text.Summary(c.in, c.n)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.graphemes, graphemes)
		})
	}
}

func TestExcerptEndsBeforeItsBytesDo(t *testing.T) {
	excerpt, whole := text.Excerpt("a"+strings.Repeat("\u0301", 2000)+"b", 140, 2048)
	assert.Empty(t, excerpt, "the first grapheme alone is too long")
	assert.False(t, whole)
	excerpt, whole = text.Excerpt("short", 140, 2048)
	assert.Equal(t, "short", excerpt)
	assert.True(t, whole)
}

func TestExcerptIsAPrefixWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		n := rapid.IntRange(1, 20).Draw(t, "graphemes")
		excerpt, whole := text.Excerpt(s, n, 40)
		assert.True(t, strings.HasPrefix(s, excerpt))
		assert.LessOrEqual(t, len(excerpt), 40)
		assert.Equal(t, excerpt == s, whole)
		_, graphemes := text.Summary(excerpt, n+1)
		assert.LessOrEqual(t, graphemes, n)
	})
}
