package cost

import (
	"fmt"
	"math"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

// modelSentence says what a model is, what it is fitted to, and how far it is off; for a
// model that cannot be used, why.
func modelSentence(c Cost, m Model) string {
	who := m.Arm
	if m.At != "" {
		who += " with " + streaming.Replace(m.At)
	}
	if m.Reason != "" {
		return fmt.Sprintf("%s has no model of %s: %s%s.", who, part.Label(c.Spec.Metric), m.Reason, worstWords(m))
	}
	s := fmt.Sprintf("%s: %s is %s; %d cells that it has not seen are missed by %s (median), %s (90th percentile)%s", who, part.Label(c.Spec.Metric), formula(c, m),
		len(m.HeldOut), quantity.FormatShare(m.Median), quantity.FormatShare(m.P90), worstWords(m)) + roughWords(m)
	if m.With != "" {
		s += "; " + m.With
	}
	if m.On != "" {
		s += " on " + m.On
	}
	return s + "."
}

// streaming says which way the exchanges of a model stream.
var streaming = strings.NewReplacer("stream=up", "streamed up", "stream=down", "streamed down")

// named is the model's arm with the levels that the model is of, as a sentence has them.
func (m Model) named() string { return part.Joined(" ", m.Arm, streaming.Replace(m.At)) }

// roughWords say that a model is rough; "" of one that is not.
func roughWords(m Model) string {
	switch {
	case !m.Rough:
		return ""
	case m.NoiseMayBeWhy():
		return fmt.Sprintf("; it is rough, ±%s, and noise may be why, as half of these errors are known within ±%s only", quantity.FormatShare(m.P90), quantity.FormatShare(m.Noise))
	}
	return fmt.Sprintf("; it is rough, ±%s", quantity.FormatShare(m.P90))
}

// worstWords names the held-out cell at which a model is off most; "" where none was
// held out.
func worstWords(m Model) string {
	worst, ok := m.Worst()
	if !ok {
		return ""
	}
	return fmt.Sprintf(", most at %s, by %s", worst.Cell, signedShare(worst.Error))
}

func signedShare(x float64) string {
	if x < 0 {
		return "−" + quantity.FormatShare(-x)
	}
	return "+" + quantity.FormatShare(x)
}

// formulaParts is of how many parts a sum is still read as one.
const formulaParts = 6

// formula writes a model as a sum, without its intervals: "15.2 µs + 0.21 µs per
// KiB of request"; of one with many parts, how many.
func formula(c Cost, m Model) string {
	if n := len(m.Coefficients); n > formulaParts {
		return fmt.Sprintf("the sum of %d parts", n)
	}
	var b strings.Builder
	for i, x := range m.Coefficients {
		value, of := c.shown(x)
		sign := "+"
		if value < 0 && i > 0 {
			sign, value = "−", -value
		}
		if i > 0 {
			fmt.Fprintf(&b, " %s ", sign)
		}
		b.WriteString(partWords(value, c.Unit))
		if of != "" {
			b.WriteString(" per " + of)
		}
	}
	return b.String()
}

// partWords is an amount of a metric.
func partWords(value float64, unit string) string {
	if unit == "B" && math.Abs(value) >= 1 {
		return quantity.FormatBytes(value)
	}
	if unit == "" || unit == "B" {
		return fmt.Sprintf("%.3g", value)
	}
	return fmt.Sprintf("%.3g %s", value, unit)
}

// kibibyte is what coefficients of sizes are printed for.
const kibibyte = 1 << 10

// shown is a coefficient as it is printed, in the metric's unit, and of what it is:
// sizes by the KiB, what is above a hinge named so.
func (c Cost) shown(x Coefficient) (value float64, of string) {
	value, of = x.Value, strings.TrimSuffix(x.Of, "s")
	if x.Of == "" {
		return value, ""
	}
	if sized(x.Of) {
		value, of = value*kibibyte, "KiB of "+x.Of
	}
	if x.Above > 0 {
		above := quantity.FormatFigure(x.Above)
		if sized(x.Of) {
			above = quantity.FormatBytes(x.Above)
		}
		of += " above " + above
	}
	if c.Spec.Per != "" && x.Of != c.Spec.Per {
		of += " and " + strings.TrimSuffix(c.Spec.Per, "s")
	}
	return value, of
}

// sized tells whether a factor's numbers are bytes.
func sized(factor string) bool {
	return factor == "request" || factor == "response" || factor == "chunk" || strings.HasSuffix(factor, "_buffer")
}

// namedModels is how many models of a kind an answer names.
const namedModels = 2

// sentence says how many of a study's models are good, and which are rough or cannot
// be used.
func (all Costs) sentence() string {
	var refused, rough []string
	models := 0
	for _, c := range all {
		models += len(c.Models)
		for _, m := range c.Models {
			name := m.named() + " of " + part.Label(c.Spec.Metric)
			switch {
			case m.Reason != "":
				refused = append(refused, name)
			case m.Rough:
				rough = append(rough, fmt.Sprintf("%s (±%s)", name, quantity.FormatShare(m.P90)))
			}
		}
	}
	s := fmt.Sprintf("%d of %d models predict the cells that they have not seen within %s", models-len(refused)-len(rough), models, quantity.FormatShare(Tolerance))
	for _, kind := range []struct {
		title string
		names []string
	}{{"rough: ", rough}, {"not to be used: ", refused}} {
		if len(kind.names) > 0 {
			s += "; " + kind.title + strings.Join(kind.names[:min(namedModels, len(kind.names))], ", ")
		}
		if more := len(kind.names) - namedModels; more > 0 {
			s += fmt.Sprintf(" and %d more", more)
		}
	}
	return s + "."
}
