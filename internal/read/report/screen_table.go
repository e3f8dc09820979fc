package report

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// shortRows is how many rows a table may have and still show more than the primary
// metrics.
const shortRows = 8

// brevity says what a table of figures leaves out.
type brevity struct {
	others    int  // metrics beside the primary ones, at most
	primary   int  // primary metrics, at most
	limit     bool // the column of limits
	ratios    bool // intervals of ratios
	intervals int  // metrics whose figures have their intervals; only where there are no ratios
}

// figureForms are the forms of the one table of figures: a row for each arm in
// each cell.
func (l *layout) figureForms() [][]part.Table {
	primary, others := l.screenMetrics()
	if len(primary)+len(others) == 0 {
		return nil
	}
	if l.rows() > shortRows {
		others = nil
	}
	metrics := slices.Concat(primary, others)
	full := brevity{others: len(others), primary: len(primary), limit: true, ratios: true}
	var forms [][]part.Table
	try := func(short brevity) { forms = append(forms, []part.Table{l.figureTable(metrics, short)}) }
	if !l.hasRatios() {
		for _, n := range []int{len(metrics), 2, 1} {
			short := full
			short.intervals = n
			try(short)
		}
	}
	for n := len(others); n >= 0; n-- {
		short := full
		short.others = n
		try(short)
	}
	try(brevity{primary: len(primary), ratios: true})
	try(brevity{primary: len(primary), limit: true})
	for n := len(primary); n > 0; n-- {
		try(brevity{primary: n})
	}
	return forms
}

// rows counts the arms of all cells.
func (l *layout) rows() int {
	n := 0
	for _, c := range l.Cells {
		n += len(c.Arms)
	}
	return n
}

// hasRatios tells whether some primary comparison has a verdict to show.
func (l *layout) hasRatios() bool {
	return slices.ContainsFunc(l.Comparisons, func(c compare.Comparison) bool { return c.Primary })
}

// screenMetrics are the metrics that some cell measured and a terminal shows.
func (l *layout) screenMetrics() (primary, others []string) {
	for _, c := range l.Cells {
		for _, name := range l.choose(c, small) {
			switch {
			case l.primary[name] && !slices.Contains(primary, name):
				primary = append(primary, name)
			case !l.primary[name] && !slices.Contains(others, name):
				others = append(others, name)
			}
		}
	}
	if len(primary) == 0 && len(others) > 0 { // a run of one arm may have judged nothing
		primary, others = others[:1], others[1:]
	}
	return primary, others
}

// figureTable has a row for each arm in each cell, and columns for metrics, of
// which the primary ones come first and have their ratios behind them.
func (l *layout) figureTable(metrics []string, short brevity) part.Table {
	t := part.Table{Columns: part.OfKind(part.Arms, "")}
	if l.hasRatios() && !short.ratios {
		t.Columns[0].Unit = "÷ " + l.baseline()
	}
	primary, _ := l.screenMetrics()
	shown := slices.Concat(metrics[:short.primary], metrics[len(primary):len(primary)+short.others])
	l.eachArm(func(c cells.Cell, a cells.Arm) { t.Rows = append(t.Rows, []part.Datum{l.rowName(c, a)}) })
	for i, name := range shown {
		s := l.scaleOver(name)
		figures := []part.Datum{}
		l.eachArm(func(c cells.Cell, a cells.Arm) {
			d := l.figureBeside(c, a, name, s)
			if i >= short.primary || !l.hasRatios() {
				d = armFigure(a, name, s)
			}
			if i >= short.intervals {
				d = d.Plain()
			}
			figures = append(figures, d)
		})
		column := metricColumn(name, s)
		if i < short.primary && l.hasRatios() {
			column.Unit = strings.TrimPrefix(column.Unit+", ÷ "+l.baseline(), ", ") // a pure number has no unit
			if !short.ratios {
				column.Unit = s.Unit
			}
			column = beside(column, figures, l.ratiosOf(name, s, short.ratios))
		}
		addColumn(&t, column, figures)
		if name == metric.Goodput && slices.ContainsFunc(l.Cells, onLink) {
			var arms []cells.Arm
			l.eachArm(func(_ cells.Cell, a cells.Arm) { arms = append(arms, a) })
			column, figures := inGigabits(arms)
			for i := range figures {
				figures[i] = figures[i].Plain()
			}
			addColumn(&t, column, figures)
		}
	}
	if short.limit {
		limits := []part.Datum{}
		l.eachArm(func(_ cells.Cell, a cells.Arm) { limits = append(limits, part.Word(string(a.Limit))) })
		addColumn(&t, part.Column{Title: "limit", Kind: part.Limits}, limits)
	}
	if more := len(primary) - short.primary; more > 0 {
		t.Notes = []string{quantity.Plural(more, "more metric")}
	}
	return t
}

