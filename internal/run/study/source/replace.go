package source

import (
	"slices"

	"netdyno/internal/run/study"
)

// replaces are factors that end a trial, or pace it, in another way than the
// factor beside them: who types one takes the file's other away.
var replaces = map[string]string{"amount": "window", "window": "amount"}

// replaceEnds removes from a file what a typed factor replaces. Arms keep theirs:
// a factor that an arm sets cannot be overridden.
func (d *draft) replaceEnds(typed *draft) {
	for _, h := range typed.hold {
		d.replaceEnd(h.Factor, []study.Level{h.Level}, typed)
	}
	for _, v := range typed.vary {
		d.replaceEnd(v.Factor, v.Levels, typed)
	}
}

func (d *draft) replaceEnd(factor string, levels []study.Level, typed *draft) {
	other, ends := replaces[factor]
	if ends && !typed.sets(other) && !slices.ContainsFunc(levels, func(l study.Level) bool { return !(l.Value > 0) }) {
		d.forget(other)
	}
}

// forgetMessage takes out of a file what a typed message replaces: the arms'
// own messages, and the sizes that it decides unless they are typed as well.
func (d *draft) forgetMessage(typed *draft) {
	for _, factor := range []string{"message", "request", "response"} {
		if factor != "message" && typed.sets(factor) {
			continue
		}
		d.forget(factor)
		for i := range d.arms {
			d.arms[i].Settings = withoutSetting(d.arms[i].Settings, factor)
		}
	}
}

// sets tells whether the draft itself holds or varies the factor.
func (d *draft) sets(factor string) bool {
	_, held := study.Find(d.hold, factor)
	return held || study.FindVaried(d.vary, factor) != nil
}

// forget removes a factor from what a study and its sweeps hold and vary.
func (d *draft) forget(factor string) {
	d.hold, d.vary = withoutSetting(d.hold, factor), withoutVaried(d.vary, factor)
	for i := range d.sweeps {
		w := &d.sweeps[i]
		w.Hold, w.Vary = withoutSetting(w.Hold, factor), withoutVaried(w.Vary, factor)
	}
}

func withoutSetting(all []study.Setting, factor string) []study.Setting {
	return slices.DeleteFunc(slices.Clone(all), func(s study.Setting) bool { return s.Factor == factor })
}

func withoutVaried(all []study.Varied, factor string) []study.Varied {
	return slices.DeleteFunc(slices.Clone(all), func(v study.Varied) bool { return v.Factor == factor })
}
