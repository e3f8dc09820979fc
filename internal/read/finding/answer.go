package finding

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
)

// answer returns the sentences of the primary comparisons, the most decisive
// first: differences by size, then equivalences, then what cannot be told,
// then what is invalid.
func (s *dataset) answer(comparisons []Comparison) []string {
	order := []Verdict{Better, Worse, Equivalent, CannotTell, Invalid}
	weight := func(c Comparison) int { // better and worse are one class
		return max(1, slices.Index(order, c.Verdict))
	}
	var said []Comparison
	for _, c := range comparisons {
		if c.Primary {
			said = append(said, c)
		}
	}
	slices.SortStableFunc(said, func(a, b Comparison) int {
		return cmp.Or(weight(a)-weight(b), cmp.Compare(effect(b), effect(a)))
	})
	var answers []string
	for _, c := range said {
		answers = append(answers, c.Sentence)
	}
	return answers
}

func effect(c Comparison) float64 {
	if !usable(c.Ratio) || c.Verdict != Better && c.Verdict != Worse {
		return 0
	}
	return math.Abs(math.Log(c.Ratio))
}

// sentence puts a comparison into words; an invalid one without its ratio,
// because a figure that is printed is believed.
func (s *dataset) sentence(c Comparison) string {
	m, err := metric.Named(c.Metric)
	if err != nil {
		return ""
	}
	var b strings.Builder
	if c.Cell != "" {
		fmt.Fprintf(&b, "At %s, ", c.Cell)
	}
	if c.Verdict == Invalid {
		fmt.Fprintf(&b, "%s cannot be compared with %s on %s: %s.", c.Arm, c.Base, m.Doc, c.Reason)
		return b.String()
	}
	blocks := "blocks"
	if c.Partial {
		blocks = "shared blocks"
	}
	fmt.Fprintf(&b, "%s %s %s× the %s of %s (%s interval %s–%s, %d %s, %s): %s",
		c.Arm, verb(m), quantity.FormatFigure(c.Ratio), m.Doc, c.Base, confidence(c.Level), quantity.FormatFigure(c.Low), quantity.FormatFigure(c.High), c.Blocks, blocks, s.boundWords(c), c.Verdict)
	if c.Reason != "" {
		fmt.Fprintf(&b, ", because %s", c.Reason)
	}
	if c.Decides != "" {
		b.WriteString("; " + c.Decides)
	}
	b.WriteString("." + s.reflectionWords(c) + s.limitWords(c))
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

func (s *dataset) boundWords(c Comparison) string {
	if c.Bound > margin(s.header.Study.Compare) {
		return "A/A bound " + percent(c.Bound)
	}
	return "margin " + percent(c.Bound)
}

func (s *dataset) limitWords(c Comparison) string {
	arm, _ := limitOf(s.of(c.Cell, c.Arm))
	base, _ := limitOf(s.of(c.Cell, c.Base))
	if arm == base {
		return fmt.Sprintf(" Limit: %s.", arm)
	}
	return fmt.Sprintf(" Limits: %s (%s), %s (%s).", arm, c.Arm, base, c.Base)
}

// tally counts the trials and how much of the run's time they measured in.
func (s *dataset) tally() Tally {
	t := Tally{Planned: len(s.views), Skipped: s.skipped, Probes: len(s.probes)}
	inside, whole := 0.0, 0.0
	for _, v := range s.views {
		switch v.trial.Status {
		case Valid:
			t.Valid++
			t.Partial += rank(v.trial.Partial())
		case StatusFailed:
			t.Failed++
		case StatusInvalid:
			t.Invalid++
		case StatusUnsupported:
			t.Unsupported++
		default:
			t.Missing++
			continue
		}
		line := v.record.Timeline
		if 0 <= line.StartNs && line.StartNs <= line.CloseNs && line.CloseNs <= line.EndNs {
			inside += float64(line.CloseNs) - float64(line.StartNs)
			whole += float64(line.EndNs)
		}
	}
	if whole > 0 {
		t.WindowShare = inside / whole
	}
	return t
}
