package export

import (
	"maps"
	"slices"

	"netdyno/internal/record"
)

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
		for named(taken, c.name) || named(l.columns, c.name) {
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

func named(columns []column, name string) bool {
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
