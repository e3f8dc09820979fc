package study

import (
	"fmt"
	"strings"
)

const (
	maxArguments = 200
	// commandLine names a study that was typed without a file.
	commandLine = "command-line"
)

// ParseArgs reads a study from the command line: KEY=VALUE arguments, the
// same keys as in a file, with comma-separated levels (\, is a comma). One
// level holds a factor, several vary it. The first argument may instead name
// a built-in study or a file, which the others then override. The open
// function reads a file; errors about arguments are *Error.
func ParseArgs(args []string, open func(name string) ([]byte, error)) (*Study, error) {
	if len(args) > maxArguments {
		return nil, &Error{Place: "command line", Text: fmt.Sprintf("%d arguments; expected at most %d", len(args), maxArguments)}
	}
	typed := &node{at: place{argument: 1, text: "…"}, kind: mapping}
	if len(args) == 0 {
		return nil, &Error{Place: "command line", Text: "no study is named; expected a study, or levels such as transport=go-net,go-epoll"}
	}
	typed.at.text = args[0]
	base, err := readBase(args[0], open)
	if err != nil {
		return nil, err
	}
	for i, arg := range args {
		if i == 0 && base != nil {
			continue
		}
		if err := typed.addArgument(place{argument: i + 1, text: arg}, arg); err != nil {
			return nil, err
		}
	}
	if base == nil {
		if vary := typed.get("vary"); vary != nil && vary.value.get(armFactor) != nil {
			return nil, vary.value.get(armFactor).at.errorf("arms are bundles of levels and written in a file; name a study that has them first")
		}
		if typed.get("study") == nil {
			typed.put("study", typed.at, scalarNode(typed.at, commandLine))
		}
		return build(typed)
	}
	return override(base, typed)
}

// readBase reads the study that the first argument names; nil when it is
// already a level.
func readBase(name string, open func(string) ([]byte, error)) (*node, error) {
	if strings.Contains(name, "=") {
		return nil, nil
	}
	here := place{argument: 1, text: name}
	if strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		if open == nil {
			return nil, here.errorf("files cannot be read here; expected a built-in study")
		}
		data, err := open(name)
		if err != nil {
			return nil, here.errorf("read the study: %s", err)
		}
		return readYAML(name, data)
	}
	data, err := Source(name)
	if err != nil {
		return nil, here.errorf("%s", err)
	}
	return readYAML(name+".yaml", data)
}

func (n *node) addArgument(here place, arg string) error {
	key, value, found := strings.Cut(arg, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	switch {
	case !found:
		return here.errorf("expected KEY=VALUE, such as connections=50,1000")
	case value == "":
		return here.errorf("%s has no level; expected %s=VALUE", clip(key, 40), clip(key, 40))
	}
	if sub, ok := strings.CutPrefix(key, "compare."); ok {
		compare := n.section("compare", here)
		v := scalarNode(here, value)
		if sub == "primary" {
			v = levelsNode(here, value)
		}
		return compare.putOnce(sub, here, v)
	}
	switch key {
	case "study", "question":
		return n.putOnce(key, here, scalarNode(here, value))
	case "blocks", "continue", "probes", "seed":
		return n.putOnce(key, here, oneOrMore(levelsNode(here, value)))
	case "require":
		return n.putOnce(key, here, levelsNode(here, value))
	case "hold", "vary", "sweeps", "compare", "published", "charts", "fits", "reaches", "claims":
		return here.errorf("%s can be written in a file only; on the command line name a factor, or compare.baseline and its like", key)
	}
	levels := levelsNode(here, value)
	for _, section := range []string{"hold", "vary"} {
		if e := n.get(section); e != nil && e.value.get(key) != nil {
			return here.errorf("%s is given twice; first in %s", key, e.value.get(key).at)
		}
	}
	if one := oneOrMore(levels); one != levels && key != armFactor {
		return n.section("hold", here).putOnce(key, here, one)
	}
	return n.section("vary", here).putOnce(key, here, levels)
}

// section returns the mapping under a key, made when it is missing.
func (n *node) section(key string, here place) *node {
	if e := n.get(key); e != nil {
		return e.value
	}
	n.put(key, here, &node{at: here, kind: mapping})
	return n.get(key).value
}

func (n *node) put(key string, here place, value *node) {
	n.entries = append(n.entries, entry{key, here, value})
}

func (n *node) putOnce(key string, here place, value *node) error {
	if e := n.get(key); e != nil {
		return here.errorf("%s is given twice; first in %s", key, e.at)
	}
	n.put(key, here, value)
	return nil
}

func scalarNode(here place, text string) *node { return &node{at: here, kind: scalar, text: text} }

// levelsNode splits comma-separated levels; a backslash keeps a comma.
func levelsNode(here place, text string) *node {
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
