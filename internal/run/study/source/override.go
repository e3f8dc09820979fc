package source

import (
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
)

// override makes the study that a file describes and arguments change: a factor
// that is typed leaves its place in the file, whether it was held or varied
// there. What the file says of the results stays as far as the changed study
// still has what it speaks of.
func (a *Arguments) override(base draft) (*study.Study, error) {
	var original *study.Study
	if base.views != nil || base.requires != nil {
		var err error
		if original, err = base.complete(); err != nil {
			return nil, err
		}
	}
	d, err := a.change(base)
	if err != nil {
		return nil, err
	}
	s, err := d.complete()
	if err != nil || original == nil {
		return s, err
	}
	s.KeepViews(original)
	if a.typed.requires == nil {
		s.KeepRequires(original)
	}
	return s, nil
}

// change returns the file's draft as the arguments change it, less what it says
// of the results. The file's own stays as it is.
func (a *Arguments) change(base draft) (draft, error) {
	d, typed := base, &a.typed
	d.hold, d.vary, d.arms, d.sweeps = slices.Clone(d.hold), slices.Clone(d.vary), slices.Clone(d.arms), slices.Clone(d.sweeps)
	d.views, d.requires = nil, typed.requires
	d.replaceEnds(typed)
	if typed.sets("message") {
		d.forgetMessage(typed)
	}
	if a.arms != nil {
		if err := d.selectArms(a.arms); err != nil {
			return d, err
		}
	}
	for _, h := range typed.hold {
		if err := d.overrideHeld(h); err != nil {
			return d, err
		}
	}
	for _, v := range typed.vary {
		if err := d.overrideVaried(v); err != nil {
			return d, err
		}
	}
	d.overrideRest(typed)
	return d, nil
}

// overrideRest replaces what belongs to the whole study.
func (d *draft) overrideRest(typed *draft) {
	if typed.name != "" {
		d.name = typed.name
	}
	if typed.question != "" {
		d.question = typed.question
	}
	if typed.blocks != nil {
		d.blocks, d.further = typed.blocks, nil // whoever types the blocks means those alone
	}
	if typed.further != nil {
		d.further = typed.further
	}
	if typed.mesh != nil {
		d.mesh = typed.mesh
	}
	if typed.settle != nil {
		d.settle = typed.settle
	}
	if typed.capacity != nil {
		d.capacity = typed.capacity
	}
	if typed.probes != nil {
		d.probes = typed.probes
	}
	if typed.seed != nil {
		d.seed = typed.seed
	}
	d.compare.changeBy(typed.compare)
	d.keepAlso()
}

// overrideHeld holds a typed factor everywhere, so each sweep forgets its own.
func (d *draft) overrideHeld(typed study.Setting) error {
	if err := d.refuseOfArm(typed.Factor, typed.At); err != nil {
		return err
	}
	for i := range d.sweeps {
		d.sweeps[i].Hold, d.sweeps[i].Vary = withoutSetting(d.sweeps[i].Hold, typed.Factor), withoutVaried(d.sweeps[i].Vary, typed.Factor)
	}
	d.vary = withoutVaried(d.vary, typed.Factor)
	for i := range d.hold {
		if d.hold[i].Factor == typed.Factor {
			d.hold[i] = typed // keeps the order of the file
			return nil
		}
	}
	d.hold = append(d.hold, typed)
	return nil
}

// overrideVaried varies a typed factor. Where the file varies it for the whole
// study, sweeps forget their own. Else its levels replace those of the sweeps
// that vary the factor; sweeps that hold it are what they are by that level and
// keep it.
func (d *draft) overrideVaried(typed study.Varied) error {
	if err := d.refuseOfArm(typed.Factor, typed.At); err != nil {
		return err
	}
	if whole := study.FindVaried(d.vary, typed.Factor); whole != nil {
		*whole = typed // keeps the order of the file
		for i := range d.sweeps {
			d.sweeps[i].Hold, d.sweeps[i].Vary = withoutSetting(d.sweeps[i].Hold, typed.Factor), withoutVaried(d.sweeps[i].Vary, typed.Factor)
		}
		d.hold = withoutSetting(d.hold, typed.Factor)
		return nil
	}
	swept, err := d.overrideSwept(typed)
	if err != nil || swept {
		return err
	}
	d.hold = withoutSetting(d.hold, typed.Factor)
	d.vary = append(d.vary, typed)
	return nil
}

