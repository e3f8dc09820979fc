package study

import (
	"slices"
	"strings"

	"netdyno/internal/record"
)

// aliasedCells warns of factors that change only together over the cells, as
// sweeps that each hold several factors at levels of their own make them: what
// differs between two such cells cannot be laid to one of them. A factorial
// design has none.
func (s *Study) aliasedCells() []record.Warning {
	if len(s.Sweeps) == 0 {
		return nil
	}
	var cells []map[string]string
	seen := map[string]bool{}
	for _, t := range s.pairs() {
		if !seen[t.Cell] {
			seen[t.Cell] = true
			cells = append(cells, t.Levels)
		}
	}
	groups := map[string][]string{}
	for _, v := range s.others() {
		if lacked(cells, v.Factor) || strings.HasPrefix(v.Factor, OptionPrefix) {
			continue // part of another factor's level, in whose cells alone it is
		}
		if p := pattern(cells, v.Factor); p != "" {
			groups[p] = append(groups[p], v.Factor)
		}
	}
	return together(groups, "over the sweeps", "compare arms within a cell, which this does not touch; to compare cells, add a sweep that crosses them")
}

// lacked reports whether some cell has no level of a factor.
func lacked(cells []map[string]string, factor string) bool {
	return slices.ContainsFunc(cells, func(levels map[string]string) bool {
		_, has := levels[factor]
		return !has
	})
}
