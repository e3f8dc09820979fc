package part

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
)

// NoBreak keeps a figure and its unit on one line.
const NoBreak = "\u00a0"

// Finite holds for numbers that can be drawn; x − x is NaN for NaN and ±Inf.
func Finite(x float64) bool { return x-x == 0 }

// Times prints a ratio: "0.61×".
func Times(x float64) string { return quantity.FormatFigure(x) + "×" }

// Span prints the interval of a ratio: "0.58–0.64".
func Span(low, high float64) string {
	return quantity.FormatFigure(low) + "–" + quantity.FormatFigure(high)
}

// TimesIn prints a ratio with its interval: "0.61× (0.58–0.64)".
func TimesIn(x, low, high float64) string { return Times(x) + Bracketed(Span(low, high)) }

// Probability prints p; below 0.0001 only that bound, which is all it means.
func Probability(p float64) string {
	switch {
	case !Finite(p):
		return None
	case p < 1e-4:
		return "<0.0001"
	case p < 0.1:
		return strconv.FormatFloat(p, 'f', 4, 64)
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

// Joined puts the texts that are not empty together.
func Joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}

// Bracketed is what stands behind a value; nothing for nothing.
func Bracketed(detail string) string {
	if detail == "" {
		return ""
	}
	return " (" + detail + ")"
}

// Levels lists levels by their factors' names, "depth=1, size=64".
func Levels(levels map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		all = append(all, name+"="+levels[name])
	}
	return strings.Join(all, ", ")
}

// WithUnit is a value with its unit.
func WithUnit(value float64, s metric.Scale) string {
	return strings.TrimSpace(s.Format(value) + " " + s.Unit)
}

// Label is how tables, charts and sentences name a metric.
func Label(name string) string { return metric.Shown(name).Label }

// AxisTitle names a metric with the unit that it is shown in.
func AxisTitle(name string, s metric.Scale) string {
	return Label(name) + Bracketed(s.Unit)
}

// Sentence makes a clause a sentence: it begins with a capital and ends with a full
// stop.
func Sentence(clause string) string { return Capital(Dotted(clause)) }

// Dotted ends a clause that begins with a name, whose letters stay as they are.
func Dotted(clause string) string { return strings.TrimSuffix(clause, ".") + "." }

// Capital begins a text with a capital.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// FigureWords is a metric's figure with its interval, in a unit that suits it.
func FigureWords(name string, f cells.Figure) string {
	s := metric.Shown(name).Scale(f.Value)
	switch {
	case !f.Known():
		return cells.Unknown + Bracketed(cells.WhyUnknown(f.N, f.Of))
	case !f.Sure():
		return WithUnit(f.Value, s)
	}
	return WithUnit(f.Value, s) + Bracketed(s.Interval(f.Low, f.High))
}
