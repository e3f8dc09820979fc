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

// joined puts the parts that are not empty together.
func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}

// bracketed is what stands behind a value; nothing for nothing.
func bracketed(detail string) string {
	if detail == "" {
		return ""
	}
	return " (" + detail + ")"
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
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

// levelsText lists levels by their factors' names, "depth=1, size=64".
func levelsText(levels map[string]string) string {
	var parts []string
	for _, name := range sortedKeys(levels) {
		parts = append(parts, name+"="+levels[name])
	}
	return strings.Join(parts, ", ")
}

// withUnit is a value with its unit.
func withUnit(value float64, s metric.Scale) string {
	return strings.TrimSpace(s.Format(value) + " " + s.Unit)
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

// axisTitle names a metric with the unit that it is shown in.
func axisTitle(name string, s metric.Scale) string {
	if s.Unit == "" {
		return labelOf(name)
	}
	return labelOf(name) + " (" + s.Unit + ")"
}

// directed adds which way is better.
func directed(title, name string) string {
	if better := directionOf(name); better != "" {
		return title + ", " + better + " is better"
	}
	return title
}

func directionOf(name string) string { return metric.Shown(name).Better }

// sentence makes a clause a sentence: it begins with a capital and ends with a
// full stop.
func sentence(clause string) string { return upperFirst(dotted(clause)) }

// dotted ends a clause that begins with a name, whose letters stay as they are.
func dotted(clause string) string { return strings.TrimSuffix(clause, ".") + "." }

func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
