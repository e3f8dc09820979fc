package source

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

const maxArguments = 200

// Arguments are a study as it was typed. They are read once; a command may add
// what its own options say, and Study makes a study of them.
type Arguments struct {
	first position
	named string                    // the study or file that the others change; "" for none
	typed draft                     // what they say by themselves; its tree has keys that are no factors
	arms  *node                     // the file's arms to keep; nil for all
	given map[string]study.Position // what was typed, by its key
}

// typedKey finds the key that a name on a command line means, and where the key stands in
// a file: compare and margin for margin. Of an unknown key of a mapping it is the mapping's.
func typedKey(typed string) (path []string, k key) {
	block, part, dotted := strings.Cut(typed, ".")
	for _, top := range studyKeys() {
		for _, k := range top.keys {
			if k.typed == typed || k.typed != "" && top.name == block && k.name == part {
				return []string{top.name, k.name}, k
			}
		}
		switch {
		case dotted && top.name == block:
			return []string{top.name, part}, top
		case cmp.Or(top.typed, top.name) == typed:
			return []string{top.name}, top
		}
	}
	return nil, key{}
}

// typedNames are the names of keys on a command line.
func typedNames() (all []string) {
	for _, k := range Keys() {
		if k.Typed != "" {
			all = append(all, k.Typed)
		}
	}
	return all
}

// ParseArgs reads a study from the command line: see ReadArguments and Study.
func ParseArgs(args []string, open func(name string) ([]byte, error)) (*study.Study, error) {
	a, err := ReadArguments(args)
	if err != nil {
		return nil, err
	}
	return a.Study(open)
}

