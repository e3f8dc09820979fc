package view

import (
	"fmt"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
)

// sentence puts a fit into words.
func (f *Fit) sentence(m metric.Metric) string {
	var b strings.Builder
	one := strings.TrimSuffix(f.Spec.Per, "s")
	fmt.Fprintf(&b, "%s is %s", m.Name, f.Base.words(m.Unit))
	fmt.Fprintf(&b, ", and for each %s %s", one, f.Per.words(m.Unit))
	for _, t := range f.Terms {
		fmt.Fprintf(&b, " and %s × %s", t.words(""), t.Of)
	}
	b.WriteString(f.publishedWords())
	fmt.Fprintf(&b, "; %d trials in %d blocks, off by %s in the median", f.Trials, f.Blocks, quantity.FormatShare(f.Error))
	if f.With != "" {
		b.WriteString("; " + f.With)
	}
	return b.String() + "."
}

// words prints a coefficient with its interval: "8.21 KiB (7.90 KiB–8.52 KiB)".
func (c Coefficient) words(unit string) string {
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
func (f *Fit) publishedWords() string {
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
