package report

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
)

// finite holds for numbers that can be drawn; x − x is NaN for NaN and ±Inf.
func finite(x float64) bool { return x-x == 0 }

// brief cuts a number to five significant digits: more than a figure can
// show, and half the bytes.
func brief(x float64) float64 {
	cut, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	if err != nil {
		return 0
	}
	return cut
}

func ratio(x float64) string { return quantity.FormatFigure(x) + "×" }

func ratioInterval(low, high float64) string {
	return quantity.FormatFigure(low) + "–" + quantity.FormatFigure(high)
}

// probability prints p; below 0.0001 only that bound, which is all it means.
func probability(p float64) string {
	switch {
	case !finite(p):
		return "–"
	case p < 1e-4:
		return "<0.0001"
	case p < 0.1:
		return strconv.FormatFloat(p, 'f', 4, 64)
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

func percent(share float64) string { return quantity.FormatFigure(100*share) + " %" }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// at names the cell inside a sentence, nothing when there is only one.
func at(cell string) string {
	if cell == "" {
		return ""
	}
	return " at " + cell
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

// labelOf is how tables and charts name a metric.
func labelOf(name string) string { return metric.Shown(name).Label }

// scaleFor is the unit to show values of a metric in, of which the largest is
// given.
func scaleFor(name string, largest float64) metric.Scale { return metric.Shown(name).Scale(largest) }

func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
