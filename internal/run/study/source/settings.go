package source

import (
	"regexp"
	"slices"

	"netdyno/internal/each"
	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
)

const (
	maxLevels = 4096
	maxArms   = 200
)

// armName matches the name of an arm, which may be a server's address with a
// path.
var armName = regexp.MustCompile(`^[A-Za-z0-9\[][A-Za-z0-9._+:/\[\]-]{0,62}$`)

// settingsOf are factors at one level each, written in one line.
var settingsOf = kind[[]study.Setting]{
	form: "a mapping from factors to levels",
	read: func(e entry) ([]study.Setting, error) { return readSettings(e, e.key) },
	write: func(settings []study.Setting) *node {
		if len(settings) == 0 {
			return nil
		}
		return settingsNode(settings)
	},
}

func settingsNode(settings []study.Setting) *node {
	n := &node{kind: mapping}
	for _, x := range settings {
		n.entries = append(n.entries, entry{key: x.Factor, value: scalarNode(position{}, x.Level.Text)})
	}
	return n
}

// oneLevelEach is one level of each factor in canonical text.
var oneLevelEach = kind[map[string]string]{
	form: settingsOf.form,
	read: func(e entry) (map[string]string, error) {
		settings, err := readSettings(e, e.key)
		levels := map[string]string{}
		for _, x := range settings {
			levels[x.Factor] = x.Level.Text
		}
		return levels, err
	},
	write: func(levels map[string]string) *node { return mapNode(levels, textNode) },
}

// variedNode writes factors at several levels each, and arms with what they bundle.
func variedNode(vary []study.Varied, arms []study.Arm) *node {
	if len(vary) == 0 {
		return nil
	}
	n := &node{kind: mapping}
	for _, v := range vary {
		levels := &node{kind: list}
		for _, l := range v.Levels {
			levels.items = append(levels.items, scalarNode(position{}, l.Text))
		}
		if v.Factor == study.ArmFactor && arms != nil {
			levels = &node{kind: mapping}
			for _, a := range arms {
				levels.entries = append(levels.entries, entry{key: quote(a.Name), value: armNode(a)})
			}
		}
		n.entries = append(n.entries, entry{key: v.Factor, value: levels})
	}
	return n
}

// armNode writes what an arm is called and what it bundles.
func armNode(a study.Arm) *node {
	n := settingsNode(a.Settings)
	if a.Label != "" {
		n.entries = slices.Insert(n.entries, 0, entry{key: "label", value: textNode(a.Label)})
	}
	return n
}

