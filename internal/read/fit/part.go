package fit

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

// Part has a section of every model: the sentence, and each coefficient beside the
// published one.
func (all Fits) Part() part.Part {
	p := part.Part{ID: "fits", Title: "Fitted models"}
	for i, f := range all {
		s := part.Section{
			ID:        fmt.Sprintf("fit-%d", i+1),
			Title:     cmp.Or(f.Spec.Title, part.Label(f.Spec.Metric)+" per "+f.Spec.Per),
			Sentences: []string{f.Sentence},
		}
		if f.Reason != "" {
			s.Sentences = []string{part.Sentence("not fitted: " + f.Reason)}
		} else {
			s.Tables = []part.Table{coefficients(f), quality(f)}
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

func coefficients(f Fit) part.Table {
	t := part.Table{
		Caption: modelText(f) + ". Intervals are 95 % over blocks; a published value agrees when its interval holds it and does not hold 0.",
		Columns: slices.Concat(part.Titles("coefficient", "of"), part.Figures("measured", "published"), part.Titles("in words")),
	}
	add := func(name, of string, c Coefficient, s metric.Scale) {
		published, verdict := part.Missing(), part.None
		if c.Published != nil {
			published, verdict = part.InUnit(*c.Published, s), agreement(c)
		}
		t.Rows = append(t.Rows, []part.Datum{part.Word(name), part.Word(of), part.Amount(c.Value, c.Low, c.High, s), published, part.Word(verdict)})
	}
	add("a", "none of "+f.Spec.Per, f.Base, fitScale(f, f.Base.Value))
	add("b", "each of "+f.Spec.Per, f.Per, fitScale(f, f.Per.Value))
	for i, c := range f.Terms {
		add(termName(i, len(f.Terms)), c.Of, c, metric.Scale{Factor: 1})
	}
	return t
}

// modelText spells the model out: "RSS = a + connections × (b + c₁ × buffer)".
func modelText(f Fit) string {
	inner := "b"
	for i, c := range f.Terms {
		inner += " + " + termName(i, len(f.Terms)) + " × " + c.Of
	}
	return part.Label(f.Spec.Metric) + " = a + " + f.Spec.Per + " × (" + inner + ")"
}

func termName(i, of int) string {
	if of == 1 {
		return "c"
	}
	return fmt.Sprintf("c%d", i+1)
}

// fitScale is the unit of a coefficient that is an amount of the metric.
func fitScale(f Fit, value float64) metric.Scale {
	return part.ScaleFor(f.Spec.Metric, max(value, -value))
}

func agreement(c Coefficient) string {
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

func quality(f Fit) part.Table {
	t := part.Table{Caption: "How well the model fits.", Columns: part.Titles("what", "figure"), Folded: true}
	t.Rows = append(
		t.Rows,
		part.Row("trials", fmt.Sprint(f.Trials)),
		part.Row("blocks fitted", fmt.Sprint(f.Blocks)),
		part.Row("median error, |measured − fitted| ÷ measured", part.Percent(f.Error)),
		part.Row("largest error, (measured − fitted) ÷ measured", part.Percent(f.Worst)+" at "+f.WorstAt),
		part.Row("share of the variance explained, R²", quantity.FormatFigure(f.R2)),
	)
	if f.With != "" {
		t.Rows = append(t.Rows, part.Row("measured with", f.With))
	}
	if f.Spec.Source != "" {
		t.Rows = append(t.Rows, part.Row("source of the published coefficients", f.Spec.Source))
	}
	if where := part.Levels(f.Spec.Where); where != "" {
		t.Rows = append(t.Rows, part.Row("only trials at", where))
	}
	return t
}
