package finding

import (
	"fmt"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// choiceSentence says what is chosen, how far it is from the best, and what the
// best would cost. "" for a choice that could not be made.
func choiceSentence(c view.Choice) string {
	if c.Reason != "" || c.Best == nil {
		return ""
	}
	best := optionWords(c.Best.Key)
	if c.Chosen == nil {
		return fmt.Sprintf("Nothing is sure to keep %s. Without it, %s is best: %s, %s.",
			withinWords(c.Spec), best, figureWords(c.Spec.Best, c.Best.Figure), boundsWords(c, *c.Best))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Choose %s: %s, the best ", optionWords(c.Chosen.Key), figureWords(c.Spec.Best, c.Chosen.Figure))
	if c.Chosen.Key == c.Best.Key {
		fmt.Fprintf(&b, "of all, and it keeps %s (%s).", withinWords(c.Spec), boundsWords(c, *c.Chosen))
	} else {
		fmt.Fprintf(&b, "that keeps %s. That is %s %s, the best of all%s.", withinWords(c.Spec), distance(c.Chosen.Ratio), best, savings(c))
	}
	return b.String() + perhapsWords(c)
}

// distance is how far the choice is from the best: "2.9 % below (2.3–3.5 %)", or
// the ratio where its interval contains 1.
func distance(r view.Relative) string {
	show := func(share float64) string { return quantity.FormatFigure(100 * share) }
	switch {
	case r.High < 1:
		return fmt.Sprintf("%s %% (%s–%s %%) below", show(1-r.Value), show(1-r.High), show(1-r.Low))
	case r.Low > 1:
		return fmt.Sprintf("%s %% (%s–%s %%) above", show(r.Value-1), show(r.Low-1), show(r.High-1))
	}
	return relativeWords(r, "that of")
}

// savings says what the chosen option has of what the best one does.
func savings(c view.Choice) string {
	var parts []string
	for i, k := range c.Chosen.Bounds {
		if r := k.Ratio; r.Blocks > 0 {
			parts = append(parts, relativeWords(r, "its "+docOf(c.Spec.Within[i].Metric)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", at " + strings.Join(parts, " and ")
}

// perhapsWords names what would be better if its bounds are kept, which the
// intervals leave open.
func perhapsWords(c view.Choice) string {
	var names []string
	for _, o := range c.Options {
		if betterThan(c, o) && open(o) {
			names = append(names, optionWords(o.Key))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " Better, and perhaps within the bounds: " + strings.Join(names, ", ") + "."
}

func betterThan(c view.Choice, o view.Option) bool {
	if c.Chosen == nil {
		return true
	}
	m, err := metric.Named(c.Spec.Best)
	if err != nil {
		return false
	}
	if m.Better == metric.Higher {
		return o.Figure.Value > c.Chosen.Figure.Value
	}
	return o.Figure.Value < c.Chosen.Figure.Value
}

// open tells whether no bound of an option is broken and one is undecided.
func open(o view.Option) bool {
	undecided := false
	for _, k := range o.Bounds {
		if k.State == compare.Broken {
			return false
		}
		undecided = undecided || k.State == compare.Undecided
	}
	return undecided
}

// optionWords names an arm and its cell.
func optionWords(k cells.Key) string {
	if k.Cell == "" {
		return k.Arm
	}
	return k.Arm + " at " + cells.Spoken(k.Cell)
}

// withinWords lists the bounds as the study has them.
func withinWords(spec record.Choice) string {
	var parts []string
	for _, b := range spec.Within {
		sign := "≤"
		if b.AtLeast {
			sign = "≥"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", docOf(b.Metric), sign, b.Text))
	}
	return strings.Join(parts, " and ")
}

// boundsWords gives an option's figures of the bounded metrics.
func boundsWords(c view.Choice, o view.Option) string {
	var parts []string
	for i, k := range o.Bounds {
		parts = append(parts, docOf(c.Spec.Within[i].Metric)+" "+figureWords(c.Spec.Within[i].Metric, k.Figure))
	}
	return strings.Join(parts, ", ")
}

// figureWords is a figure with its interval, in a unit that suits it.
func figureWords(name string, f cells.Figure) string {
	s := metric.Shown(name).Scale(f.Value)
	switch {
	case !f.Known():
		return cells.Unknown + " (" + cells.WhyUnknown(f.N, f.Of) + ")"
	case !f.Sure():
		return s.Format(f.Value) + " " + s.Unit
	}
	return fmt.Sprintf("%s %s (%s)", s.Format(f.Value), s.Unit, s.Interval(f.Low, f.High))
}

// relativeWords is "0.97× of what (0.95–0.99)".
func relativeWords(r view.Relative, of string) string {
	if !cells.Known(r.Blocks, r.Value, r.Low, r.High) {
		return "an unknown share of " + of + " (" + cells.WhyUnknown(r.Blocks, r.Blocks) + ")"
	}
	return fmt.Sprintf("%s× %s (%s–%s)", quantity.FormatFigure(r.Value), of, quantity.FormatFigure(r.Low), quantity.FormatFigure(r.High))
}

func docOf(name string) string { return metric.Shown(name).Label }

// choiceSentences returns the sentences of the choices that could be made.
func choiceSentences(choices []view.Choice) []string {
	var sentences []string
	for _, c := range choices {
		if c.Sentence != "" {
			sentences = append(sentences, c.Sentence)
		}
	}
	return sentences
}
