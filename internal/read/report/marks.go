package report

import (
	"cmp"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/compare"
)

// mark is the verdict as one character that survives black-and-white print
// and terminals without colour.
func mark(v compare.Verdict) string {
	switch v {
	case compare.Better:
		return "+"
	case compare.Worse:
		return "−"
	case compare.Equivalent:
		return "="
	case compare.CannotTell:
		return "?"
	case compare.Invalid:
		return "×"
	case compare.Unsupported:
		return "/"
	}
	return ""
}

// marks explains mark, once per report.
const marks = "+ better   − worse   = equivalent   ? cannot tell   × invalid   / unsupported"

// verdictClass names a verdict in the style sheet.
func verdictClass(v compare.Verdict) string {
	return "v-" + strings.ReplaceAll(cmp.Or(string(v), "none"), " ", "-")
}

// shellLine prints an argv so that a POSIX shell reads it back unchanged.
func shellLine(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = shellWord(word)
	}
	return strings.Join(words, " ")
}

func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./=,:@%+", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// directed adds which way is better.
func directed(title, name string) string {
	if better := directionOf(name); better != "" {
		return title + ", " + better + " is better"
	}
	return title
}

func directionOf(name string) string { return metric.Shown(name).Better }