// overrideSwept gives typed levels to the sweeps that vary the factor; false when
// none does.
func (d *draft) overrideSwept(typed study.Varied) (swept bool, err error) {
	var holds *study.Sweep
	for i := range d.sweeps {
		w := &d.sweeps[i]
		if _, held := study.Find(w.Hold, typed.Factor); held {
			holds = w
		}
		if study.FindVaried(w.Vary, typed.Factor) != nil {
			w.Vary = slices.Clone(w.Vary)
			*study.FindVaried(w.Vary, typed.Factor) = typed
			swept = true
		}
	}
	if holds != nil && !swept {
		level, _ := study.Find(holds.Hold, typed.Factor)
		return false, study.Errorf(typed.At, "%s cannot be given several levels: sweep %s holds it at %s (%s) and none varies it; type one level for all sweeps",
			typed.Factor, holds.Name, level.Text, level.At)
	}
	return swept, nil
}

// refuseOfArm refuses to override a factor that an arm of the file sets.
func (d *draft) refuseOfArm(factor string, typed study.Position) error {
	for _, a := range d.arms {
		for _, s := range a.Settings {
			if s.Factor == factor {
				return study.Errorf(typed, "%s cannot be overridden: arm %s sets it (%s); choose arms by arm=NAME,…", factor, a.Name, s.At)
			}
		}
	}
	return nil
}

// selectArms keeps the arms that were typed, in the typed order.
func (d *draft) selectArms(typed *node) error {
	if len(d.arms) == 0 {
		return typed.at.errorf("the study has no arms to choose from")
	}
	var names []string
	for _, a := range d.arms {
		names = append(names, a.Name)
	}
	var chosen []study.Arm
	for _, item := range typed.items {
		i := slices.Index(names, item.text)
		if i < 0 {
			return typed.at.errorf("the study has no arm %q; %s", quantity.Clip(item.text, 80), quantity.Hint(item.text, names))
		}
		if slices.ContainsFunc(chosen, func(c study.Arm) bool { return c.Name == item.text }) {
			return typed.at.errorf("arm %s is chosen twice", item.text)
		}
		chosen = append(chosen, d.arms[i])
	}
	d.arms = chosen
	study.FindVaried(d.vary, armFactor).Levels = namesOf(chosen)
	return d.selectInSweeps(typed)
}

// selectInSweeps keeps the chosen arms in sweeps that name theirs; a sweep
// without any goes.
func (d *draft) selectInSweeps(typed *node) error {
	if len(d.sweeps) == 0 {
		return nil
	}
	d.sweeps = slices.DeleteFunc(d.sweeps, func(w study.Sweep) bool {
		own := study.FindVaried(w.Vary, armFactor)
		return own != nil && len(d.chosen(own.Levels)) == 0
	})
	for i := range d.sweeps {
		w := &d.sweeps[i]
		if study.FindVaried(w.Vary, armFactor) != nil {
			w.Vary = slices.Clone(w.Vary)
			own := study.FindVaried(w.Vary, armFactor)
			own.Levels = d.chosen(own.Levels)
		}
	}
	if len(d.sweeps) == 0 {
		return typed.at.errorf("no sweep of the study has any of these arms")
	}
	return nil
}

// chosen returns those of some names of arms that the draft has.
func (d *draft) chosen(names []study.Level) []study.Level {
	return slices.DeleteFunc(slices.Clone(names), func(l study.Level) bool { return !d.hasArm(l.Text) })
}

func (d *draft) hasArm(name string) bool {
	return slices.ContainsFunc(d.arms, func(a study.Arm) bool { return a.Name == name })
}

// keepAlso leaves those further pairs of a file out of which an override has left
// no arm, or made one the baseline.
func (d *draft) keepAlso() {
	if len(d.arms) == 0 {
		return
	}
	d.compare.also = slices.DeleteFunc(slices.Clone(d.compare.also), func(p alsoPair) bool {
		isBaseline := d.compare.baseline != nil && (p.arm.text == d.compare.baseline.text || p.base.text == d.compare.baseline.text)
		return isBaseline || !d.hasArm(p.arm.text) || !d.hasArm(p.base.text)
	})
}