// figureBeside is an arm's figure as it stands beside its ratio where there is no room
// to say of what the ratio is the quotient: over the blocks of the ratio, where these
// are not all that the arm has.
func (l *layout) figureBeside(c cells.Cell, a cells.Arm, name string, s metric.Scale) part.Datum {
	cmp, ok := l.compared[comparisonKey{c.Name, a.Name, name}]
	if !ok || !cmp.Partial || withheld(cmp) || !cmp.Known() {
		return armFigure(a, name, s)
	}
	m, has := cells.SummaryOver(a, metric.Shown(name), cmp.In)
	if !has {
		return part.Missing()
	}
	m.Of, m.AtLeast = cmp.Of, cmp.AtLeast
	return figureOf(m, s)
}

// eachArm calls do for each arm in each cell, in the study's order.
func (l *layout) eachArm(do func(c cells.Cell, a cells.Arm)) {
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			do(c, a)
		}
	}
}

// rowName names an arm in a cell by what differs between the rows.
func (l *layout) rowName(c cells.Cell, a cells.Arm) part.Datum {
	switch {
	case len(l.Cells) == 1:
		d := l.named(a.Name)
		d.Detail = ""
		return d
	case len(l.keys) < 2:
		return part.Word(l.cell(c.Name))
	}
	return part.Word(l.called(a.Name) + " at " + l.cell(c.Name))
}

// scaleOver is a metric's unit for all cells, by its largest figure.
func (l *layout) scaleOver(name string) metric.Scale {
	largest := 0.0
	l.eachArm(func(_ cells.Cell, a cells.Arm) {
		if m, ok := summaryOf(a, name); ok {
			largest = max(largest, m.Value)
		}
	})
	return part.ScaleFor(name, largest)
}

// ratiosOf are the arms' ratios on a metric, in the order of the rows. One of which the
// divisor is not the baseline's figure in the table, as the arms do not share all
// blocks, has it beside it: "0.98× of 254".
func (l *layout) ratiosOf(name string, s metric.Scale, intervals bool) []part.Datum {
	ratios := []part.Datum{}
	l.eachArm(func(c cells.Cell, a cells.Arm) {
		d := part.Datum{}
		if !a.Baseline {
			d.Ratio = l.screenRatio(c, a, name, s)
		}
		ratios = append(ratios, d)
	})
	return trimmed(ratios, intervals)
}

// screenRatio is an arm's ratio; one that there is none of is only its mark, because a
// figure that is printed is believed.
func (l *layout) screenRatio(c cells.Cell, a cells.Arm, name string, s metric.Scale) *part.Ratio {
	r := l.ratioTo(c, a, name, s)
	switch {
	case r == nil:
	case r.Verdict.Refused():
		return &part.Ratio{Verdict: r.Verdict}
	case r.Of != "":
		divisor := s.Format(l.compared[comparisonKey{c.Name, a.Name, name}].BaseValue)
		for _, base := range c.Arms {
			if m, ok := summaryOf(base, name); base.Baseline && ok && m.Known() && s.Format(m.Value) == divisor {
				return r
			}
		}
		r.Text += " of " + divisor
	}
	return r
}

