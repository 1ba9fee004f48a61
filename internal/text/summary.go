package text

import "github.com/rivo/uniseg"

// Summary returns the first graphemes of s, at most n of them, and how many those are. Graphemes
// are what a reader takes for one character, after Unicode Standard Annex 29.
func Summary(s string, n int) (summary string, graphemes int) {
	rest, state := s, -1
	for graphemes < n && rest != "" {
		_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		graphemes++
	}
	return s[:len(s)-len(rest)], graphemes
}

// Excerpt is Summary with a bound on bytes too: it ends before the first grapheme that would pass
// maxBytes.
func Excerpt(s string, n, maxBytes int) (excerpt string, whole bool) {
	rest, state, end := s, -1, 0
	for range n {
		if rest == "" {
			break
		}
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if end+len(cluster) > maxBytes {
			break
		}
		end += len(cluster)
	}
	return s[:end], end == len(s)
}
