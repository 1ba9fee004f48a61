package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

func TestNameAccepts(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"plain", "Bertram", "Bertram"},
		{"Chinese", "阿青", "阿青"},
		{"emoji inside", "C😀line", "C😀line"},
		{"white space around", " \t dora\n", "dora"},
		{"runs of white space inside", "ann  \u3000 lee", "ann lee"},
		{"full width", "ＡＢ１", "AB1"},
		{"decomposed", "Jose\u0301", "José"},
		{"two characters", "ab", "ab"},
		{"twenty characters", strings.Repeat("界", 20), strings.Repeat("界", 20)},
		{"twenty emoji", strings.Repeat("👍", 20), strings.Repeat("👍", 20)},
		{"a family is five characters", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"heart on fire", "❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"},
		{"skin tone and joiner", "👩🏽\u200d🚀", "👩🏽\u200d🚀"},
		{"keycap", "1\ufe0f\u20e3", "1\ufe0f\u20e3"},
		{"flag of a country", "🇨🇳", "🇨🇳"},
		{"flag of Scotland", "Al 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "Al 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"},
		{"Persian with non-joiner", "می\u200cنا", "می\u200cنا"},
		{"ideographic variant", "葛\U000e0100城", "葛\U000e0100城"},
		{"Arabic", "مريم", "مريم"},
		{"Thai", "ก้อย", "ก้อย"},
		{"Devanagari", "प्रिया", "प्रिया"},
		{"Hangul jamo are composed", "\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			name, key, err := Name(c.in)
			require.NoError(t, err)
			assert.Equal(t, c.want, name)
			assert.Equal(t, FoldName(c.in), key)
		})
	}
}

func TestNameRefuses(t *testing.T) {
	cases := []struct {
		name, in string
		want     social.Code
	}{
		{"empty", "", social.CodeRequired},
		{"white space", " \u3000\n", social.CodeRequired},
		{"one character", "a", social.CodeTooShort},
		{"one after trimming", " a ", social.CodeTooShort},
		{"one after composing", "e\u0301", social.CodeTooShort},
		{"one visible character", "❤\ufe0f", social.CodeTooShort},
		{"twenty-one characters", strings.Repeat("a", 21), social.CodeTooLong},
		{"one that becomes eighteen, twice", "\ufdfa\ufdfa", social.CodeTooLong},
		{"a great many combining marks", "a" + strings.Repeat("\u0301", 1000), social.CodeTooLong},
		{"line end", "ann\nlee", social.CodeInvalid},
		{"line separator", "ann\u2028lee", social.CodeInvalid},
		{"tab", "ann\tlee", social.CodeInvalid},
		{"null", "ann\x00lee", social.CodeInvalid},
		{"next line", "ann\u0085lee", social.CodeInvalid},
		{"zero width space", "bert\u200bram", social.CodeInvalid},
		{"joiner between letters", "bert\u200dram", social.CodeInvalid},
		{"non-joiner between letters", "bert\u200cram", social.CodeInvalid},
		{"joiner at the end", "👨\u200d", social.CodeInvalid},
		{"soft hyphen", "bert\u00adram", social.CodeInvalid},
		{"byte order mark", "\ufeffbertram", social.CodeInvalid},
		{"right-to-left override", "bert\u202eram", social.CodeInvalid},
		{"variation selector after a letter", "bert\ufe0fram", social.CodeInvalid},
		{"tags without a flag", "bert\U000e0067\U000e007f", social.CodeInvalid},
		{"Hangul filler", "\u3164\u3164", social.CodeInvalid},
		{"Braille blank", "\u2800\u2800", social.CodeInvalid},
		{"grapheme joiner", "bert\u034fram", social.CodeInvalid},
		{"private use", "bert\ue000ram", social.CodeInvalid},
		{"unassigned", "bert\u0378ram", social.CodeInvalid},
		{"not UTF-8", "bert\xffram", social.CodeInvalid},
		{"replacement character", "bert\ufffdram", social.CodeInvalid},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Name(c.in)
			var e *social.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, c.want, e.Code)
			assert.Equal(t, []string{"name"}, e.Field)
		})
	}
}

func TestFoldName(t *testing.T) {
	cases := []struct {
		name, a, b string
		same       bool
	}{
		{"case", "BERTRAM", "bertram", true},
		{"width", "Ｂertram", "bertram", true},
		{"half width kana", "ｶﾞ", "ガ", true},
		{"sharp s", "Straße", "STRASSE", true},
		{"final sigma", "ΣΟΦΟΣ", "σοφος", true},
		{"composed", "Jose\u0301", "josé", true},
		{"white space", " ann  lee", "Ann\u3000Lee", true},
		{"variation selector", "❤\ufe0f!", "❤!", true},
		{"invisible", "bert\u200bram", "bertram", true},
		{"accent", "jose", "José", false},
		{"accent with white space", "jose", "José ", false},
		{"emoji", "👍👍", "🎉🎉", false},
		{"white space within", "annlee", "ann lee", false},
		{"look-alike letters of two scripts", "bertram", "bеrtram", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.same, FoldName(c.a) == FoldName(c.b), "%q %q", FoldName(c.a), FoldName(c.b))
		})
	}
	assert.Equal(t, strings.Repeat("界", 500), FoldName(strings.Repeat("界", 500)), "no limit")
	assert.Empty(t, FoldName(" \u200b\u3164 "))
}

func FuzzFoldName(f *testing.F) {
	for _, s := range []string{"BERTRAM", "Straße", "\u0345\u0301ᾳ", "\u03d2\u0301", "İ", "ﬃ", "a\u00a8b", "\xff", "❤\ufe0f\u200d🔥", "e\u200b\u0301", "\u1e9b\u0323", "\ufdfa", "\u0390\u0399\u0345"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key := FoldName(s)
		if again := FoldName(key); again != key {
			t.Fatalf("%q folds to %q, that to %q", s, key, again)
		}
		if !utf8.ValidString(key) {
			t.Fatalf("%q folds to %q, which is not UTF-8", s, key)
		}
		name, nameKey, err := Name(s)
		if err != nil {
			return
		}
		if nameKey != key {
			t.Fatalf("%q has the key %q as a name and %q as a text", s, nameKey, key)
		}
		if again, _, err := Name(name); err != nil || again != name {
			t.Fatalf("%q is the name %q, that %q (%v)", s, name, again, err)
		}
	})
}
