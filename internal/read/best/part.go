package best

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// Judged are the sets of a run, and what they advise.
type Judged struct {
	Margin float64  `json:"margin"` // a smaller difference is none, 0.02 for 2 %
	Sets   []Set    `json:"sets"`
	Advice []Advice `json:"advice"`
}

// Read judges a run; nil where nothing may be said of a best arm.
func Read(s *cells.Dataset, noise []compare.Noise) *Judged {
	sets := Of(s, noise)
	if len(sets) == 0 {
		return nil
	}
	return &Judged{compare.Margin(s.Header.Study.Compare), sets, Advise(sets)}
}

// Part has what to use, and a table for each metric of who may be the best where that is
// not the comparison of two arms.
func (j *Judged) Part() part.Part {
	p := part.Part{ID: "best", Title: "What to use"}
	if j == nil {
		return p
	}
	s := part.Section{ID: "best-arms", Title: "Who may be the best"}
	for _, a := range j.Advice {
		s.Sentences = append(s.Sentences, j.sentence(a))
	}
	s.Notes = []string{fmt.Sprintf("The truly best arm of every cell and metric is among those not called worse, in 95 of 100 runs for all of them together; a difference below %s is none.", part.Percent(j.Margin))}
	for _, name := range j.metrics() {
		if t := j.table(name); len(t.Rows) > 0 {
			s.Tables = append(s.Tables, part.Bounded(t))
		}
	}
	p.Sections = []part.Section{s}
	return p
}

// metrics are those of the sets, each once.
func (j *Judged) metrics() []string {
	var names []string
	for _, s := range j.Sets {
		if !slices.Contains(names, s.Metric) {
			names = append(names, s.Metric)
		}
	}
	return names
}

// table has a row for each arm of each cell in which more than two arms can be compared.
func (j *Judged) table(name string) part.Table {
	largest := 0.0
	for _, s := range j.Sets {
		for _, a := range s.Arms {
			if s.Metric == name {
				largest = max(largest, a.Value)
			}
		}
	}
	scale := part.ScaleFor(name, largest)
	t := part.Table{
		Caption: part.AxisTitle(name, scale) + ". The ratio is to the first arm of the cell, over the blocks of both.",
		Columns: slices.Concat(part.Titles("cell"), part.OfKind(part.Arms, "arm"), part.Titles("standing"), part.Figures(part.Label(name), "÷ first")),
	}
	for _, s := range j.Sets {
		if s.Metric != name || len(s.standing(Best, Level, Open, Worse)) < 3 {
			continue
		}
		for i, a := range s.Arms {
			row := []part.Datum{part.Word(cmp.Or(s.Cell, "all")), part.Word(a.Name), {Text: string(a.Standing), Detail: a.why()}, part.Missing(), part.Missing()}
			if a.Value > 0 {
				row[3] = part.Value(scale.Format(a.Value), "")
			}
			if i > 0 && a.Ratio > 0 {
				row[4] = part.Datum{Ratio: part.RatioOver(a.Blocks, a.Of, a.Ratio, a.Low, a.High)}
			}
			t.Rows = append(t.Rows, row)
			if a.Standing == Unknown {
				t.Notes = append(t.Notes, fmt.Sprintf("%s%s: %s.", a.Name, cells.InCell(s.Cell), strings.TrimSuffix(a.Reason, ".")))
			}
		}
	}
	return t
}

// why is the ground of a standing, where it needs one.
func (a Arm) why() string {
	switch {
	case a.Standing == Worse:
		return "than " + a.By
	case a.Hidden > 0 && a.Hidden < 1:
		return "another is better by " + part.Percent(a.Hidden) + " at most"
	}
	return ""
}

// sentence says what to use in the cells of an advice.
func (j *Judged) sentence(a Advice) string {
	in := j.where(a)
	switch a.Kind {
	case Use:
		if len(a.Arms) == 1 {
			return fmt.Sprintf("Use %s%s: on %s no other arm is better by %s.", a.Arms[0], in, j.docs(), part.Percent(j.Margin))
		}
		return fmt.Sprintf("Use %s%s: on %s none of them is behind the best by %s.", part.Or(a.Arms), in, j.docs(), part.Percent(j.Margin))
	case Either:
		return fmt.Sprintf("Take whichever suits you for other reasons%s: on %s no difference of %s was left possible.", in, j.docs(), part.Percent(a.Less))
	case Nothing:
		return fmt.Sprintf("Nothing can be advised%s: %s.", in, strings.TrimSuffix(a.Reason, "."))
	case Undecided:
		if len(a.Arms) == 1 {
			return fmt.Sprintf("Only %s may be the best on %s%s, and it is not shown to be.", a.Arms[0], j.docs(), in)
		}
		return fmt.Sprintf("Not decided%s: %s may be the best on %s.", in, part.Or(a.Arms), j.docs())
	}
	var parts []string
	for _, p := range a.Picks {
		words := fmt.Sprintf("on %s %s", metric.Shown(p.Metric).Doc, part.Or(p.Arms))
		if !p.Decided {
			words += " (not decided)"
		}
		parts = append(parts, words)
	}
	return part.Sentence(fmt.Sprintf("no arm is the best on every metric%s: %s", in, strings.Join(parts, ", ")))
}

// docs names the metrics.
func (j *Judged) docs() string {
	var docs []string
	for _, name := range j.metrics() {
		docs = append(docs, metric.Shown(name).Doc)
	}
	return part.And(docs)
}

// where names the cells of an advice that is not of all.
func (j *Judged) where(a Advice) string {
	const said = 3
	if len(a.Cells) == len(cellsOf(j.Sets)) {
		return ""
	}
	var names []string
	for _, cell := range a.Cells[:min(said, len(a.Cells))] {
		names = append(names, cells.Spoken(cell))
	}
	if more := len(a.Cells) - said; more > 0 {
		names = append(names, quantity.Plural(more, "more cell"))
	}
	return " with " + part.And(names)
}
