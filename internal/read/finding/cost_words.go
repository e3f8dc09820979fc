package finding

import (
	"fmt"
	"math"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cost"
)

// modelSentence says what a model is, how far it is off, and of what it is; of one that
// cannot be relied on, why.
func modelSentence(c cost.Cost, m cost.Model) string {
	who := m.Arm
	if m.At != "" {
		who += " with " + m.At
	}
	if m.Reason != "" {
		return fmt.Sprintf("%s has no model of %s: %s%s.", who, c.Spec.Metric, m.Reason, worstWords(m))
	}
	s := fmt.Sprintf("%s: %s is %s; %d cells that it has not seen are missed by %s (median), %s (90th percentile)%s", who, c.Spec.Metric, CostFormula(c, m),
		len(m.HeldOut), quantity.FormatShare(m.Median), quantity.FormatShare(m.P90), worstWords(m))
	if m.With != "" {
		s += "; " + m.With
	}
	if m.On != "" {
		s += " on " + m.On
	}
	return s + "."
}

// worstWords names the held-out cell at which a model is off most; "" where none was
// held out.
func worstWords(m cost.Model) string {
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

// CostFormula writes a model as a sum, without its intervals: "15.2 µs + 0.21 µs per
// KiB of request"; of one with many parts, how many.
func CostFormula(c cost.Cost, m cost.Model) string {
	if n := len(m.Coefficients); n > formulaParts {
		return fmt.Sprintf("the sum of %d parts", n)
	}
	var b strings.Builder
	for i, x := range m.Coefficients {
		value, of := CostPart(c, x)
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

// CostPart is a coefficient as it is printed, in the metric's unit, and of what it is:
// sizes by the KiB, what is above a hinge named so.
func CostPart(c cost.Cost, x cost.Coefficient) (value float64, of string) {
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

// refusedSaid is how many models that do not hold an answer names.
const refusedSaid = 2

// costAnswer says how many of a study's models hold, and which do not; "" where none
// was asked for.
func costAnswer(costs []cost.Cost) string {
	if len(costs) == 0 {
		return ""
	}
	var refused []string
	all := 0
	for _, c := range costs {
		all += len(c.Models)
		for _, m := range c.Models {
			if m.Reason != "" {
				refused = append(refused, strings.TrimSpace(m.Arm+" "+m.At)+" of "+c.Spec.Metric)
			}
		}
	}
	s := fmt.Sprintf("%d of %d models predict the cells that they have not seen within %s", all-len(refused), all, quantity.FormatShare(cost.Tolerance))
	if len(refused) > 0 {
		s += "; not that of " + strings.Join(refused[:min(refusedSaid, len(refused))], ", ")
	}
	if more := len(refused) - refusedSaid; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s + "."
}
