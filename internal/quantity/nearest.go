package quantity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxWord bounds the words that Nearest compares; longer ones are near nothing.
const maxWord = 64

// Nearest returns the candidate that a mistyped word most probably meant, or
// "" when none is near: at most a third of the word's letters may differ, and
// one may in short words. The first of equally near candidates wins.
//
// Source: F. Damerau, A technique for computer detection and correction of
// spelling errors, CACM 1964; the restricted distance (optimal string alignment).
func Nearest(word string, candidates []string) string {
	if len(word) > maxWord {
		return ""
	}
	best, least := "", max(1, utf8.RuneCountInString(word)/3)+1
	for _, c := range candidates {
		if len(c) > maxWord {
			continue
		}
		if d := distance([]rune(word), []rune(c)); d < least && d < utf8.RuneCountInString(c) {
			best, least = c, d
		}
	}
	return best
}

// Hint ends an error about a mistyped word with the nearest valid one, or with
// all of them when none is near.
func Hint(word string, valid []string) string {
	if near := Nearest(word, valid); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(valid) == 0 {
		return "there is none"
	}
	return "expected one of " + strings.Join(valid, ", ")
}

// Nearests returns the candidates that are most like a word, each once and the nearest
// first. Candidates that contain the word, or are contained in it, stand before those
// whose spelling is near: for "rate", link.rate before date.
func Nearests(word string, candidates []string, most int) []string {
	word = Clip(strings.ToLower(word), maxWord)
	far := func(candidate string) int {
		c := strings.ToLower(candidate)
		if len(c) > 2 && len(word) > 2 && (strings.Contains(c, word) || strings.Contains(word, c)) {
			return 0
		}
		return distance([]rune(word), []rune(Clip(c, maxWord)))
	}
	near := slices.Clone(candidates)
	slices.SortStableFunc(near, func(a, b string) int {
		return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	near = slices.Compact(near)
	return near[:min(most, len(near))]
}

// distance counts the insertions, deletions, substitutions and swaps of
// neighbours that turn a into b.
func distance(a, b []rune) int {
	before, above := make([]int, len(b)+1), make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}

// Clip shortens a text that an error quotes to a number of characters, and
// marks that it did.
func Clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}
