package best

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// Judged are the sets of a run, and what they advise.
type Judged struct {
	Margin float64  `json:"margin"` // a smaller difference is none, 0.02 for 2 %
	Sets   []Set    `json:"sets"`
	Advice []Advice `json:"advice"`
	Out    []Out    `json:"out,omitempty"` // arms of which nothing is said

	study record.Study
	of    map[[2]string]*judging // by cell and metric
}

// Read judges a run; nil where nothing may be said of a best arm.
func Read(s *cells.Dataset, noise []compare.Noise) *Judged {
	out := leftOut(s)
	all := gatherAll(s, noise, out)
	if len(all) == 0 {
		return nil
	}
	j := &Judged{Margin: compare.Margin(s.Header.Study.Compare), Out: out, study: s.Header.Study, of: map[[2]string]*judging{}}
	for _, one := range all {
		j.Sets = append(j.Sets, one.judge(nil))
		j.of[[2]string{one.cell, one.metric}] = one
	}
	j.Out = append(j.Out, refused(j.Sets)...)
	if j.Advice = Advise(j.Sets); len(j.study.Recommend) > 0 {
		j.Advice = inOrder(all, j.study.Recommend)
	}
	return j
}

// Price is what an arm has of a metric against another in a cell.
type Price struct {
	Ratio float64 // arm ÷ base, over the blocks of both; 0 where it is not known
	Worse bool    // it is shown to be worse by more than the bound
}

// PriceOf compares two arms on a metric.
func (j *Judged) PriceOf(cell, metric, arm, base string) Price {
	in := j.of[[2]string{cell, metric}]
	if in == nil {
		return Price{}
	}
	i, k := slices.Index(in.arms, arm), slices.Index(in.arms, base)
	if i < 0 || k < 0 || i == k {
		return Price{}
	}
	p := in.pairs[i][k]
	e := p.ratio.At(in.share())
	if p.ratio.Degrees == 0 || !cells.Known(p.blocks, math.Exp(e.Point), math.Exp(e.Low), math.Exp(e.High)) {
		return Price{}
	}
	return Price{math.Exp(e.Point), in.surely(k, i) > math.Log1p(in.bound)}
}

// Part has a table for each metric of who may be the best, where that is not the comparison
// of two arms.
func (j *Judged) Part() part.Part {
	p := part.Part{ID: "best", Title: "Who may be the best"}
	if j == nil {
		return p
	}
	s := part.Section{ID: "best-arms", Title: "Every arm beside the best of its cell"}
	s.Notes = []string{fmt.Sprintf("The truly best arm of every cell and metric is among those not called worse, in 95 of 100 runs for all of them together; a difference below %s is none.", part.Percent(j.Margin))}
	for _, name := range j.metrics() {
		if t := j.table(name); len(t.Rows) > 0 {
			s.Tables = append(s.Tables, part.Bounded(t))
		}
	}
	if len(s.Tables) > 0 {
		p.Sections = []part.Section{s}
	}
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

// table has a row for each arm of each cell with more than two, of which some are compared.
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
		if s.Metric != name || len(s.Arms) < 3 || s.mute() {
			continue
		}
		for i, a := range s.Arms {
			row := []part.Datum{part.Word(cmp.Or(cells.CellLabel(j.study, s.Cell), "all")), part.Word(a.Name), {Text: string(a.Standing), Detail: a.why()}, part.Missing(), part.Missing()}
			if a.Value > 0 {
				row[3] = part.Value(scale.Format(a.Value), "")
			}
			if i > 0 && a.Ratio > 0 {
				row[4] = part.Datum{Ratio: part.RatioOver(a.Blocks, a.Of, a.Ratio, a.Low, a.High)}
			}
			t.Rows = append(t.Rows, row)
			if a.Standing == Unknown {
				t.Notes = append(t.Notes, fmt.Sprintf("%s%s: %s.", cells.ArmLabel(j.study, a.Name), inCell(cells.CellLabel(j.study, s.Cell)), strings.TrimSuffix(a.Reason, ".")))
			}
		}
	}
	return t
}

func inCell(label string) string {
	if label == "" {
		return ""
	}
	return " at " + label
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
