package source

import (
	"reflect"
	"slices"

	"netdyno/internal/each"
	"netdyno/internal/pattern"
	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
)

const (
	maxLevels = 4096
	maxArms   = 200
)

// armName matches the name of an arm, which may be a server's address with a
// path.
var armName = pattern.Once(`^[A-Za-z0-9\[][A-Za-z0-9._+:/\[\]-]{0,62}$`)

const settingForm = "a mapping from factors to levels"

// settingsOf are factors at one level each, written in one line.
var settingsOf = kindOfValue(settingForm, func(e entry) ([]study.Setting, error) { return readSettings(e, e.key) }, settingsNode)

// settingsNode writes them; nil of none.
func settingsNode(settings []study.Setting) *node {
	return mapNodeOf(settings, func(x study.Setting) entry { return entry{key: x.Factor, value: scalarNode(position{}, x.Level.Text)} })
}

// oneLevelEach is one level of each factor in canonical text.
var oneLevelEach = kindOfValue(settingForm, func(e entry) (map[string]string, error) {
	settings, err := readSettings(e, e.key)
	levels := map[string]string{}
	for _, x := range settings {
		levels[x.Factor] = x.Level.Text
	}
	return levels, err
}, func(levels map[string]string) *node { return mapNode(levels, textNode) })

// levelsOf are some levels of each factor in canonical text.
var levelsOf = kindOfValue("a mapping from factors to lists of levels", func(e entry) (map[string][]string, error) {
	all, _, err := readVaried(e, nil, true)
	levels := map[string][]string{}
	for _, v := range all {
		levels[v.Factor] = textsOf(v.Levels)
	}
	return levels, err
}, func(held map[string][]string) *node {
	return mapNode(held, textsNode)
})

func textsOf(levels []study.Level) []string {
	return each.Of(levels, func(l study.Level) string { return l.Text })
}

// readSettings reads a mapping from factors to one level each; where is what it belongs
// to.
func readSettings(e entry, where string) (settings []study.Setting, err error) {
	err = e.each(length{0, maxLevels}, settingForm, func(one entry) error {
		s, err := readSetting(one, where)
		if err != nil {
			return err
		}
		if _, twice := study.Find(settings, s.Factor); twice {
			return one.at.errorf("%s is set twice", s.Factor)
		}
		settings = append(settings, s)
		return nil
	})
	return settings, err
}

func readSetting(e entry, where string) (study.Setting, error) {
	f, err := factorAt(e)
	if err != nil {
		return study.Setting{}, err
	}
	if e.value.kind != scalar {
		return study.Setting{}, e.value.at.errorf("%s: found %s; %s has one level per factor, several belong under vary", e.key, e.value.kind, where)
	}
	level, err := levelAt(f, e.value)
	return study.Setting{Factor: f.Name, Level: level, At: e.at}, err
}

func factorAt(e entry) (study.Factor, error) {
	f, err := study.FactorNamed(e.key)
	switch {
	case err == nil:
		return f, nil
	case isKey(e.key):
		return f, e.at.errorf("%s belongs to the whole study, not to a trial; write it at the top of the file", e.key)
	case e.at.file == nil: // a key can be meant
		_, err = study.FactorNamed(e.key, typedNames()...)
	}
	return f, e.at.errorf("%s", err)
}

// isKey tells whether a study file has such a key.
func isKey(name string) bool { return slices.Contains(names(studyKeys()), name) }

func levelAt(f study.Factor, n *node) (study.Level, error) {
	l, err := f.Level(n.text)
	if err != nil {
		return l, n.at.errorf("%s", err)
	}
	l.At = n.at
	return l, nil
}

// varied are factors at several levels each, with the arms among them. A sweep varies
// other factors, or some of the levels of those that the study varies.
var varied = kind{
	form: settingForm,
	read: func(e entry, f field) (err error) {
		vary := f.at.Addr().Interface().(*[]study.Varied)
		switch of := f.of.(type) {
		case *study.Study:
			*vary, of.Arms, err = readVaried(e, nil, false)
		case *study.Sweep:
			*vary, of.Arms, err = readVaried(e, f.whole.Vary, true)
		}
		return err
	},
	write: func(f field) *node {
		arms := reflect.ValueOf(f.of).Elem().FieldByName("Arms").Interface().([]study.Arm)
		return mapNodeOf(f.at.Interface().([]study.Varied), func(v study.Varied) entry {
			levels := textsNode(textsOf(v.Levels))
			if v.Factor == study.ArmFactor && arms != nil {
				levels = mapNodeOf(arms, func(a study.Arm) entry { return entry{key: quote(a.Name), value: armNode(a)} })
			}
			return entry{key: v.Factor, value: levels}
		})
	},
}

