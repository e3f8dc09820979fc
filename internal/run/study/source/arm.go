package source

import (
	"maps"
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// AddArm adds an arm that a command's own arguments say, such as a server named
// by its URL: given is what was typed for it, for errors. A factor that was
// typed as a key keeps the typed level. It goes with levels typed without a
// study or file.
func (a *Arguments) AddArm(given, name string, levels map[string]string) error {
	here := position{text: given}
	if a.named != "" {
		return here.errorf("arms of one's own go with keys and levels, and the study %q is named beside it; expected KEY=LEVEL", quantity.Clip(a.named, 40))
	}
	if !armName.MatchString(name) {
		return here.errorf("arm: %q is not a name; expected letters, digits and . _ + : / [ ] -", quantity.Clip(name, 80))
	}
	d := &a.typed
	if slices.ContainsFunc(d.Arms, func(other study.Arm) bool { return other.Name == name }) {
		return here.errorf("%s is named twice", name)
	}
	arm := study.Arm{Name: name, At: here}
	for _, factor := range slices.Sorted(maps.Keys(levels)) {
		if a.Sets(factor) {
			continue
		}
		s, err := readSetting(entry{factor, here, scalarNode(here, levels[factor])}, "arm "+name)
		if err != nil {
			return err
		}
		arm.Settings = append(arm.Settings, s)
	}
	d.Arms = append(d.Arms, arm)
	if v := study.FindVaried(d.Vary, study.ArmFactor); v != nil {
		v.Levels = namesOf(d.Arms)
		return nil
	}
	d.Vary = append(d.Vary, study.Varied{Factor: study.ArmFactor, Levels: namesOf(d.Arms), At: here})
	return nil
}

// AddRace makes the study of a command's own arms a race: given is what was typed for it,
// for errors. A bound is METRIC <= VALUE or METRIC >= VALUE.
func (a *Arguments) AddRace(given string, r record.Race, bounds []string) error {
	here := position{text: given}
	for _, text := range bounds {
		b, err := typedBound(text)
		if err != nil {
			return here.errorf("%s", err)
		}
		r.Within = append(r.Within, b)
	}
	a.typed.Race, a.raced = &r, here
	return nil
}