// beside puts ratios behind the figures of a column, each aligned for itself.
func beside(c part.Column, figures, ratios []part.Datum) part.Column {
	wide := 0
	for _, d := range figures {
		wide = max(wide, utf8.RuneCountInString(*textOf(&d)))
	}
	for i := range figures {
		text := textOf(&figures[i])
		*text = strings.Repeat(" ", wide-utf8.RuneCountInString(*text)) + *text
		if r := ratios[i].Ratio; r != nil {
			apart := *r
			apart.Text = " " + cmp.Or(r.Text, part.None)
			figures[i].Ratio = &apart
		}
	}
	c.Kind = part.Words
	return c
}

// textOf is the text of a value's figure, or what stands in its place.
func textOf(d *part.Datum) *string {
	if d.Figure != nil {
		return &d.Figure.Text
	}
	return &d.Text
}

// trimmed leaves ratios without their intervals where these are not wanted.
func trimmed(ratios []part.Datum, intervals bool) []part.Datum {
	if intervals {
		return ratios
	}
	return part.Table{Rows: [][]part.Datum{ratios}}.WithoutIntervals().Rows[0]
}

// addColumn appends a column unless no row has anything in it.
func addColumn(t *part.Table, c part.Column, values []part.Datum) {
	if !slices.ContainsFunc(values, func(d part.Datum) bool {
		return d.Figure != nil || d.Ratio != nil || d.Text != "" && d.Text != string(trial.Unknown)
	}) {
		return
	}
	t.Columns = append(t.Columns, c)
	for i := range t.Rows {
		t.Rows[i] = append(t.Rows[i], values[i])
	}
}

// matrixForms are the tables of effects of a run with several cells, one for each
// primary metric; nil for any other run, and where no ratio may be shown.
func (l *layout) matrixForms() [][]part.Table {
	if len(l.Cells) < 2 || len(l.Header.Study.Vary) == 0 {
		return nil
	}
	forms := make([][]part.Table, 4)
	for _, name := range l.Header.Study.Compare.Primary {
		byArm := l.effectTable(name)
		if len(byArm.Rows) == 0 {
			continue
		}
		byCell := turned(byArm)
		for i, form := range []part.Table{byArm, byCell, byArm.WithoutIntervals(), byCell.WithoutIntervals()} {
			forms[i] = append(forms[i], form)
		}
	}
	if !slices.ContainsFunc(forms[0], hasFigures) {
		return nil
	}
	return forms
}

// hasFigures tells whether a ratio of a table is shown.
func hasFigures(t part.Table) bool {
	return slices.ContainsFunc(t.Rows, func(row []part.Datum) bool {
		return slices.ContainsFunc(row, func(d part.Datum) bool { return d.Ratio != nil && d.Ratio.Text != "" })
	})
}

// effectTable has a row for each arm that some cell compares with the baseline on
// a metric, and a column for each cell.
func (l *layout) effectTable(name string) part.Table {
	t := part.Table{Columns: part.OfKind(part.Arms, part.Label(name)+" ÷ "+l.baseline())}
	for _, c := range l.Cells {
		t.Columns = append(t.Columns, part.Figures(l.cell(c.Name))...)
	}
	for _, arm := range l.Header.Study.Vary[0].Levels {
		row, compared := []part.Datum{l.named(arm)}, false
		for _, c := range l.Cells {
			d := part.Datum{}
			if arm != l.baseline() {
				if d.Ratio = l.screenRatio(c, cells.Arm{Name: arm}, name, part.ScaleFor(name, 0)); d.Ratio != nil {
					d.Ratio.Text, _, _ = strings.Cut(d.Ratio.Text, " of ") // no figures stand beside it
				}
			}
			compared = compared || d.Ratio != nil
			row = append(row, d)
		}
		if compared {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// turned puts a table's columns into rows.
func turned(t part.Table) part.Table {
	turned := part.Table{Columns: []part.Column{t.Columns[0]}}
	for _, row := range t.Rows {
		turned.Columns = append(turned.Columns, part.Figures(row[0].Text)...)
	}
	for i, c := range t.Columns[1:] {
		row := part.Row(c.Title)
		for _, from := range t.Rows {
			row = append(row, from[i+1])
		}
		turned.Rows = append(turned.Rows, row)
	}
	return turned
}
