package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// Bounds of the tables of an answer.
const (
	mostMetrics    = 4
	tablesOfCells  = 3  // of as many cells each has a table
	columnsOfCells = 6  // of as many each has a column, of more a row with its best arm
	mostRows       = 12 // of more the firstRows best stand
	firstRows      = 10
)

// tables have a row for each arm that ran, the best on the study's first metric first.
func (f Found) tables() []part.Table {
	metrics := f.shown()
	switch {
	case len(metrics) == 0:
		return nil
	case len(f.Cells) > 1 && f.only() != "":
		return []part.Table{f.ofOne(metrics)}
	case len(f.Cells) > tablesOfCells:
		if t := f.byCells(metrics[0]); len(t.Rows) > 0 {
			return []part.Table{t}
		}
		return nil
	}
	var all []part.Table
	for _, c := range f.Cells {
		t := f.ofCell(c, metrics)
		if len(f.Cells) > 1 {
			t.Caption = part.Capital(f.Plan().Names.Cell(c.Name))
		}
		if len(t.Rows) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// shown are the metrics of the columns: those that the study judges, in its order, then what
// engineers ask for next.
func (f Found) shown() (names []string) {
	study := f.Plan()
	tail := metric.ServiceP99
	if f.measured(metric.ResponseP99) {
		tail = metric.ResponseP99
	}
	for _, name := range slices.Concat(study.Recommend, study.Compare.Primary, []string{metric.ExchangesPerS, tail, metric.OfServer + metric.CPUPerExchange, metric.OfServer + metric.RSS}) {
		if len(names) < mostMetrics && f.measured(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (f Found) measured(name string) bool {
	return slices.ContainsFunc(f.Cells, func(c cells.Cell) bool {
		return slices.ContainsFunc(c.Arms, func(a cells.Arm) bool { _, has := a.Summary(name); return has })
	})
}

// ofCell is the table of a cell.
func (f Found) ofCell(c cells.Cell, metrics []string) part.Table {
	t := part.Table{Columns: part.OfKind(part.Arms, "")}
	arms, left := f.ordered(c, metrics[0])
	for _, a := range arms {
		t.Rows = append(t.Rows, []part.Datum{part.Word(a.Name)})
	}
	for _, name := range metrics {
		s := part.ScaleFor(name, f.largest(name, c))
		column := f.column(name, s)
		column.Brief = slices.Contains(f.Plan().Compare.Primary, name)
		t.Columns = append(t.Columns, column)
		for i, a := range arms {
			t.Rows[i] = append(t.Rows[i], f.figure(c.Name, a, name, s))
		}
	}
	if slices.ContainsFunc(arms, func(a cells.Arm) bool { return f.out(c.Name, a.Name) != "" }) {
		t.Columns = append(t.Columns, part.Titles("")...)
		for i, a := range arms {
			t.Rows[i] = append(t.Rows[i], part.Word(f.out(c.Name, a.Name)))
		}
	}
	if left > 0 {
		t.Notes = []string{fmt.Sprintf("%d more, none of them better than %s", left, f.label(arms[len(arms)-1].Name))}
	}
	return t
}

// only is the arm of a run that has no other; "" where there are several.
func (f Found) only() string {
	name := ""
	for _, c := range f.Cells {
		for _, a := range c.Arms {
			if name = cmp.Or(name, a.Name); name != a.Name {
				return ""
			}
		}
	}
	return name
}

// ofOne is the table of the only arm, a row for each cell.
func (f Found) ofOne(metrics []string) part.Table {
	t := part.Table{Columns: part.Titles("")}
	for _, c := range f.Cells {
		t.Rows = append(t.Rows, part.Row(f.Plan().Names.Cell(c.Name)))
	}
	for _, name := range metrics {
		s := part.ScaleFor(name, f.largest(name, f.Cells...))
		column := f.column(name, s)
		column.Brief = slices.Contains(f.Plan().Compare.Primary, name)
		t.Columns = append(t.Columns, column)
		for i, c := range f.Cells {
			d := part.Missing()
			if len(c.Arms) == 1 {
				d = f.figure(c.Name, c.Arms[0], name, s)
			}
			t.Rows[i] = append(t.Rows[i], d)
		}
	}
	return part.Bounded(t)
}

// byCells is the first metric alone: a row for each arm and a column for each cell; of many
// cells a row for each, with its best arm and the next.
func (f Found) byCells(name string) part.Table {
	s := part.ScaleFor(name, f.largest(name, f.Cells...))
	title := f.column(name, s)
	t := part.Table{Caption: part.Capital(title.Title) + part.Bracketed(title.Unit)}
	if len(f.Cells) > columnsOfCells {
		t.Columns = slices.Concat(part.Titles("", "best"), []part.Column{title}, part.Titles("next"))
		for _, c := range f.Cells[:min(len(f.Cells), mostRows)] {
			t.Rows = append(t.Rows, f.bestOf(c, name, s))
		}
		if more := len(f.Cells) - mostRows; more > 0 {
			t.Notes = []string{quantity.Plural(more, "more cell") + " in the report"}
		}
		return t
	}
	t.Columns = part.OfKind(part.Arms, "")
	for _, c := range f.Cells {
		t.Columns = append(t.Columns, part.Figures(f.Plan().Names.Cell(c.Name))...)
	}
	for _, arm := range f.arms() {
		row := []part.Datum{part.Word(arm)}
		for _, c := range f.Cells {
			d := part.Missing()
			if i := slices.IndexFunc(c.Arms, func(a cells.Arm) bool { return a.Name == arm }); i >= 0 {
				d = f.figure(c.Name, c.Arms[i], name, s)
			}
			row = append(row, d)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// arms are those of all cells, in the study's order.
func (f Found) arms() (names []string) {
	for _, c := range f.Cells {
		for _, a := range c.Arms {
			if !slices.Contains(names, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	return names
}

// bestOf is a cell's row: its best arm on a metric with the figure, and the next with how it
// stands beside that.
func (f Found) bestOf(c cells.Cell, name string, s metric.Scale) []part.Datum {
	row := []part.Datum{part.Word(f.Plan().Names.Cell(c.Name)), {}, part.Missing(), {}}
	arms, _ := f.ordered(c, name)
	if len(arms) == 0 {
		return row
	}
	first := f.figure(c.Name, arms[0], name, s)
	if row[1] = part.Word(f.label(arms[0].Name)); first.Ratio != nil {
		row[1].Text += " " + first.Ratio.Text
		first.Ratio = nil
	}
	row[2] = first
	if len(arms) > 1 {
		next := f.figure(c.Name, arms[1], name, s)
		if row[3] = part.Word(f.label(arms[1].Name)); next.Ratio != nil {
			row[3].Text += " " + next.Ratio.Text
		}
	}
	return row
}

// ordered are a cell's arms, the best on a metric first and those that did not do the work
// last, and how many of the worst are left out.
func (f Found) ordered(c cells.Cell, name string) (arms []cells.Arm, left int) {
	arms = slices.Clone(c.Arms)
	set, _ := f.set(c.Name, name)
	better := metric.Shown(name).Better
	rank := func(a cells.Arm) int {
		switch i := slices.IndexFunc(set.Arms, func(b best.Arm) bool { return b.Name == a.Name }); {
		case f.out(c.Name, a.Name) != "":
			return 2 * len(c.Arms)
		case i >= 0:
			return i
		}
		return len(c.Arms)
	}
	value := func(a cells.Arm) float64 {
		s, _ := a.Summary(name)
		if better == metric.Higher {
			return -s.Value
		}
		return s.Value
	}
	slices.SortStableFunc(arms, func(a, b cells.Arm) int {
		if by := cmp.Compare(rank(a), rank(b)); by != 0 || better == "" || len(set.Arms) == 0 && f.Best == nil {
			return by
		}
		return cmp.Compare(value(a), value(b))
	})
	if len(arms) > mostRows {
		arms, left = arms[:firstRows], len(arms)-firstRows
	}
	return arms, left
}

// largest is a metric's largest figure of the arms that did the work: what failed chooses no
// unit.
func (f Found) largest(name string, in ...cells.Cell) float64 {
	largest := 0.0
	for _, c := range in {
		for _, a := range c.Arms {
			if s, ok := a.Summary(name); ok && s.Known() && f.out(c.Name, a.Name) == "" {
				largest = max(largest, s.Value)
			}
		}
	}
	return largest
}

// eventKind is how the events of all arms' replies are told apart; "" where arms differ.
func (f Found) eventKind() string {
	kind := ""
	for i, c := range f.Cells {
		for j, a := range c.Arms {
			if i+j == 0 {
				kind = a.EventKind()
			} else if a.EventKind() != kind {
				return ""
			}
		}
	}
	return kind
}

// column heads a metric's figures.
func (f Found) column(name string, s metric.Scale) part.Column {
	title, unit := metric.CalledOf(f.eventKind(), name), s.Unit
	if name == metric.ExchangesPerS {
		title, unit = f.Counted()+"/s", strings.TrimSuffix(s.Unit, "/s")
	}
	if f.Counted() == "requests" {
		unit = strings.Replace(unit, "/exchange", "/request", 1)
	}
	return part.Column{Title: title, Unit: unit, Kind: part.Numbers, Metric: name}
}

// quiet is an arm's figure over the blocks that others left quiet, where these are judged; 0
// where all are.
func (f Found) quiet(cell, arm, name string) float64 {
	for _, c := range f.Comparisons {
		switch {
		case !c.Quiet || !c.Primary || c.Cell != cell || c.Metric != name:
		case c.Arm == arm:
			return c.Value
		case c.Base == arm:
			return c.BaseValue
		}
	}
	return 0
}

// figure is an arm's figure with its relation to the best of the column: nothing for the
// best, +45 % told apart, ≈ equal, ? not told apart; (+45 %) of a metric that is not judged.
func (f Found) figure(cell string, a cells.Arm, name string, s metric.Scale) part.Datum {
	m, ok := a.Summary(name)
	switch {
	case !ok:
		return part.Missing()
	case !m.Known():
		return part.Word(cells.Unknown)
	}
	text := s.Format(cmp.Or(f.quiet(cell, a.Name, name), m.Value))
	if m.AtLeast {
		text = "≥ " + text
	}
	d := part.Value(text, "")
	set, _ := f.set(cell, name)
	i := slices.IndexFunc(set.Arms, func(b best.Arm) bool { return b.Name == a.Name })
	if i < 0 {
		if at, told := f.explored(cell, a.Name, name); told {
			d.Ratio = &part.Ratio{Text: "(" + relation(at) + ")"}
		}
		return d
	}
	switch one := set.Arms[i]; one.Standing {
	case best.Worse:
		d.Ratio = &part.Ratio{Text: relation(one.Ratio)}
	case best.Level:
		if i > 0 {
			d.Ratio = &part.Ratio{Text: "≈"}
		}
	case best.Open, best.Unknown:
		d.Ratio = &part.Ratio{Text: "?"}
	}
	return d
}

// explored returns how one of two arms stands to the other, which is better on a metric that is
// not judged, where one metric alone is; false where their interval, 95 %, does not tell them
// apart.
func (f Found) explored(cell, arm, name string) (float64, bool) {
	at := slices.IndexFunc(f.Cells, func(c cells.Cell) bool { return c.Name == cell })
	if f.Best == nil || len(f.Cells[at].Arms) != 2 || len(f.Plan().Compare.Primary) != 1 {
		return 0, false
	}
	arms, _ := f.ordered(f.Cells[at], name)
	for _, c := range f.Comparisons {
		if c.Cell != cell || c.Metric != name || c.Verdict != compare.NotJudged || c.Reason != "" || !c.Known() || c.Low <= 1 && c.High >= 1 {
			continue
		}
		switch best := arms[0].Name; {
		case c.Arm == arm && c.Base == best:
			return c.Ratio, true
		case c.Base == arm && c.Arm == best:
			return 1 / c.Ratio, true
		}
	}
	return 0, false
}

// out says why an arm did not do a cell's work; "" for one that did.
func (f Found) out(cell, arm string) string {
	if f.Best == nil {
		return ""
	}
	for _, o := range f.Best.Out {
		if o.Cell != cell || o.Arm != arm {
			continue
		}
		switch o.Why {
		case best.Absent:
			return "cannot run here"
		case best.Failed:
			return "gave no valid trial"
		case best.Overloaded:
			return "fell behind the offered rate"
		}
	}
	return ""
}

// uncompared are the arms of some cells of which nobody can tell whether they are the best.
func (f Found) uncompared(in []string) (arms []string) {
	for _, o := range f.Best.Out {
		if o.Why == best.Refused && slices.Contains(in, o.Cell) && !slices.Contains(arms, o.Arm) {
			arms = append(arms, o.Arm)
		}
	}
	return arms
}

// armIn is an arm of a cell.
func (f Found) armIn(cell, name string) (cells.Arm, bool) {
	for _, c := range f.Cells {
		for _, a := range c.Arms {
			if c.Name == cell && a.Name == name {
				return a, true
			}
		}
	}
	return cells.Arm{}, false
}
