package study

import (
	"cmp"
	"slices"
)

// whole is the study's own design, without its sweeps.
func (s *Study) whole() *design {
	return &design{hold: s.Hold, vary: s.Vary, bundles: s.Arms, arms: s.Arms, compared: s.Compare.Factor, mesh: s.Mesh, ways: s.sample(), at: s.At}
}

// Compared returns the compared factor with its levels, which are the arms. One
// that is only held has one level, so that a study of a single arm has a
// baseline too.
func (s *Study) Compared() Varied { return s.whole().comparedLevels() }

// designs returns the factorial designs whose union the study is: each sweep
// with all that the study holds and varies for it, or the study alone.
func (s *Study) designs() []*design {
	if len(s.Sweeps) == 0 {
		return []*design{s.whole()}
	}
	designs := make([]*design, len(s.Sweeps))
	for i := range s.Sweeps {
		designs[i] = s.designOf(&s.Sweeps[i])
	}
	return designs
}

func (s *Study) designOf(w *Sweep) *design {
	d := &design{compared: s.Compare.Factor, mesh: s.Mesh, ways: s.sample(), at: w.At}
	for _, h := range s.Hold {
		if !w.Sets(h.Factor) {
			d.hold = append(d.hold, h)
		}
	}
	d.hold = append(d.hold, w.Hold...)
	for _, v := range s.Vary {
		if own := FindVaried(w.Vary, v.Factor); own != nil {
			v = *own
		}
		d.vary = append(d.vary, v)
	}
	for _, v := range w.Vary {
		if !s.Varies(v.Factor) {
			d.vary = append(d.vary, v)
		}
	}
	for _, a := range s.Arms {
		if i := slices.IndexFunc(w.Arms, func(own Arm) bool { return own.Name == a.Name }); i >= 0 {
			a.Settings = slices.Concat(a.Settings, w.Arms[i].Settings)
		}
		d.bundles = append(d.bundles, a)
		if hasText(FindVaried(d.vary, ArmFactor).Levels, a.Name) {
			d.arms = append(d.arms, a)
		}
	}
	return d
}

// sweepsGiveArms tells whether arms have levels of their own in any sweep.
func (s *Study) sweepsGiveArms() bool {
	return slices.ContainsFunc(s.Sweeps, func(w Sweep) bool { return len(w.Arms) > 0 })
}

// bundle returns an arm as it is in a design, whether it runs there or not; nil for none of
// that name.
func (d *design) bundle(name string) *Arm {
	i := slices.IndexFunc(d.bundles, func(a Arm) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &d.bundles[i]
}

// distinctSweeps refuses sweeps that share a cell in which an arm has other levels: the
// cell's trials would not say which.
func (s *Study) distinctSweeps() error {
	if !s.sweepsGiveArms() {
		return nil
	}
	others := s.others()
	first := map[string]int{}
	for i, d := range s.designs() {
		var err error
		nameOf := d.naming(others)
		d.eachCell(func(cell []Setting) {
			name := nameOf(cell)
			at, known := first[name]
			if !known {
				first[name] = i
			} else if own := s.Sweeps[i].Arms; err == nil && (len(own) > 0 || len(s.Sweeps[at].Arms) > 0) {
				err = Errorf(s.Sweeps[i].At, "sweep %s has a cell of sweep %s (%s), and its arms have levels of their own; expected a factor that the two hold at different levels",
					s.Sweeps[i].Name, s.Sweeps[at].Name, cmp.Or(name, "the only one"))
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// others returns the factors that name the cells: all factors that vary
// beside the compared one, and all that sweeps hold differently. A factor's
// levels are those of all sweeps.
func (s *Study) others() []Varied {
	if len(s.Sweeps) == 0 {
		return s.whole().crossed()
	}
	designs := s.designs()
	var others []Varied
	for _, factor := range s.sweptFactors() {
		v := Varied{Factor: factor}
		varies, absent := false, false
		for _, d := range designs {
			varies = varies || FindVaried(d.vary, factor) != nil
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

// sort orders numbers, which come from several sweeps in no order of their
// own; other levels stay as they were met.
func (v *Varied) sort() {
	f, err := FactorNamed(v.Factor)
	if err != nil || f.Kind == Text {
		return
	}
	slices.SortStableFunc(v.Levels, func(a, b Level) int {
		switch {
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return 0
	})
}