// ReadArguments reads KEY=VALUE arguments, the same keys as in a file, with
// comma-separated levels (\, is a comma). One level holds a factor, several
// vary it. The first argument may instead name a built-in study or a file, which
// the others then change. Errors are a *study.Error.
func ReadArguments(args []string) (*Arguments, error) {
	a := &Arguments{first: position{text: "command line"}, given: map[string]study.Position{}}
	if len(args) > maxArguments {
		return nil, a.first.errorf("%d arguments; expected at most %d", len(args), maxArguments)
	}
	if len(args) > 0 {
		a.first = position{argument: 1, text: args[0]}
	}
	a.typed.tree = &node{at: a.first, kind: mapping}
	for i, arg := range args {
		if i == 0 && !strings.Contains(arg, "=") {
			a.named = arg
			continue
		}
		here := position{argument: i + 1, text: arg}
		key, value, found := strings.Cut(arg, "=")
		if !found {
			return nil, here.errorf("expected KEY=VALUE, such as connections=50,1000")
		}
		if err := a.addArgument(here, strings.TrimSpace(key), strings.TrimSpace(value)); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Named returns the study or the file that the arguments change; "" for none.
func (a *Arguments) Named() string { return a.named }

// Sets tells whether a factor was typed.
func (a *Arguments) Sets(factor string) bool { return a.given[factor] != nil }

// First returns the first level that was typed for a factor; "" for none.
func (a *Arguments) First(factor string) string {
	if levels := a.typed.levels(factor); len(levels) > 0 {
		return levels[0].Text
	}
	return ""
}

// Set adds a key and value that a command sets by itself, spelled as a user would type
// them. By names, for errors, what sets the key, such as an option.
func (a *Arguments) Set(by, key, value string) error {
	return a.addArgument(position{text: by}, key, value)
}

// Study makes the study. Open reads a file; errors about arguments are a
// *study.Error.
func (a *Arguments) Study(open func(name string) ([]byte, error)) (*study.Study, error) {
	base := draft{Study: study.Study{Seed: defaultSeed}, tree: &node{at: a.first, kind: mapping}}
	base.Name = record.Unnamed
	switch {
	case a.named != "":
		var err error
		if base, err = a.readBase(open); err != nil {
			return nil, err
		}
	case len(a.given) == 0 && a.typed.Arms == nil:
		return nil, a.first.errorf("no study is named; expected a study, or levels such as transport=go-net,go-epoll")
	case a.arms != nil:
		return nil, a.arms.at.errorf("arms are bundles of levels and written in a file; name a study that has them first")
	}
	return a.override(base)
}

// override makes a study from a file and the arguments that change it: a typed factor
// replaces the factor in the file, whether the file held or varied it. What the file says
// of the results stays as far as the changed study still has what it names.
func (a *Arguments) override(base draft) (*study.Study, error) {
	if len(base.Charts)+len(base.Costs)+len(base.Ladders)+len(base.Expect)+len(base.Requires) > 0 {
		if _, err := base.complete(); err != nil {
			return nil, err
		}
	}
	d, err := a.change(base)
	if err != nil {
		return nil, err
	}
	return d.complete()
}

// change returns the file's draft as the arguments change it. The file's own stays as
// it is.
func (a *Arguments) change(d draft) (draft, error) {
	typed := &a.typed
	d.changed = a.named != ""
	d.Hold, d.Vary, d.Arms, d.Sweeps = slices.Clone(d.Hold), slices.Clone(d.Vary), slices.Clone(d.Arms), slices.Clone(d.Sweeps)
	d.replaceEnds(typed)
	d.replaceMessage(typed)
	if a.arms != nil {
		if err := d.selectArms(a.arms); err != nil {
			return d, err
		}
	}
	for _, h := range typed.Hold {
		if err := d.overrideHeld(h); err != nil {
			return d, err
		}
	}
	for _, v := range typed.Vary {
		if err := d.overrideVaried(v); err != nil {
			return d, err
		}
	}
	if typed.Arms != nil {
		d.Arms = typed.Arms
	}
	if typed.tree.entryOf("settle") != nil { // another end than the file's
		d.tree, d.Blocks = d.tree.without("blocks"), 0
	}
	if err := readKeys(typed.tree, reflect.ValueOf(&d.Study).Elem(), &d.Study); err != nil {
		return d, err
	}
	_, statements := apart(d.at("expect"))
	d.tree = typed.tree.over(d.tree)
	if bounds := typed.tree.entryOf("expect"); bounds != nil { // they take the place of the file's
		all := &node{at: bounds.value.at, kind: list, items: slices.Concat(listed(bounds.value), statements.items)}
		d.tree = mappingNode(bounds.at, "expect", all).over(d.tree)
	}
	return d, nil
}

// readBase reads the study that the first argument names.
func (a *Arguments) readBase(open func(name string) ([]byte, error)) (draft, error) {
	if strings.ContainsAny(a.named, `/\`) || strings.HasSuffix(a.named, ".yaml") || strings.HasSuffix(a.named, ".yml") {
		if open == nil {
			return draft{}, a.first.errorf("files cannot be read here; expected a built-in study")
		}
		data, err := open(a.named)
		if err != nil {
			return draft{}, a.first.errorf("read the study: %s", err)
		}
		return readFile(a.named, data)
	}
	data, err := Text(a.named)
	if err != nil {
		return draft{}, a.first.errorf("%s", err)
	}
	return readFile(a.named+extension, data)
}

// addArgument reads one argument, each key at most once.
func (a *Arguments) addArgument(here position, name, value string) error {
	if value == "" {
		return here.errorf("%s has no level; expected %s=VALUE", quantity.Clip(name, 40), quantity.Clip(name, 40))
	}
	path, k := typedKey(name)
	f, notFactor := study.FactorNamed(name)
	given := cmp.Or(strings.Join(path, "."), f.Name, name)
	if first := a.given[given]; first != nil {
		return here.errorf("%s is given twice; first in %s", strings.TrimPrefix(name, "compare."), first)
	}
	a.given[given] = here
	e := entry{name, here, scalarNode(here, value)}
	if path == nil || k.many {
		levels := levelsNode(here, value)
		if notFactor == nil && (f.Kind == study.Sizes || f.Kind == study.Arrival || f.Kind == study.Times) {
			levels = together(levels)
		}
		e.value = oneOrMore(levels)
	}
	switch {
	case path != nil:
		return a.addKey(e, path, k)
	case name == study.ArmFactor:
		a.arms = e.value
		return nil
	case e.value.kind == scalar:
		s, err := readSetting(e, "hold")
		a.typed.Hold = append(a.typed.Hold, s)
		return err
	}
	all, _, err := readVaried(entry{name, here, mappingNode(here, name, e.value)}, nil, false)
	a.typed.Vary = append(a.typed.Vary, all...)
	return err
}

// addKey reads a key that is no factor, or one of its mapping.
func (a *Arguments) addKey(e entry, path []string, k key) error {
	if k.typed == "" && (len(path) == 1 || !slices.ContainsFunc(k.keys, func(k key) bool { return k.typed != "" })) {
		return e.at.errorf("%s can be written in a file only; on the command line name a factor, or compare.baseline and its like", e.key)
	}
	typed := e.value
	switch {
	case len(path) == 2:
		typed = mappingNode(e.at, path[1], e.value)
	case k.keys != nil && !k.many: // all of whose keys may be left out
		typed = &node{at: e.at, kind: mapping}
		if wanted, err := one(e, aFlag.form, readFlag); err != nil || !wanted {
			return err
		}
	}
	typed = mappingNode(e.at, path[0], typed)
	a.typed.tree = typed.over(a.typed.tree)
	return readKeys(typed, reflect.ValueOf(&a.typed.Study).Elem(), &a.typed.Study)
}

// AddArm adds an arm that a command's own arguments name, such as a server by its URL;
// errors quote given, what was typed for the arm. A factor that was typed as a key keeps
// the typed level. AddArm is for levels typed without a study or a file.
func (a *Arguments) AddArm(given, name string, levels map[string]string) error {
	here := position{text: given}
	if a.named != "" {
		return here.errorf("arms of one's own go with keys and levels, and the study %q is named beside it; expected KEY=LEVEL", quantity.Clip(a.named, 40))
	}
	if !armName().MatchString(name) {
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
