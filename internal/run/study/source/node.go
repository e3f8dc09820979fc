package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
)

// node is a part of a file, or the value of an argument, before it is
// understood: a text, a list or a mapping, with its position.
type node struct {
	at      position
	kind    nodeKind
	text    string
	items   []*node
	entries []entry
}

type nodeKind string

const (
	scalar  nodeKind = "a single value"
	list    nodeKind = "a list"
	mapping nodeKind = "a mapping"
)

// entry is one key of a mapping, in the order written.
type entry struct {
	key   string
	at    position
	value *node
}

func scalarNode(here position, text string) *node { return &node{at: here, kind: scalar, text: text} }

// mappingNode is a mapping of one key.
func mappingNode(here position, key string, value *node) *node {
	return &node{at: here, kind: mapping, entries: []entry{{key, here, value}}}
}

// entryOf returns the entry of that key, or nil.
func (n *node) entryOf(key string) *entry {
	for i := range n.entries {
		if n.entries[i].key == key {
			return &n.entries[i]
		}
	}
	return nil
}

// value returns what stands behind a key of a mapping, of a mapping in it, and so on;
// an empty mapping at the position of the last one that is there.
func (n *node) value(keys ...string) *node {
	for _, key := range keys {
		e := n.entryOf(key)
		if e == nil {
			return &node{at: n.at, kind: mapping}
		}
		n = e.value
	}
	return n
}

// over returns a mapping with the entries of n in the place of those of another;
// mappings in both are laid over each other.
func (n *node) over(other *node) *node {
	out := &node{at: other.at, kind: mapping, entries: slices.Clone(other.entries)}
	for _, e := range n.entries {
		switch own := out.entryOf(e.key); {
		case own == nil:
			out.entries = append(out.entries, e)
		case own.value.kind == mapping && e.value.kind == mapping:
			own.value = e.value.over(own.value)
		default:
			*own = e
		}
	}
	return out
}

// without returns a mapping without some keys.
func (n *node) without(keys ...string) *node {
	out := *n
	out.entries = slices.DeleteFunc(slices.Clone(n.entries), func(e entry) bool { return slices.Contains(keys, e.key) })
	return &out
}

// problem makes an error of a key and a text that a study.Scope returned, at the key's
// value or at the mapping itself; nil of no text.
func (n *node) problem(key, text string) error {
	if text == "" {
		return nil
	}
	return n.value(key).at.errorf("%s: %s", key, text)
}

// listed returns a list's items; of a single value, itself.
func listed(n *node) []*node {
	if n.kind == scalar {
		return []*node{n}
	}
	return n.items
}

// counted says what a node is, and of a list how long.
func counted(n *node) string {
	if n.kind == list {
		return fmt.Sprintf("a list of %d", len(n.items))
	}
	return string(n.kind)
}

// mappingOf checks that a node is a mapping with known keys only.
func (n *node) mappingOf(keys []string) error {
	if n.kind != mapping {
		return n.at.errorf("found %s; expected a mapping with the keys %s", n.kind, strings.Join(keys, ", "))
	}
	for _, e := range n.entries {
		if !slices.Contains(keys, e.key) {
			return e.at.errorf("unknown key %q; %s", quantity.Clip(e.key, 80), quantity.Hint(e.key, keys))
		}
	}
	return nil
}

// scalarOf returns the entry's single value.
func (e *entry) scalarOf(expected string) (string, error) {
	if e.value.kind != scalar {
		return "", e.value.at.errorf("%s: found %s; expected %s", e.key, e.value.kind, expected)
	}
	return e.value.text, nil
}

// each visits the entries of a mapping that has so many of them.
func (e *entry) each(l length, expected string, visit func(one entry) error) error {
	if e.value.kind != mapping || !l.has(len(e.value.entries)) {
		return e.value.at.errorf("%s: found %s; expected %s", e.key, counted(e.value), expected)
	}
	for _, one := range e.value.entries {
		if err := visit(one); err != nil {
			return err
		}
	}
	return nil
}

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

var (
	spreadBegins = regexp.MustCompile(`^[a-z][a-z0-9-]*:`)           // NAME:…
	spreadOn     = regexp.MustCompile(`^\s*([a-z]+=|[^,:]+:[^:]+$)`) // KEY=VALUE, or SHARE:SIZE
)

// together joins the levels that a comma within one has parted: after a level that begins
// with a name and a colon, such as lognormal:median=1KiB, whatever is KEY=VALUE or has a
// colon and no such name, and of steps all up to the slash.
func together(levels *node) *node {
	joined := &node{at: levels.at, kind: list}
	for _, item := range levels.items {
		if n := len(joined.items); n > 0 && goesOn(joined.items[n-1].text, item.text) {
			joined.items[n-1] = scalarNode(levels.at, joined.items[n-1].text+","+item.text)
			continue
		}
		joined.items = append(joined.items, item)
	}
	return joined
}

// goesOn tells whether a piece belongs to the level before it.
func goesOn(level, piece string) bool {
	switch {
	case !spreadBegins.MatchString(level) || spreadBegins.MatchString(piece):
		return false
	case strings.HasPrefix(level, "steps:"):
		return !strings.Contains(level, "/")
	}
	return spreadOn.MatchString(piece)
}

// oneOrMore returns a list's only item, or the list.
func oneOrMore(levels *node) *node {
	if len(levels.items) == 1 {
		return levels.items[0]
	}
	return levels
}

// length bounds how many something has.
type length struct{ least, most int }

func (l length) has(n int) bool { return n >= l.least && n <= l.most }

func (l length) String() string {
	if l.least == 0 {
		return fmt.Sprintf("at most %d", l.most)
	}
	return fmt.Sprintf("%d to %d", l.least, l.most)
}

func joined(names []string) string { return strings.Join(names, ", ") }

// file is a study file as it was read.
type file struct {
	name  string
	lines []string
}

// position is where something stands: in a file, in an argument counted from 1,
// or in an option of the command that says more than the arguments. It
// implements study.Position.
type position struct {
	file         *file
	line, column int // from 1; column in characters
	argument     int
	text         string // the argument, or the option
}

func (p position) String() string {
	switch {
	case p.argument > 0:
		return fmt.Sprintf("argument %d (%q)", p.argument, quantity.Clip(p.text, 60))
	case p.file != nil && p.line > 0:
		return fmt.Sprintf("%s:%d:%d", p.file.name, p.line, p.column)
	case p.file != nil:
		return p.file.name
	}
	return p.text
}

// Excerpt returns the line of a file with a caret under the column.
func (p position) Excerpt() string {
	if p.file == nil || p.line < 1 || p.line > len(p.file.lines) {
		return ""
	}
	number := fmt.Sprintf("%4d | ", p.line)
	caret := strings.Repeat(" ", len(number)-2) + "| " + strings.Repeat(" ", max(0, p.column-1)) + "^"
	return number + p.file.lines[p.line-1] + "\n" + caret
}

func (p position) errorf(format string, values ...any) error {
	return study.Errorf(p, format, values...)
}
