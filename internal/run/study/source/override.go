package source

import (
	"slices"

	"netdyno/internal/each"
	"netdyno/internal/run/study"
)

// overrideHeld holds a typed factor everywhere, so each sweep forgets its own.
func (d *draft) overrideHeld(typed study.Setting) error {
	if err := d.refuseOfArm(typed.Factor, typed.At); err != nil {
		return err
	}
	d.Vary = withoutVaried(d.Vary, typed.Factor)
	d.forgetInSweeps(typed.Factor)
	if i := slices.IndexFunc(d.Hold, func(h study.Setting) bool { return h.Factor == typed.Factor }); i >= 0 {
		d.Hold[i] = typed // keeps the order of the file
		return nil
	}
	d.Hold = append(d.Hold, typed)
	return nil
}

// overrideVaried varies a typed factor. Where the file varies the factor for the whole
// study, sweeps lose their own levels of it. Else the typed levels replace the levels in
// those sweeps that vary the factor; a sweep that holds the factor keeps its level, since
// the level is what the sweep is about.
func (d *draft) overrideVaried(typed study.Varied) error {
	if err := d.refuseOfArm(typed.Factor, typed.At); err != nil {
		return err
	}
	whole := study.FindVaried(d.Vary, typed.Factor)
	if whole != nil {
		*whole = typed // keeps the order of the file
		d.forgetInSweeps(typed.Factor)
	} else if swept, err := d.overrideSwept(typed); err != nil || swept {
		return err
	} else {
		d.Vary = append(d.Vary, typed)
	}
	d.Hold = withoutSetting(d.Hold, typed.Factor)
	return nil
}

// overrideSwept gives typed levels to the sweeps that vary the factor; false when
// none does.
func (d *draft) overrideSwept(typed study.Varied) (swept bool, err error) {
	for i := range d.Sweeps {
		w := &d.Sweeps[i]
		if study.FindVaried(w.Vary, typed.Factor) != nil {
			w.Vary = slices.Clone(w.Vary)
			*study.FindVaried(w.Vary, typed.Factor) = typed
			swept = true
		}
	}
	for _, w := range d.Sweeps {
		if level, held := study.Find(w.Hold, typed.Factor); held && !swept {
			return false, study.Errorf(typed.At, "%s cannot be given several levels: sweep %s holds it at %s (%s) and none varies it; type one level for all sweeps",
				typed.Factor, w.Name, level.Text, level.At)
		}
	}
	return swept, nil
}

// refuseOfArm refuses to override a factor that an arm of the file sets.
func (d *draft) refuseOfArm(factor string, typed study.Position) error {
	arms := slices.Clone(d.Arms)
	for _, w := range d.Sweeps {
		arms = append(arms, w.Arms...)
	}
	for _, a := range arms {
		for _, s := range a.Settings {
			if s.Factor == factor {
				return study.Errorf(typed, "%s cannot be overridden: arm %s sets it (%s); choose arms by arm=NAME,…", factor, a.Name, s.At)
			}
		}
	}
	return nil
}

// selectArms keeps the arms that were typed, in the typed order. A sweep that names its
// own arms keeps those of them that were typed; a sweep of which no arm was typed is
// removed.
func (d *draft) selectArms(typed *node) error {
	if len(d.Arms) == 0 {
		return typed.at.errorf("the study has no arms to choose from")
	}
	names := textsOf(namesOf(d.Arms))
	levels, err := readLevels(study.Factor{Name: study.ArmFactor, Kind: study.Choice, Choices: names}, typed)
	if err != nil {
		return err
	}
	d.Arms = each.Of(levels, func(l study.Level) study.Arm { return d.Arms[slices.Index(names, l.Text)] })
	study.FindVaried(d.Vary, study.ArmFactor).Levels = namesOf(d.Arms)
	gone := func(name string) bool { return !slices.Contains(textsOf(levels), name) }
	var sweeps []study.Sweep
	for _, w := range d.Sweeps {
		if own := study.FindVaried(w.Vary, study.ArmFactor); own != nil {
			left := slices.DeleteFunc(slices.Clone(own.Levels), func(l study.Level) bool { return gone(l.Text) })
			if len(left) == 0 {
				continue
			}
			w.Vary = slices.Clone(w.Vary)
			study.FindVaried(w.Vary, study.ArmFactor).Levels = left
			w.Arms = slices.DeleteFunc(slices.Clone(w.Arms), func(a study.Arm) bool { return gone(a.Name) })
		}
		sweeps = append(sweeps, w)
	}
	if len(sweeps) == 0 && len(d.Sweeps) > 0 {
		return typed.at.errorf("no sweep of the study has any of these arms")
	}
	d.Sweeps = sweeps
	return nil
}

// replaces are factors that end a trial in another way than the factor beside them: who
// types one takes the file's other away. Arms keep theirs: a factor that an arm sets
// cannot be overridden.
var replaces = map[string]string{"amount": "window", "window": "amount"}

func (d *draft) replaceEnds(typed *draft) {
	for factor, other := range replaces {
		levels := typed.levels(factor)
		if len(levels) > 0 && len(typed.levels(other)) == 0 && !slices.ContainsFunc(levels, func(l study.Level) bool { return !(l.Value > 0) }) {
			d.forget(other)
		}
	}
}

// replaceMessage takes out of a file what a typed message replaces: the arms'
// own messages, and the sizes that it decides unless they are typed as well.
func (d *draft) replaceMessage(typed *draft) {
	if len(typed.levels("message")) == 0 {
		return
	}
	for _, factor := range []string{"message", "request", "response"} {
		if factor != "message" && len(typed.levels(factor)) > 0 {
			continue
		}
		d.forget(factor)
		for i := range d.Arms {
			d.Arms[i].Settings = withoutSetting(d.Arms[i].Settings, factor)
		}
	}
}

// levels are those at which the draft itself holds or varies a factor.
func (d *draft) levels(factor string) []study.Level {
	if l, held := study.Find(d.Hold, factor); held {
		return []study.Level{l}
	}
	if v := study.FindVaried(d.Vary, factor); v != nil {
		return v.Levels
	}
	return nil
}

// forget removes a factor from what a study and its sweeps hold and vary.
func (d *draft) forget(factor string) {
	d.Hold, d.Vary = withoutSetting(d.Hold, factor), withoutVaried(d.Vary, factor)
	d.forgetInSweeps(factor)
}

// forgetInSweeps takes a factor out of every sweep, and the label of a sweep that was about
// it: "50 connections" is no name for what runs with another number.
func (d *draft) forgetInSweeps(factor string) {
	for i := range d.Sweeps {
		w := &d.Sweeps[i]
		if _, held := study.Find(w.Hold, factor); held || study.FindVaried(w.Vary, factor) != nil {
			w.Label = ""
		}
		w.Hold, w.Vary = withoutSetting(w.Hold, factor), withoutVaried(w.Vary, factor)
	}
}

func withoutSetting(all []study.Setting, factor string) []study.Setting {
	return slices.DeleteFunc(slices.Clone(all), func(s study.Setting) bool { return s.Factor == factor })
}

func withoutVaried(all []study.Varied, factor string) []study.Varied {
	return slices.DeleteFunc(slices.Clone(all), func(v study.Varied) bool { return v.Factor == factor })
}
