package study

import (
	"maps"
	"slices"

	"netdyno/internal/record"
)

// owners are where factors have their levels.
type owners map[string]owner

type owner struct {
	by string
	at Position
}

func (o owners) add(factor, by string, at Position) error {
	if first, twice := o[factor]; twice {
		return Errorf(at, "%s is set by %s here and by %s at %s; expected one of them", factor, by, first.by, where(first.at))
	}
	o[factor] = owner{by, at}
	return nil
}

// addAll enters what a part of a study holds and varies.
func (o owners) addAll(part string, hold []Setting, vary []Varied) error {
	for _, h := range hold {
		if err := o.add(h.Factor, part+"hold", h.Level.At); err != nil {
			return err
		}
	}
	for _, v := range vary {
		if err := o.add(v.Factor, part+"vary", v.At); err != nil {
			return err
		}
	}
	return nil
}

// addArms enters what arms bundle, each beside what all of them have.
func (o owners) addArms(arms []Arm) error {
	for _, a := range arms {
		own := maps.Clone(o)
		for _, x := range a.Settings {
			if err := own.add(x.Factor, "arm "+a.Name, x.Level.At); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkTwice refuses a factor that is set in two places: the levels of a trial must be
// plain from the study. A sweep may set otherwise what the study holds, and vary some of
// the levels that it varies.
func (s *Study) checkTwice() error {
	whole := owners{}
	if err := whole.addAll("", s.Hold, s.Vary); err != nil {
		return err
	}
	if err := whole.addArms(s.Arms); err != nil {
		return err
	}
	for i := range s.Sweeps {
		w, own := &s.Sweeps[i], owners{}
		for _, v := range s.Vary {
			if FindVaried(w.Vary, v.Factor) == nil {
				own[v.Factor] = whole[v.Factor]
			}
		}
		if err := own.addAll("sweep "+w.Name+"'s ", w.Hold, w.Vary); err != nil {
			return err
		}
		for factor, by := range whole {
			if _, otherwise := own[factor]; !otherwise {
				own[factor] = by
			}
		}
		if err := own.addArms(s.designOf(w).bundles); err != nil {
			return err
		}
	}
	return nil
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
