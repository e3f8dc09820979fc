package study

import (
	"slices"

	"netdyno/internal/record"
)

// checkTwice refuses a factor that is set in two places: the levels of a
// trial must be plain from the study.
func (s *Study) checkTwice() error {
	first := map[string]Position{}
	for _, h := range s.Hold {
		first[h.Factor] = h.Level.At
	}
	for _, v := range s.Vary {
		if earlier, twice := first[v.Factor]; twice {
			return Errorf(v.At, "%s varies here and is held at %s; expected one of them", v.Factor, where(earlier))
		}
		first[v.Factor] = v.At
	}
	for _, a := range s.Arms {
		for _, x := range a.Settings {
			if earlier, twice := first[x.Factor]; twice {
				return Errorf(x.Level.At, "%s is set by arm %s here and by the whole study at %s; expected one of them", x.Factor, a.Name, where(earlier))
			}
		}
	}
	for i := range s.Sweeps {
		if err := s.checkSweep(&s.Sweeps[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkSweep refuses a sweep that sets one factor twice, or a factor that a sweep may not
// set. A factor that the whole study holds may be held or varied otherwise by a sweep.
func (s *Study) checkSweep(w *Sweep) error {
	set := map[string]Position{}
	for _, h := range w.Hold {
		set[h.Factor] = h.Level.At
		if v := FindVaried(s.Vary, h.Factor); v != nil {
			return Errorf(h.Level.At, "sweep %s holds %s, which varies in the whole study at %s; write one of its levels under the sweep's vary", w.Name, h.Factor, where(v.At))
		}
	}
	for _, v := range w.Vary {
		if earlier, twice := set[v.Factor]; twice {
			return Errorf(v.At, "%s varies here and is held at %s; expected one of them", v.Factor, where(earlier))
		}
		set[v.Factor] = v.At
	}
	for _, a := range s.Arms {
		for _, x := range a.Settings {
			if here, twice := set[x.Factor]; twice {
				return Errorf(here, "%s is set by sweep %s here and by arm %s at %s; expected one of them", x.Factor, w.Name, a.Name, where(x.Level.At))
			}
		}
	}
	return s.checkSweptArms(w, set)
}

// CheckSweptBaseline refuses a sweep that gives other arms levels of their own and the
// baseline, which runs in every cell, none.
func (s *Study) CheckSweptBaseline() error {
	for _, w := range s.Sweeps {
		if len(w.Arms) > 0 && s.Compare.Factor == ArmFactor && !slices.ContainsFunc(w.Arms, func(a Arm) bool { return a.Name == s.Compare.Baseline }) {
			return Errorf(w.At, "sweep %s gives arms levels of their own, and the baseline %s none; expected it among them", w.Name, s.Compare.Baseline)
		}
	}
	return nil
}

// checkSweptArms refuses a level of an arm in a sweep whose factor the study, the sweep
// or the arm itself sets too.
func (s *Study) checkSweptArms(w *Sweep, set map[string]Position) error {
	for _, a := range w.Arms {
		for _, x := range a.Settings {
			earlier, twice := set[x.Factor]
			by := "the sweep"
			if v := FindVaried(s.Vary, x.Factor); v != nil {
				earlier, twice, by = v.At, true, "the whole study"
			}
			if l, held := Find(s.Hold, x.Factor); held && !twice {
				earlier, twice, by = l.At, true, "the whole study"
			}
			if own := s.armNamed(a.Name); own != nil && !twice {
				if l, has := Find(own.Settings, x.Factor); has {
					earlier, twice, by = l.At, true, "the arm itself"
				}
			}
			if twice {
				return Errorf(x.Level.At, "%s is set for arm %s in sweep %s here and by %s at %s; expected one of them", x.Factor, a.Name, w.Name, by, where(earlier))
			}
		}
	}
	return nil
}

// CheckCompared demands that what is compared is the whole study's: a sweep
// may leave levels of it out, but not bring its own.
func (s *Study) CheckCompared() error {
	if len(s.Sweeps) > 0 && len(s.Compared().Levels) == 0 {
		return Errorf(s.At, "every sweep names ends of its own, so nothing is compared; write arm, transport or server under the study's own hold or vary")
	}
	for i := range s.Sweeps {
		w := &s.Sweeps[i]
		if factor := s.Compare.Factor; w.Sets(factor) && !s.Varies(factor) {
			return Errorf(w.At, "sweep %s sets %s, which is compared; vary it for the whole study, and under the sweep's vary name some of its levels", w.Name, factor)
		}
	}
	return nil
}

// pairs returns the study's pairs of cell and arm, each once, cell by cell, as
// trials without an order.
func (s *Study) pairs() []record.Trial {
	var trials []record.Trial
	for _, v := range s.cells(s.others()) {
		for i, l := range s.Compared().Levels {
			if v.runs[i] {
				trials = append(trials, v.trial(l))
			}
		}
	}
	return trials
}

// cells returns the study's cells, each once, named by some factors. The baseline is in
// every cell, also where a sweep names other arms only.
func (s *Study) cells(names []Varied) []visited {
	var cells []visited
	byName, arms := map[string]int{}, s.Compared().Levels
	for _, d := range s.designs() {
		nameOf, own := d.naming(names), d.comparedLevels().Levels
		d.eachCell(func(cell []Setting) {
			name := nameOf(cell)
			if _, known := byName[name]; !known {
				byName[name] = len(cells)
				cells = append(cells, visited{name: name, design: d, cell: slices.Clone(cell), runs: make([]bool, len(arms))})
			}
			v := &cells[byName[name]]
			for i, l := range arms {
				v.runs[i] = v.runs[i] || l.Text == s.Compare.Baseline || hasText(own, l.Text)
			}
		})
	}
	return cells
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

// trial is one of the cell with a level of the compared factor, without an order.
func (v *visited) trial(compared Level) record.Trial {
	return record.Trial{Cell: v.name, Arm: compared.Text, Levels: v.design.unfold(v.cell, compared)}
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