// readSettings reads a mapping from factors to one level each; where is what it belongs
// to.
func readSettings(e entry, where string) (settings []study.Setting, err error) {
	err = e.each(length{0, maxLevels}, "a mapping from factors to levels", func(one entry) error {
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
	if err != nil {
		return f, e.at.errorf("%s", err)
	}
	if f.Kind == study.Whole {
		return f, e.at.errorf("%s belongs to the whole study, not to a trial; write it at the top of the file", f.Name)
	}
	return f, nil
}

func levelAt(f study.Factor, n *node) (study.Level, error) {
	l, err := f.Level(n.text)
	if err != nil {
		return l, n.at.errorf("%s", err)
	}
	l.At = n.at
	return l, nil
}

// readVaried reads a mapping from factors to several levels each.
func readVaried(e entry, levels func(study.Factor, *node) ([]study.Level, error)) (all []study.Varied, err error) {
	err = e.each(length{0, maxLevels}, "a mapping from factors to lists of levels", func(one entry) error {
		v, err := readVariedFactor(one, levels)
		if err != nil {
			return err
		}
		if study.FindVaried(all, v.Factor) != nil {
			return one.at.errorf("%s is varied twice", v.Factor)
		}
		all = append(all, v)
		return nil
	})
	return all, err
}

func readVariedFactor(e entry, levels func(study.Factor, *node) ([]study.Level, error)) (study.Varied, error) {
	f, err := factorAt(e)
	if err != nil {
		return study.Varied{}, err
	}
	v := study.Varied{Factor: f.Name, At: e.at}
	v.Levels, err = levels(f, e.value)
	return v, err
}

func readLevels(f study.Factor, n *node) ([]study.Level, error) {
	items := n.items
	switch {
	case n.kind == scalar:
		items = []*node{n}
	case n.kind == mapping:
		return nil, n.at.errorf("%s: found %s; expected a list of levels", f.Name, n.kind)
	case len(items) == 0:
		return nil, n.at.errorf("%s: the list of levels is empty", f.Name)
	case len(items) > maxLevels:
		return nil, n.at.errorf("%s: the list has %d levels; expected at most %d", f.Name, len(items), maxLevels)
	}
	var levels []study.Level
	for _, item := range items {
		if item.kind != scalar {
			return nil, item.at.errorf("%s: found %s; expected a level", f.Name, item.kind)
		}
		l, err := levelAt(f, item)
		if err != nil {
			return nil, err
		}
		for _, earlier := range levels {
			if earlier.Text == l.Text {
				return nil, item.at.errorf("%s: the level %s is listed twice", f.Name, l.Text)
			}
		}
		levels = append(levels, l)
	}
	return levels, nil
}

// readArms reads the bundles, whose names are the levels of factor arm.
func readArms(n *node) ([]study.Arm, []study.Level, error) {
	if n.kind != mapping || len(n.entries) == 0 || len(n.entries) > maxArms {
		return nil, nil, n.at.errorf("arm: expected a mapping from 1 to %d names to their levels, such as {fast: {server: go-epoll}}", maxArms)
	}
	var arms []study.Arm
	for _, e := range n.entries {
		if !armName.MatchString(e.key) {
			return nil, nil, e.at.errorf("arm: %q is not a name; expected letters, digits and . _ + : / [ ] -", quantity.Clip(e.key, 80))
		}
		a := study.Arm{Name: e.key, At: e.at}
		if label := e.value.entryOf("label"); label != nil {
			var err error
			if a.Label, err = aLabel.read(*label); err != nil {
				return nil, nil, err
			}
			if i := slices.IndexFunc(arms, func(other study.Arm) bool { return other.Label == a.Label }); i >= 0 {
				return nil, nil, label.at.errorf("label: %q is the label of arm %s too; expected one of its own", a.Label, arms[i].Name)
			}
			e.value = e.value.without("label")
		}
		var err error
		if a.Settings, err = readSettings(e, "arm "+e.key); err != nil {
			return nil, nil, err
		}
		arms = append(arms, a)
	}
	return arms, namesOf(arms), nil
}

func namesOf(arms []study.Arm) []study.Level {
	return each.Of(arms, func(a study.Arm) study.Level { return study.Level{Text: a.Name, At: a.At} })
}

// readSweptArms reads what arms of the whole study have in a sweep beside their levels.
func readSweptArms(n *node, whole *study.Varied) (arms []study.Arm, levels []study.Level, err error) {
	if whole == nil {
		return nil, nil, n.at.errorf("arm: the study has no arms; write them under its vary, as a mapping from names to levels")
	}
	if arms, levels, err = readArms(n); err != nil {
		return nil, nil, err
	}
	names := each.Of(whole.Levels, func(l study.Level) string { return l.Text })
	for _, a := range arms {
		if !slices.Contains(names, a.Name) {
			return nil, nil, study.Errorf(a.At, "arm: the study varies it at %s, without the level %s; %s", whole.At, a.Name, quantity.Hint(a.Name, names))
		}
		if a.Label != "" {
			return nil, nil, study.Errorf(a.At, "label: arm %s has its label in the whole study; expected levels alone", a.Name)
		}
	}
	return arms, levels, nil
}

// readSwept reads the levels of a factor in a sweep: of one that varies in the
// whole study, some of its levels. Whole is nil for any other.
func readSwept(f study.Factor, n *node, whole *study.Varied) ([]study.Level, error) {
	if f.Kind == study.Bundle {
		if whole == nil {
			return nil, n.at.errorf("arm: the study has no arms; write them under its vary, as a mapping from names to levels")
		}
		f.Kind = study.Choice
		for _, l := range whole.Levels {
			f.Choices = append(f.Choices, l.Text)
		}
	}
	levels, err := readLevels(f, n)
	if err != nil || whole == nil {
		return levels, err
	}
	names := each.Of(whole.Levels, func(l study.Level) string { return l.Text })
	for _, l := range levels {
		if !slices.Contains(names, l.Text) {
			return nil, study.Errorf(l.At, "%s: the study varies it at %s, without the level %s; %s", f.Name, whole.At, l.Text, quantity.Hint(l.Text, names))
		}
	}
	return levels, nil
}
