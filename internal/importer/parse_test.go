package importer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/text"
)

func TestParseLikes(t *testing.T) {
	for _, c := range []struct {
		name, line, object string
		likers             []string
	}{
		{"commas", "8,1,2", "8", []string{"1", "2"}},
		{"brackets", "8,[1,2]", "8", []string{"1", "2"}},
		{"a colon and brackets", "8:[1, 2]", "8", []string{"1", "2"}},
		{"white space", " 8 , 1 ,2 ", "8", []string{"1", "2"}},
		{"nobody", "8", "8", nil},
		{"nobody behind a comma", "8,", "8", nil},
		{"nobody in brackets", "8:[]", "8", nil},
		{"twice", "8,1,1", "8", []string{"1", "1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			object, likers, err := parseLikes(c.line)
			require.NoError(t, err)
			assert.Equal(t, c.object, object)
			assert.Equal(t, c.likers, likers)
		})
	}
}

func requireID(t *testing.T, id string) {
	if id == "" || len(id) > social.MaxExternalIDLength || !utf8.ValidString(id) || strings.ContainsAny(id, ",:[] \t\r\n") {
		t.Fatalf("%q is not an id", id)
	}
}

func FuzzLines(f *testing.F) {
	for _, line := range []string{"1,Ann", "1,2", "8,[1,2]", "8:[1,2],", ",", "8", "\ufeff1,2", "8,\xff", "1,a,b", "[,:]", "8\r"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if id, _, err := parseUser(line); err == nil {
			requireID(t, id)
		}
		if a, b, err := parsePair(line); err == nil {
			requireID(t, a)
			requireID(t, b)
			if x, y, err := parsePair(a + "," + b); err != nil || x != a || y != b {
				t.Fatalf("%q is read as %q and %q, and these as %q and %q (%v)", line, a, b, x, y, err)
			}
		}
		if object, likers, err := parseLikes(line); err == nil {
			for _, id := range append(likers, object) {
				requireID(t, id)
			}
			again, same, err := parseLikes(strings.Join(append([]string{object}, likers...), ","))
			if err != nil || again != object || !slices.Equal(same, likers) {
				t.Fatalf("%q is read as %q and %q, and these as %q and %q (%v)", line, object, likers, again, same, err)
			}
		}
	})
}

func TestCleanName(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"as it is", "Katherine Pullman", "Katherine Pullman"},
		{"white space", "  Ann \t Lee\r", "Ann Lee"},
		{"full width", "ＡＢ１", "AB1"},
		{"control characters", "A\x00n\x1bn", "Ann"},
		{"not UTF-8", "A\xffn", "A\ufffdn"},
		{"nothing", " ", "player"},
		{"nothing to see", "\u200b\u3164", "player"},
		{"long", strings.Repeat("a", 25), strings.Repeat("a", 25)},
		{"longer than there is room", strings.Repeat("界", 300), strings.Repeat("界", 240)},
		{"one that grows", strings.Repeat("\ufdfa", 20), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := cleanName(c.in)
			if c.want != "" {
				assert.Equal(t, c.want, got)
			}
			assert.LessOrEqual(t, utf8.RuneCountInString(got), maxNameRunes)
			assert.LessOrEqual(t, len(text.FoldName(got)), maxNameKeyBytes)
			assert.NotEmpty(t, text.FoldName(got))
		})
	}
}

func TestNamesAreHandedOutOnce(t *testing.T) {
	n := newNames()
	seen := map[string]bool{}
	for _, c := range []struct{ base, want string }{
		{"Ann", "Ann"}, {"Ann 2", "Ann 2"}, {"ANN", "ANN 3"}, {"Ann", "Ann 4"}, {"Ann 2", "Ann 2 2"}, {"Ann 4", "Ann 4 2"}, {"安", "安"}, {"安", "安 2"},
	} {
		name, key := n.name(c.base)
		assert.Equal(t, c.want, name)
		assert.Equal(t, text.FoldName(name), key)
		assert.False(t, seen[key], key)
		seen[key] = true
	}
}
