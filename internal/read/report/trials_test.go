package report

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
)

// marked are the trials that the marks of a figure lead to.
func marked(f Figure) []string {
	var ids []string
	if f.Dots != nil {
		for _, row := range f.Dots.Rows {
			for _, dot := range row.Dots {
				ids = append(ids, dot.Trial)
			}
		}
	}
	if f.Series != nil {
		for _, panel := range f.Series.Panels {
			ids = append(ids, panel.Trials...)
		}
	}
	if f.Split != nil {
		for _, panel := range f.Split.Panels {
			for _, group := range panel.Groups {
				ids = append(ids, group.Trials...)
			}
		}
	}
	return ids
}

func TestMarksLeadToTrialsOfTheirCell(t *testing.T) {
	marks, groups := 0, 0
	pages(t, 10, func(where string, _ finding.Findings, p Page) {
		cell := map[string]int{}
		for _, line := range p.Trials.All {
			cell[line.ID] = line.Cell + 1
		}
		for _, f := range p.figures() {
			for _, id := range marked(f) {
				if marks++; cell[id] == 0 || cell[id] != f.Cell {
					t.Errorf("%s, %s: a mark of trial %q, which is in cell %d of %d", where, f.ID, id, cell[id], len(p.Cells))
				}
			}
			if f.Forest == nil {
				continue
			}
			for _, g := range f.Forest.Groups {
				if groups++; g.Cell < 1 || g.Cell > len(p.Cells) || g.Name != p.Trials.Cells[g.Cell-1].Title {
					t.Errorf("%s, %s: group %q leads to cell %d", where, f.ID, g.Name, g.Cell)
				}
			}
		}
	})
	if marks < few(400) || thorough && groups < 5 {
		t.Errorf("%d marks and %d groups looked at", marks, groups)
	}
}

// What the panel says of an arm is what its cell's table says.
func TestFiguresOfTheListAreThoseOfTheTables(t *testing.T) {
	compared := 0
	pages(t, 10, func(where string, _ finding.Findings, p Page) {
		for i, c := range p.Cells {
			for _, row := range c.Main.Rows {
				of := slices.IndexFunc(p.Trials.Cells[i].Arms, func(a TrialArm) bool { return a.Arm == *row[0].Arm })
				for k, column := range c.Main.Columns {
					m := slices.IndexFunc(p.Trials.Metrics, func(m TrialMetric) bool { return m.Name == column.Metric })
					if m < 0 || row[k].Figure == nil {
						continue
					}
					scale, label := p.Trials.Cells[i].Scales[m], p.Trials.Cells[i].Arms[of].Figures[m].Label
					if compared++; label != row[k].Figure.Full() || scale.Unit != column.Unit {
						t.Errorf("%s, %s of %s: the list says %s %s, the table %s %s", where, column.Metric, row[0].Text, label, scale.Unit, row[k].Figure.Full(), column.Unit)
					}
				}
			}
		}
	})
	if compared < few(100) {
		t.Errorf("%d figures compared", compared)
	}
}

// A trial of the list has the figures of its account.
func TestAccountsSayWhatTheListSays(t *testing.T) {
	compared, accounts := 0, 0
	pages(t, 10, func(where string, _ finding.Findings, p Page) {
		lines := map[string]TrialLine{}
		for _, line := range p.Trials.All {
			lines[line.ID] = line
		}
		for _, a := range p.Accounts {
			accounts++
			line, listed := lines[a.ID]
			if !listed {
				if a.Status != "missing" {
					t.Errorf("%s: trial %s is not in the list", where, a.ID)
				}
				continue
			}
			if cmp.Or(line.Status, "valid") != a.Status || line.Limit != a.Limit || len(line.Flags) != len(a.Flags) {
				t.Errorf("%s: the list says %+v, the account %s %s %v", where, line, a.Status, a.Limit, a.Flags)
			}
			for i, m := range p.Trials.Metrics {
				at := slices.IndexFunc(a.Figures, func(r Reading) bool { return r.Metric == m.Name })
				if (at < 0) != (line.Values[i] == nil) {
					t.Errorf("%s, %s: %s is in one of list and account", where, a.ID, m.Name)
				}
				if s := p.Trials.Cells[line.Cell].Scales[i]; at >= 0 && s.Unit == a.Figures[at].Unit {
					compared++
					if text := strings.TrimPrefix(a.Figures[at].Text, "≥ "); text != s.Format(*line.Values[i]) {
						t.Errorf("%s, %s of %s: the list says %s, the account %s", where, m.Name, a.ID, s.Format(*line.Values[i]), text)
					}
				}
			}
		}
	})
	if compared < few(500) || accounts < few(100) {
		t.Errorf("%d figures of %d accounts compared", compared, accounts)
	}
}

// A point of a chart that stands for one arm in one cell leads to the trials whose
// figure it is.
func TestPointsLeadToTheirTrials(t *testing.T) {
	f := foundAsked(t)
	p, compared := New(f), 0
	check := func(where, metric string, b part.Behind, value float64) {
		if b.Cell == 0 {
			return
		}
		m := slices.IndexFunc(p.Trials.Metrics, func(m TrialMetric) bool { return m.Name == metric })
		for _, arm := range p.Trials.Cells[b.Cell-1].Arms {
			if m < 0 || len(b.Arms) != 1 || p.Arms[arm.Arm].Name != b.Arms[0] {
				continue
			}
			if compared++; arm.Figures[m].Value != value {
				t.Errorf("%s: a point at %v leads to %+v, whose figure is %v", where, value, b, arm.Figures[m].Value)
			}
		}
	}
	for i, c := range sectionsOf(p, "charts") {
		spec, where := f.Charts[i].Spec, c.Figure.ID
		if c.Figure.Lines != nil {
			for _, line := range c.Figure.Lines.Lines {
				for _, point := range line.Points {
					check(where, spec.Metric, point.Behind, point.Value)
				}
			}
		}
		if c.Figure.Heat != nil {
			for _, box := range c.Figure.Heat.Boxes {
				check(where, spec.Metric, box.Behind, box.Value)
			}
		}
		if c.Figure.Front != nil {
			for _, point := range c.Figure.Front.Points {
				check(where, spec.Metric, point.Behind, point.Y)
			}
		}
	}
	if compared < 20 {
		t.Errorf("%d points compared", compared)
	}
}
