package export

import (
	"maps"
	"math"
	"slices"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
)

// row has a value for each column; nil for one that is absent.
type row []any

// content is a table of one run. each passes its rows on, in order, and ends at the
// first error.
type content struct {
	columns []string
	each    func(func(row) error) error
}

// Table is one of the tables of a run.
type Table struct {
	Name string
	Doc  string

	build func(Run) (content, error)
}

// tables has every table; the first is what is written unless another is named.
var tables = []Table{
	{Name: "trials", Doc: "a row for each planned trial: its levels, whether it is valid and why not, every metric", build: trialsTable},
	{Name: "arms", Doc: "a row for each cell, arm and metric: the figure over blocks with its interval", build: armsTable},
	{Name: "comparisons", Doc: "a row for each comparison: the ratio with its interval, and the verdict", build: comparisonsTable},
	{Name: "metrics", Doc: "a row for each metric: its unit, which way is better, what it is", build: metricsTable},
}

// Tables returns every table. The caller owns the slice.
func Tables() []Table { return slices.Clone(tables) }

// TableNamed returns the table of that name, or an error that names the nearest one.
func TableNamed(name string) (Table, error) {
	return named("table", name, tables, func(t Table) string { return t.Name })
}

// figure is x as a cell; nil when it is no finite number.
func figure(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

// positive is figure of what is 0 where there is none.
func positive(x float64) any {
	if x <= 0 {
		return nil
	}
	return figure(x)
}

// some is s as a cell; nil when it is empty.
func some(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// timeCell is t as a cell; nil when it is not known.
func timeCell(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC()
}

// unitOf is a metric's unit with what it is divided by: "µs/exchange".
func unitOf(m metric.Metric) string {
	switch m.Unit {
	case "1":
		return m.Suffix
	case "s/s":
		return "cores"
	}
	return m.Unit + m.Suffix
}

func metricsTable(Run) (content, error) {
	c := content{columns: []string{
		"metric", "unit", "better", "label", "means", "is",
	}}
	c.each = func(yield func(row) error) error {
		for _, m := range metric.All() {
			if err := yield(row{m.Name, some(unitOf(m)), some(m.Better), m.Label, m.Doc, m.Formula}); err != nil {
				return err
			}
		}
		return nil
	}
	return c, nil
}

// levelColumns are the factors of a plan as columns.
type levelColumns struct {
	factors []string
	columns []string
}

// levelsOf returns a column for each factor of some levels, the varied ones first in
// the study's order. A factor whose name is taken by another column has "level."
// before it.
func levelsOf(plan cells.Plan, all []map[string]string, taken []string) levelColumns {
	values := map[string][]string{}
	for _, levels := range all {
		for factor, level := range levels {
			values[factor] = append(values[factor], level)
		}
	}
	var l levelColumns
	add := func(factor string) {
		if len(values[factor]) == 0 || slices.Contains(l.factors, factor) || factor == "arm" { // which is a column of its own
			return
		}
		c := factor
		for slices.Contains(taken, c) || slices.Contains(l.columns, c) {
			c = "level." + c
		}
		l.factors, l.columns = append(l.factors, factor), append(l.columns, c)
	}
	for _, f := range plan.Vary {
		add(f.Name)
	}
	for _, factor := range slices.Sorted(maps.Keys(values)) {
		add(factor)
	}
	return l
}

// row returns the cells of some levels.
func (l levelColumns) row(levels map[string]string) row {
	cells := make(row, len(l.factors))
	for i, factor := range l.factors {
		if level, ok := levels[factor]; ok {
			cells[i] = level
		}
	}
	return cells
}