// armNode writes what an arm is called and what it bundles.
func armNode(a study.Arm) *node {
	n := &node{kind: mapping}
	if a.Label != "" {
		n.entries = []entry{{key: "label", value: textNode(a.Label)}}
	}
	if of := settingsNode(a.Settings); of != nil {
		n.entries = append(n.entries, of.entries...)
	}
	return n
}

// readVaried reads a mapping from factors to several levels each. Of a part of a study,
// whole is what the study varies: its arms may be named, or have levels of their own.
func readVaried(e entry, whole []study.Varied, part bool) (all []study.Varied, arms []study.Arm, err error) {
	err = e.each(length{0, maxLevels}, "a mapping from factors to lists of levels", func(one entry) error {
		f, err := factorAt(one)
		if err != nil {
			return err
		}
		if study.FindVaried(all, f.Name) != nil {
			return one.at.errorf("%s is varied twice", f.Name)
		}
		v, outer := study.Varied{Factor: f.Name, At: one.at}, study.FindVaried(whole, f.Name)
		switch bundle := f.Kind == study.Bundle; {
		case bundle && part && outer == nil:
			return one.value.at.errorf("arm: the study has no arms; write them under its vary, as a mapping from names to levels")
		case bundle && (!part || one.value.kind == mapping):
			arms, err = readArms(one.value, part)
			v.Levels = namesOf(arms)
		case bundle:
			f.Kind, f.Choices = study.Choice, textsOf(outer.Levels)
			fallthrough
		default:
			v.Levels, err = readLevels(f, one.value)
		}
		if err == nil && outer != nil {
			err = notOf(*outer, v.Levels)
		}
		all = append(all, v)
		return err
	})
	return all, arms, err
}

// notOf refuses a level of a part that the whole study does not have.
func notOf(whole study.Varied, levels []study.Level) error {
	names := textsOf(whole.Levels)
	for _, l := range levels {
		if !slices.Contains(names, l.Text) {
			return study.Errorf(l.At, "%s: the study varies it at %s, without the level %s; %s", whole.Factor, whole.At, l.Text, quantity.Hint(l.Text, names))
		}
	}
	return nil
}

func readLevels(f study.Factor, n *node) (levels []study.Level, err error) {
	items := listed(n)
	switch {
	case n.kind == mapping:
		return nil, n.at.errorf("%s: found %s; expected a list of levels", f.Name, n.kind)
	case len(items) == 0:
		return nil, n.at.errorf("%s: the list of levels is empty", f.Name)
	case len(items) > maxLevels:
		return nil, n.at.errorf("%s: the list has %d levels; expected at most %d", f.Name, len(items), maxLevels)
	}
	for _, item := range items {
		if item.kind != scalar {
			return nil, item.at.errorf("%s: found %s; expected a level", f.Name, item.kind)
		}
		l, err := levelAt(f, item)
		if err != nil {
			return nil, err
		}
		if slices.Contains(textsOf(levels), l.Text) {
			return nil, item.at.errorf("%s: the level %s is listed twice", f.Name, l.Text)
		}
		levels = append(levels, l)
	}
	return levels, nil
}

// readArms reads the bundles, whose names are the levels of factor arm; of a part of a
// study what its arms have there beside their own levels.
func readArms(n *node, part bool) (arms []study.Arm, err error) {
	if n.kind != mapping || len(n.entries) == 0 || len(n.entries) > maxArms {
		return nil, n.at.errorf("arm: expected a mapping from 1 to %d names to their levels, such as {fast: {server: go-epoll}}", maxArms)
	}
	for _, e := range n.entries {
		if !armName().MatchString(e.key) {
			return nil, e.at.errorf("arm: %q is not a name; expected letters, digits and . _ + : / [ ] -", quantity.Clip(e.key, 80))
		}
		a := study.Arm{Name: e.key, At: e.at}
		if label := e.value.entryOf("label"); label != nil {
			if part {
				return nil, label.at.errorf("label: arm %s has its label in the whole study; expected levels alone", a.Name)
			}
			if a.Label, err = one(*label, labelForm, readLabel); err != nil {
				return nil, err
			}
			if i := slices.IndexFunc(arms, func(other study.Arm) bool { return other.Label == a.Label }); i >= 0 {
				return nil, label.at.errorf("label: %q is the label of arm %s too; expected one of its own", a.Label, arms[i].Name)
			}
			e.value = e.value.without("label")
		}
		if a.Settings, err = readSettings(e, "arm "+e.key); err != nil {
			return nil, err
		}
		arms = append(arms, a)
	}
	return arms, nil
}

func namesOf(arms []study.Arm) []study.Level {
	return each.Of(arms, func(a study.Arm) study.Level { return study.Level{Text: a.Name, At: a.At} })
}
