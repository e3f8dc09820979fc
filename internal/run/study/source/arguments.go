package source

import (
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
	first  position
	named  string // the study or file that the others change; "" for none
	typed  draft
	search []entry                   // of the section capacity
	arms   *node                     // the file's arms to keep; nil for all
	given  map[string]study.Position // what was typed, by its key
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
	switch {
	case len(args) > maxArguments:
		return nil, position{text: "command line"}.errorf("%d arguments; expected at most %d", len(args), maxArguments)
	case len(args) == 0:
		return nil, position{text: "command line"}.errorf("no study is named; expected a study, or levels such as transport=go-net,go-epoll")
	}
	a := &Arguments{first: position{argument: 1, text: args[0]}, given: map[string]study.Position{}}
	a.typed.at = a.first
	for i, arg := range args {
		if i == 0 && !strings.Contains(arg, "=") {
			a.named = arg
			continue
		}
		if err := a.add(position{argument: i + 1, text: arg}, arg); err != nil {
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
	if l, held := study.Find(a.typed.hold, factor); held {
		return l.Text
	}
	if v := study.FindVaried(a.typed.vary, factor); v != nil {
		return v.Levels[0].Text
	}
	return ""
}

// Hold adds a level that the command's own options say. Errors name the option.
func (a *Arguments) Hold(option, factor, level string) error {
	here := position{text: option}
	return a.take(entry{factor, here, scalarNode(here, level)})
}

// Study makes the study. Open reads a file; errors about arguments are a
// *study.Error.
func (a *Arguments) Study(open func(name string) ([]byte, error)) (*study.Study, error) {
	if a.named == "" {
		if a.arms != nil {
			return nil, a.arms.at.errorf("arms are bundles of levels and written in a file; name a study that has them first")
		}
		d := a.typed
		var err error
		if d.capacity, err = d.capacity.change(a.search); err != nil {
			return nil, err
		}
		if a.given["study"] == nil {
			d.name = record.Unnamed
		}
		return d.complete()
	}
	base, err := a.readBase(open)
	if err != nil {
		return nil, err
	}
	if base.capacity, err = base.capacity.change(a.search); err != nil {
		return nil, err
	}
	return a.override(base)
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

// add reads one argument.
func (a *Arguments) add(here position, arg string) error {
	key, value, found := strings.Cut(arg, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if slices.ContainsFunc(settings, func(s Setting) bool { return s.Name == key && s.compares }) {
		key = "compare." + key
	}
	switch {
	case !found:
		return here.errorf("expected KEY=VALUE, such as connections=50,1000")
	case value == "":
		return here.errorf("%s has no level; expected %s=VALUE", quantity.Clip(key, 40), quantity.Clip(key, 40))
	case slices.Contains([]string{"study", "question", "compare.factor", "compare.baseline", "compare.margin", "mesh", "settle", "capacity"}, key):
		return a.take(entry{key, here, scalarNode(here, value)})
	case strings.HasPrefix(key, searchPrefix):
		return a.take(entry{key, here, oneOrMore(levelsNode(here, value))})
	case key == armFactor, key == "require", key == "compare.primary":
		return a.take(entry{key, here, levelsNode(here, value)})
	}
	return a.take(entry{key, here, oneOrMore(levelsNode(here, value))})
}

// searchPrefix is typed before the keys of the section capacity.
const searchPrefix = "capacity."

// armFactor is typed to choose among the arms of a file.
const armFactor = study.ArmFactor

// take reads the value of one key, each at most once.
func (a *Arguments) take(e entry) error {
	key := e.key
	if f, err := study.FactorNamed(key); err == nil {
		key = f.Name
	}
	if first := a.given[key]; first != nil {
		return e.at.errorf("%s is given twice; first in %s", strings.TrimPrefix(e.key, "compare."), first)
	}
	a.given[key] = e.at
	if sub, ok := strings.CutPrefix(e.key, "compare."); ok {
		return a.typed.takeCompare(&node{at: e.at, kind: mapping, entries: []entry{{sub, e.at, e.value}}})
	}
	if sub, ok := strings.CutPrefix(e.key, searchPrefix); ok {
		if !slices.Contains(capacityKeys, sub) {
			return e.at.errorf("unknown key %q; %s", quantity.Clip(e.key, 40), quantity.Hint(sub, capacityKeys))
		}
		a.search = append(a.search, entry{sub, e.at, e.value})
		return nil
	}
	if e.key == "capacity" { // of which nothing more need be said
		wanted, err := readMesh(e)
		if err == nil && wanted.wanted {
			a.search = append(a.search, e)
		}
		return err
	}
	switch e.key {
	case "study", "question", "blocks", "continue", "mesh", "settle", "probes", "seed", "require":
		return a.typed.take(e)
	case "hold", "vary", "sweeps", "compare", "race", "published", "charts", "fits", "reaches", "choose", "pays", "costs", "claims":
		return e.at.errorf("%s can be written in a file only; on the command line name a factor, or compare.baseline and its like", e.key)
	case armFactor:
		a.arms = e.value
		return nil
	}
	if e.value.kind == scalar {
		s, err := readSetting(e, "hold")
		a.typed.hold = append(a.typed.hold, s)
		return err
	}
	v, err := readVariedFactor(e, readLevels)
	a.typed.vary = append(a.typed.vary, v)
	return err
}

func scalarNode(here position, text string) *node { return &node{at: here, kind: scalar, text: text} }

// levelsNode splits comma-separated levels; a backslash keeps a comma.
func levelsNode(here position, text string) *node {
	n := &node{at: here, kind: list}
	var level strings.Builder
	flush := func() {
		n.items = append(n.items, scalarNode(here, strings.TrimSpace(level.String())))
		level.Reset()
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == ',':
			level.WriteByte(',')
			i++
		case text[i] == ',':
			flush()
		default:
			level.WriteByte(text[i])
		}
	}
	flush()
	return n
}

// oneOrMore returns a list's only item, or the list.
func oneOrMore(levels *node) *node {
	if len(levels.items) == 1 {
		return levels.items[0]
	}
	return levels
}
