package export

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// kind is the type of a column.
type kind int

const (
	text     kind = iota // string
	floating             // float64
	whole                // int64
	flag                 // bool
	instant              // time.Time
)

// column is one variable of a table.
type column struct {
	name string
	kind kind
	unit string // of a figure; "" for what has none
}

// row has a value for each column, of its kind; nil for one that is absent.
type row []any

// content is a table of one run. each passes its rows on, in order, and ends at the
// first error.
type content struct {
	columns []column
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

// kindOf returns the kind that all of these levels have: whole numbers, numbers or
// text.
func kindOf(levels []string) kind {
	if len(levels) == 0 {
		return text
	}
	k := whole
	for _, level := range levels {
		if _, err := strconv.ParseInt(level, 10, 64); err != nil {
			k = floating
		}
		if x, err := strconv.ParseFloat(level, 64); err != nil || figure(x) == nil {
			return text
		}
	}
	return k
}

// typed is a level as a cell of a column of that kind.
func typed(level string, k kind) any {
	switch k {
	case whole:
		if n, err := strconv.ParseInt(level, 10, 64); err == nil {
			return n
		}
	case floating:
		if x, err := strconv.ParseFloat(level, 64); err == nil {
			return x
		}
	}
	return level
}

func metricsTable(Run) (content, error) {
	c := content{columns: []column{
		{name: "metric"}, {name: "unit"}, {name: "better"}, {name: "label"}, {name: "means"}, {name: "is"},
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
	columns []column
}

// levelsOf returns a column for each factor of some levels, the varied ones first in
// the study's order. A factor whose name is taken by another column has "level."
// before it.
func levelsOf(study record.Study, all []map[string]string, taken []column) levelColumns {
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
		c := column{name: factor, kind: kindOf(values[factor])}
		for isColumn(c.name, taken) || isColumn(c.name, l.columns) {
			c.name = "level." + c.name
		}
		l.factors, l.columns = append(l.factors, factor), append(l.columns, c)
	}
	for _, f := range study.Vary {
		add(f.Name)
	}
	for _, factor := range slices.Sorted(maps.Keys(values)) {
		add(factor)
	}
	return l
}

func isColumn(name string, columns []column) bool {
	return slices.ContainsFunc(columns, func(c column) bool { return c.name == name })
}

// row returns the cells of some levels.
func (l levelColumns) row(levels map[string]string) row {
	cells := make(row, len(l.factors))
	for i, factor := range l.factors {
		if level, ok := levels[factor]; ok {
			cells[i] = typed(level, l.columns[i].kind)
		}
	}
	return cells
}
