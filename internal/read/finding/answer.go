package finding

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
)

// MostDecisiveFirst returns the primary comparisons in the order in which a
// report states them: differences by size, then equivalences, then what cannot
// be told, then what is not compared.
func MostDecisiveFirst(comparisons []compare.Comparison) []compare.Comparison {
	order := compare.Verdicts()
	weight := func(c compare.Comparison) int { // better and worse are one class
		return max(1, slices.Index(order, c.Verdict))
	}
	primary := slices.DeleteFunc(slices.Clone(comparisons), func(c compare.Comparison) bool { return !c.Primary })
	slices.SortStableFunc(primary, func(a, b compare.Comparison) int {
		return cmp.Or(weight(a)-weight(b), cmp.Compare(effect(b), effect(a)))
	})
	return primary
}

func effect(c compare.Comparison) float64 {
	if !cells.Usable(c.Ratio) || c.Verdict != compare.Better && c.Verdict != compare.Worse {
		return 0
	}
	return math.Abs(math.Log(c.Ratio))
}

// sentence puts a comparison into words; a refused one without its ratio,
// because a figure that is printed is believed.
func sentence(s *cells.Dataset, c compare.Comparison) string {
	m, err := metric.Named(c.Metric)
	if err != nil {
		return ""
	}
	var b strings.Builder
	if c.Cell != "" {
		fmt.Fprintf(&b, "At %s, ", s.Names.Cell(c.Cell))
	}
	if c.Verdict.Refused() {
		fmt.Fprintf(&b, "%s cannot be compared with %s on %s: %s.", c.Arm, c.Base, m.Doc, c.Reason)
		return b.String()
	}
	blocks := "blocks"
	switch {
	case c.Quiet:
		blocks = "blocks that other processes left quiet"
	case c.Partial:
		blocks = "shared blocks"
	}
	if c.EqualShares {
		blocks += " at equal shares of other processes"
	}
	if !c.Known() {
		fmt.Fprintf(&b, "the %s of %s against %s is unknown (%s): %s", m.Doc, c.Arm, c.Base, cells.WhyUnknown(c.Blocks, c.Of), c.Verdict)
	} else {
		fmt.Fprintf(&b, "%s %s %s× the %s of %s (%s interval %s–%s, %d %s, %s): %s",
			c.Arm, verb(m), quantity.FormatFigure(c.Ratio), m.Doc, c.Base, compare.Confidence(c.Interval), quantity.FormatFigure(c.Low), quantity.FormatFigure(c.High), c.Blocks, blocks, boundWords(s, c), c.Verdict)
	}
	if c.Reason != "" {
		fmt.Fprintf(&b, ", because %s", c.Reason)
	}
	if c.Decides != "" {
		b.WriteString("; " + c.Decides)
	}
	b.WriteString("." + reflectionWords(s, c) + limitWords(s, c))
	return b.String()
}

// verb suits costs, rates and the rest.
func verb(m metric.Metric) string {
	switch {
	case m.Better == metric.Higher:
		return "reaches"
	case strings.HasPrefix(m.Name, "server.") || strings.HasPrefix(m.Name, "client.") || strings.HasPrefix(m.Name, "host."):
		return "needs"
	}
	return "has"
}

func boundWords(s *cells.Dataset, c compare.Comparison) string {
	if c.Bound > compare.Margin(s.Compare) {
		return "A/A bound " + quantity.ChosenShare(c.Bound)
	}
	return "margin " + quantity.ChosenShare(c.Bound)
}

func limitWords(s *cells.Dataset, c compare.Comparison) string {
	arm, _ := cells.LimitOf(s.Of(c.Cell, c.Arm))
	base, _ := cells.LimitOf(s.Of(c.Cell, c.Base))
	if arm == base {
		return fmt.Sprintf(" Limit: %s.", arm)
	}
	return fmt.Sprintf(" Limits: %s (%s), %s (%s).", arm, c.Arm, base, c.Base)
}

// reflectionWords marks the sentence of two arms that both encode by reflection.
func reflectionWords(s *cells.Dataset, c compare.Comparison) string {
	message := compare.Reflects(s, c.Cell, c.Arm)
	if message == "" || compare.Reflects(s, c.Cell, c.Base) == "" {
		return ""
	}
	return fmt.Sprintf(" Both encode %s by reflection.", message)
}
