package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"circle/internal/social"
)

// Name makes a player's name out of what was typed: NFKC, trimmed, each run of white space one
// space. key is FoldName of it: two names with the same key are the same name.
//
// A name has 2 to 20 characters after normalisation, of any script and emoji, and its key has 2 too.
// A character is a code point, as everywhere in the contract, so a family emoji of three with its
// joiners is five. Refused are control characters and line ends inside, unassigned and private code
// points, text that is not UTF-8, and invisible characters, except where a script or an emoji is
// written with them.
//
// Errors, at field name: REQUIRED, TOO_SHORT, TOO_LONG, INVALID.
func Name(s string) (name, key string, err error) {
	if !utf8.ValidString(s) {
		return "", "", nameError(social.CodeInvalid, "A name is text.")
	}
	trimmed := strings.TrimSpace(s)
	if trimmed == "" {
		return "", "", nameError(social.CodeRequired, "A name must hold something.")
	}
	if strings.ContainsFunc(trimmed, isControl) {
		return "", "", nameError(social.CodeInvalid, "A name is one line without control characters.")
	}
	name = joinFields(norm.NFKC.String(trimmed))
	length := utf8.RuneCountInString(name)
	switch {
	case length > social.MaxNameLength:
		return "", "", nameError(social.CodeTooLong, "A name has at most 20 characters.")
	case !visible(name):
		return "", "", nameError(social.CodeInvalid, "A name is made of visible characters.")
	}
	key = FoldName(name)
	if length < social.MinNameLength || utf8.RuneCountInString(key) < social.MinNameLength {
		return "", "", nameError(social.CodeTooShort, "A name has at least 2 characters.")
	}
	return name, key, nil
}

func nameError(code social.Code, message string) error { return social.Fail(code, message, "name") }

// MaxKeyLength bounds the keys that are looked up at all, in bytes: no stored name has a longer one.
const MaxKeyLength = 1020

// FoldName is the key under which a name is unique and found: what is left when case, width,
// compatibility forms, invisible characters and the amount of white space make no difference. It has
// no limits; what holds nothing visible has the empty key.
func FoldName(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	// Unicode does not promise that one round is enough: folding can give what normalisation
	// changes again. It settles after two in practice.
	for range 4 {
		folded := strings.Map(dropIgnorable, cases.Fold().String(norm.NFKC.String(s)))
		folded = joinFields(norm.NFKC.String(folded))
		if folded == s {
			break
		}
		s = folded
	}
	return s
}

func joinFields(s string) string { return strings.Join(strings.Fields(s), " ") }

func isControl(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }

func dropIgnorable(r rune) rune {
	if ignorable(r) {
		return -1
	}
	return r
}

// ignorable tells what is drawn as nothing. The Braille blank is not ignorable in Unicode, but is
// nothing to see either.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == '\u2800'
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	keycap             = '\u20e3'
	blackFlag          = '\U0001f3f4'
)

// joining are the scripts in whose spelling joiners and non-joiners have a place.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
	unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
}

// visible says whether all of a normalised name can be seen, or belongs to what can.
func visible(name string) bool {
	runes := []rune(name)
	var prev rune
	for i, r := range runes {
		var next rune
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		switch {
		case ignorable(r):
			if !belongs(prev, r, next) {
				return false
			}
		case r == utf8.RuneError:
			return false
		case !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs):
			return false
		}
		prev = r
	}
	return true
}

// belongs says whether the invisible r is part of how the characters around it are written.
func belongs(prev, r, next rune) bool {
	switch {
	case unicode.Is(unicode.Variation_Selector, r):
		return emoji(prev) || next == keycap || unicode.In(prev, unicode.Han, unicode.Mongolian)
	case r == zeroWidthJoiner && emoji(next):
		return emoji(prev) || unicode.Is(unicode.Variation_Selector, prev)
	case r == zeroWidthJoiner, r == zeroWidthNonJoiner:
		return unicode.In(prev, joining...) && unicode.In(next, joining...)
	case tag(r):
		return prev == blackFlag || tag(prev)
	}
	return false
}

// emoji tells roughly the characters that emoji sequences are made of: symbols, among them the skin
// tones.
func emoji(r rune) bool { return unicode.In(r, unicode.So, unicode.Sm, unicode.Sk) }

// tag tells the characters that follow a black flag to make the flag of a region.
func tag(r rune) bool { return r >= '\U000e0020' && r <= '\U000e007f' }
