package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/view"
)

// fits makes a section of every model that the study asked for: the sentence,
// and each coefficient beside the published one.
func (l *layout) fits() []Section {
	sections := make([]Section, 0, len(l.Findings.Fits))
	for i, f := range l.Findings.Fits {
		s := Section{
			ID:    fmt.Sprintf("fit-%d", i+1),
			Title: or(f.Spec.Title, labelOf(f.Spec.Metric)+" per "+f.Spec.Per),
			Note:  f.Sentence,
		}
		if f.Reason != "" {
			s.Note = strings.TrimSpace(s.Note + " " + sentence("not fitted: "+f.Reason))
			sections = append(sections, s)
			continue
		}
		s.Tables = []Table{coefficients(f), quality(f)}
		sections = append(sections, s)
	}
	return sections
}

func coefficients(f view.Fit) Table {
	t := Table{
		Caption: modelText(f) + ". Intervals are 95 % over blocks; a published value agrees when its interval holds it and does not hold 0.",
		Columns: slices.Concat(columns("coefficient", "of"), numbers("measured", "published"), columns("in words")),
	}
	add := func(name, of string, c view.Coefficient, s metric.Scale) {
		published, verdict := missing(), none
		if c.Published != nil {
			published, verdict = inUnit(*c.Published, s), agreement(c)
		}
		t.Rows = append(t.Rows, []Datum{word(name), word(of), amount(c.Value, c.Low, c.High, s), published, word(verdict)})
	}
	add("a", "none of "+f.Spec.Per, f.Base, fitScale(f, f.Base.Value))
	add("b", "each of "+f.Spec.Per, f.Per, fitScale(f, f.Per.Value))
	for i, c := range f.Terms {
		add(termName(i, len(f.Terms)), c.Of, c, metric.Scale{Factor: 1})
	}
	return t
}

// modelText spells the model out: "RSS = a + connections × (b + c₁ × buffer)".
func modelText(f view.Fit) string {
	inner := "b"
	for i, c := range f.Terms {
		inner += " + " + termName(i, len(f.Terms)) + " × " + c.Of
	}
	return f.Spec.Metric + " = a + " + f.Spec.Per + " × (" + inner + ")"
}

func termName(i, of int) string {
	if of == 1 {
		return "c"
	}
	return fmt.Sprintf("c%d", i+1)
}

// fitScale is the unit of a coefficient that is an amount of the metric.
func fitScale(f view.Fit, value float64) metric.Scale {
	return scaleFor(f.Spec.Metric, max(value, -value))
}

func agreement(c view.Coefficient) string {
	switch {
	case c.Agrees && c.Low <= 0 && 0 <= c.High:
		return "cannot tell: 0 would agree too"
	case c.Agrees:
		return "agrees"
	case c.Value < *c.Published:
		return "less than published"
	}
	return "more than published"
}

func quality(f view.Fit) Table {
	t := Table{Caption: "How well the model fits.", Columns: columns("what", "figure"), Folded: true}
	t.Rows = append(
		t.Rows,
		words("trials", fmt.Sprint(f.Trials)),
		words("blocks fitted", fmt.Sprint(f.Blocks)),
		words("median error, |measured − fitted| ÷ measured", percent(f.Error)),
		words("largest error, (measured − fitted) ÷ measured", percent(f.Worst)+atWorst(f)),
		words("share of the variance explained, R²", quantity.FormatFigure(f.R2)),
	)
	if f.With != "" {
		t.Rows = append(t.Rows, words("measured with", f.With))
	}
	if f.Spec.Source != "" {
		t.Rows = append(t.Rows, words("source of the published coefficients", f.Spec.Source))
	}
	if where := levelsText(f.Spec.Where); where != "" {
		t.Rows = append(t.Rows, words("only trials at", where))
	}
	return t
}

// atWorst names where a fit errs most.
func atWorst(f view.Fit) string {
	if f.WorstAt == "" {
		return ""
	}
	return " at " + f.WorstAt
}
