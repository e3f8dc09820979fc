package fit

import (
	"fmt"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

// sentence puts a fit into words; "" where there is none.
func (f Fit) sentence() string {
	if f.Reason != "" {
		return ""
	}
	var b strings.Builder
	one := strings.TrimSuffix(f.Spec.Per, "s")
	fmt.Fprintf(&b, "%s is %s", part.Label(f.Spec.Metric), coefficient(f.Base, f.Unit))
	fmt.Fprintf(&b, ", and for each %s %s", one, coefficient(f.Per, f.Unit))
	for _, t := range f.Terms {
		fmt.Fprintf(&b, " and %s × %s", coefficient(t, ""), t.Of)
	}
	b.WriteString(publishedWords(f))
	fmt.Fprintf(&b, "; %d trials in %d blocks, median error %s", f.Trials, f.Blocks, quantity.FormatShare(f.Error))
	if f.With != "" {
		b.WriteString("; " + f.With)
	}
	return b.String() + "."
}

// coefficient prints one with its interval: "8.21 KiB (7.90 KiB–8.52 KiB)".
func coefficient(c Coefficient, unit string) string {
	return fmt.Sprintf("%s (%s–%s)", inUnit(c.Value, unit), inUnit(c.Low, unit), inUnit(c.High, unit))
}

func inUnit(x float64, unit string) string {
	switch unit {
	case "B":
		return quantity.FormatBytes(x)
	case "", "1":
		return fmt.Sprintf("%.3g", x)
	}
	return fmt.Sprintf("%.3g %s", x, unit)
}

// publishedWords sets the published coefficients against the intervals.
func publishedWords(f Fit) string {
	var words []string
	for _, t := range f.Terms {
		if t.Published == nil {
			continue
		}
		verdict := "outside"
		if t.Agrees {
			verdict = "inside"
		}
		if len(words) == 0 {
			verdict += " the interval"
		}
		if t.Agrees && t.Low <= 0 && 0 <= t.High {
			verdict += ", as 0 is" // which says nothing for the publication
		}
		words = append(words, fmt.Sprintf("%g (%s)", *t.Published, verdict))
	}
	if len(words) == 0 {
		return ""
	}
	return "; published " + strings.Join(words, " and ")
}
