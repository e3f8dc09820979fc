package source

import (
	"fmt"
	"maps"
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

// get returns the entry of that key, or nil.
func (n *node) get(key string) *entry {
	for i := range n.entries {
		if n.entries[i].key == key {
			return &n.entries[i]
		}
	}
	return nil
}

// positionOf returns where a key's value stands, or the mapping itself.
func (n *node) positionOf(key string) position {
	if e := n.get(key); e != nil {
		return e.value.at
	}
	return n.at
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

var properName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,62}$`)

// nameOf returns the entry's value, which names a study or a part of one.
func (e *entry) nameOf() (string, error) {
	name, err := e.scalarOf("a name")
	if err == nil && !properName.MatchString(name) {
		err = e.value.at.errorf("%s: %q is not a name; expected letters, digits, ., _, + and -", e.key, quantity.Clip(name, 80))
	}
	return name, err
}

// texts reads the single values of a mapping; those named must be there.
func (n *node) texts(what string, into map[string]*string, needed ...string) error {
	for _, key := range needed {
		if n.get(key) == nil {
			return n.at.errorf("%s: the key %q is missing", what, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(into)) {
		e := n.get(key)
		if e == nil {
			continue
		}
		text, err := e.scalarOf("a single value")
		if err != nil {
			return err
		}
		if len(text) > study.MaxText || text == "" {
			return e.value.at.errorf("%s: the text has %d bytes; expected 1 to %d", key, len(text), study.MaxText)
		}
		*into[key] = strings.Join(strings.Fields(text), " ")
	}
	return nil
}

// names reads a list of 1 to most names of factors or arms.
func (n *node) names(key string, most int) ([]string, error) {
	items := listed(n.get(key).value)
	if len(items) == 0 || len(items) > most {
		return nil, n.positionOf(key).errorf("%s: expected a list of 1 to %d factors", key, most)
	}
	var names []string
	for _, item := range items {
		if item.kind != scalar {
			return nil, item.at.errorf("%s: found %s; expected a factor", key, item.kind)
		}
		names = append(names, item.text)
	}
	return names, nil
}
