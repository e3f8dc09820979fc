package study

import (
	"maps"

	"netdyno/internal/record"
)

// MaxLabel bounds a label in characters.
const MaxLabel = 60

// labels are the plain words for levels and cells. Labels of arms and levels come from
// the study, that of a cell which only one sweep has is the sweep's.
func (s *Study) labels() record.Labels {
	levels := map[string]map[string]string{}
	for factor, of := range s.Labels {
		levels[factor] = maps.Clone(of)
	}
	arms := map[string]string{}
	for _, a := range s.Arms {
		if a.Label != "" {
			arms[a.Name] = a.Label
		}
	}
	if len(arms) > 0 {
		levels[ArmFactor] = arms
	}
	all := record.Labels{Cells: s.cellLabels()}
	if len(levels) > 0 {
		all.Levels = levels
	}
	return all
}

// cellLabels are the labels of cells that only one sweep has. A sweep's label names a
// cell only when the sweep has no other cell: the label of a sweep of several cells would
// say less than the cells' levels.
func (s *Study) cellLabels() map[string]record.CellLabel {
	if len(s.Sweeps) == 0 {
		return nil
	}
	others := s.others()
	owned, shared := make([]map[string]record.CellLabel, len(s.Sweeps)), map[string]bool{}
	seen := map[string]int{}
	for i, d := range s.designs() {
		owned[i] = map[string]record.CellLabel{}
		nameOf := d.naming(others)
		d.eachCell(func(cell []Setting) {
			name := nameOf(cell)
			if at, known := seen[name]; known && at != i {
				shared[name] = true
			}
			seen[name] = i
			owned[i][name] = record.CellLabel{Label: s.Sweeps[i].Label, Beside: cellName(cell)}
		})
	}
	all := map[string]record.CellLabel{}
	for i, cells := range owned {
		for name, label := range cells {
			if label.Label == "" && len(cells) == 1 {
				label.Label = s.Sweeps[i].Name
			}
			if label.Label != "" && !shared[name] {
				all[name] = label
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}
