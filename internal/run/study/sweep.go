package study

import "slices"

// Sweep is a named part of a study that has levels of its own. The plan is the
// union of its sweeps' cells and arms.
type Sweep struct {
	Name string
	Hold []Setting // in the place of what the study holds
	Vary []Varied  // beside what the study varies; of a factor in both, some of its levels
	at   place
}

// designs returns the factorial designs whose union the study is: each sweep
// with all that the study holds and varies for it, or the study alone.
func (s *Study) designs() []*Study {
	if len(s.Sweeps) == 0 {
		return []*Study{s}
	}
	designs := make([]*Study, len(s.Sweeps))
	for i, w := range s.Sweeps {
		d := *s
		d.Sweeps, d.top = nil, w.at
		d.Hold, d.Vary, d.Arms = nil, nil, nil
		for _, h := range s.Hold {
			if !w.sets(h.Factor) {
				d.Hold = append(d.Hold, h)
			}
		}
		d.Hold = append(d.Hold, w.Hold...)
		for _, v := range s.Vary {
			if own := w.varied(v.Factor); own != nil {
				v = *own
			}
			d.Vary = append(d.Vary, v)
		}
		for _, v := range w.Vary {
			if s.varied(v.Factor) == nil {
				d.Vary = append(d.Vary, v)
			}
		}
		for _, a := range s.Arms {
			if hasText(d.varied(armFactor).Levels, a.Name) {
				d.Arms = append(d.Arms, a)
			}
		}
		designs[i] = &d
	}
	return designs
}

func (w *Sweep) varied(factor string) *Varied {
	for i := range w.Vary {
		if w.Vary[i].Factor == factor {
			return &w.Vary[i]
		}
	}
	return nil
}

func (w *Sweep) sets(factor string) bool {
	_, held := find(w.Hold, factor)
	return held || w.varied(factor) != nil
}

// others returns the factors that name the cells: all that vary beside the
// compared one, and those that sweeps hold differently. A factor's levels are
// those of all sweeps.
func (s *Study) others() []Varied {
	if len(s.Sweeps) == 0 {
		return s.crossed()
	}
	designs := s.designs()
	var others []Varied
	for _, factor := range s.sweptFactors() {
		v := Varied{Factor: factor}
		varies, absent := false, false
		for _, d := range designs {
			varies = varies || d.varied(factor) != nil
			levels := d.levelsIn(factor)
			absent = absent || len(levels) == 0
			for _, l := range levels {
				if !hasText(v.Levels, l.Text) {
					v.Levels = append(v.Levels, l)
				}
			}
		}
		if varies || absent || len(v.Levels) > 1 {
			v.sort()
			others = append(others, v)
		}
	}
	return others
}

// sweptFactors lists what the study varies and its sweeps set, but for the
// compared factor: the former as written, the latter, which sweeps write each
// in an order of its own, as the table has them and options last.
func (s *Study) sweptFactors() []string {
	var names []string
	add := func(factor string) {
		if factor != s.Compare.Factor && !slices.Contains(names, factor) {
			names = append(names, factor)
		}
	}
	for _, v := range s.Vary {
		add(v.Factor)
	}
	written := len(names)
	for _, w := range s.Sweeps {
		for _, h := range w.Hold {
			add(h.Factor)
		}
		for _, v := range w.Vary {
			add(v.Factor)
		}
	}
	rank := func(factor string) int {
		if i := slices.IndexFunc(factors, func(f Factor) bool { return f.Name == factor }); i >= 0 {
			return i
		}
		return len(factors)
	}
	slices.SortStableFunc(names[written:], func(a, b string) int { return rank(a) - rank(b) })
	return names
}

// levelsIn returns the levels that a factor has in a design's cells; none for
// one that the design leaves out, and for a default that settle takes away.
func (s *Study) levelsIn(factor string) []Level {
	levels := s.choices(nil, factor)
	if len(levels) != 1 || explicit(levels[0]) {
		return levels
	}
	settled := defaults()
	for _, source := range follows[factor] {
		if by := s.choices(nil, source); len(by) > 0 {
			settled[source] = by[0]
		}
	}
	settle(settled)
	if l, remains := settled[factor]; !remains || l.Text != levels[0].Text {
		return nil
	}
	return levels
}

// naming returns how a design names its cells: by the study's factors that
// name cells, of which the design itself varies some, holds some and lacks
// others.
func (s *Study) naming(others []Varied) func(cell []Setting) string {
	held := map[string][]Level{}
	for _, v := range others {
		if s.varied(v.Factor) == nil {
			held[v.Factor] = s.levelsIn(v.Factor)
		}
	}
	return func(cell []Setting) string {
		named := make([]Setting, 0, len(others))
		for _, v := range others {
			if l, ok := find(cell, v.Factor); ok {
				named = append(named, Setting{v.Factor, l})
			} else if levels := held[v.Factor]; len(levels) == 1 {
				named = append(named, Setting{v.Factor, levels[0]})
			}
		}
		return cellName(named)
	}
}

// sort orders numbers, which come from several sweeps in no order of their
// own; other levels stay as they were met.
func (v *Varied) sort() {
	f, err := factorNamed(v.Factor)
	if err != nil || f.Kind == Text {
		return
	}
	slices.SortStableFunc(v.Levels, func(a, b Level) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
}
