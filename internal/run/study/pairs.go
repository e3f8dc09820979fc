package study

import "netdyno/internal/record"

// pairs returns the study's pairs of cell and arm, each once, cell by cell, as
// trials without an order. The baseline is in every cell, also where a sweep
// names other arms only.
func (s *Study) pairs() []record.Trial {
	var trials []record.Trial
	var cells []visited
	byName := map[string]int{}
	others, arms := s.others(), s.Compared().Levels
	for _, d := range s.designs() {
		nameOf, own := d.naming(others), d.comparedLevels().Levels
		d.eachCell(func(cell []Setting) {
			name := nameOf(cell)
			if _, known := byName[name]; !known {
				byName[name] = len(cells)
				cells = append(cells, visited{name: name, design: d, cell: append([]Setting(nil), cell...), runs: make([]bool, len(arms))})
			}
			v := &cells[byName[name]]
			for i, l := range arms {
				v.runs[i] = v.runs[i] || l.Text == s.Compare.Baseline || hasText(own, l.Text)
			}
		})
	}
	for _, v := range cells {
		for i, l := range arms {
			if v.runs[i] {
				trials = append(trials, record.Trial{Cell: v.name, Arm: l.Text, Levels: v.design.unfold(v.cell, s.Arms, l)})
			}
		}
	}
	return trials
}

// visited is a cell with the first design that has it, and which levels of the
// compared factor run in it. Designs that share a cell agree on all its levels,
// since those in which designs differ are in its name.
type visited struct {
	name   string
	design *design
	cell   []Setting
	runs   []bool
}

// baselineTwice adds the baseline's second appearance in each cell.
func baselineTwice(once []record.Trial, baseline string) []record.Trial {
	var twice []record.Trial
	for _, t := range once {
		twice = append(twice, t)
		if t.Arm == baseline {
			twice = append(twice, t)
		}
	}
	return twice
}
