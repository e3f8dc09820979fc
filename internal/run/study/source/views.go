package source

import (
	"strings"
)

// maxViews bounds each list of charts, fits, searches, choices, replacements,
// models of costs, claims or ladders.
const maxViews = 100

// viewKeys are the sections of a file that say what to make of the results. They
// are read when the study is complete, as each must speak of what it has.
var viewKeys = []string{"published", "charts", "fits", "reaches", "choose", "pays", "costs", "claims", "ladder"}

// views reads a list of charts, fits, searches or claims, each with some of the
// keys.
func views[V any](tree *node, key string, keys []string, read func(*node) (V, error)) ([]V, error) {
	e := tree.get(key)
	if e == nil {
		return nil, nil
	}
	if e.value.kind != list || len(e.value.items) > maxViews {
		return nil, e.value.at.errorf("%s: expected a list of at most %d, each with %s", key, maxViews, strings.Join(keys, ", "))
	}
	for _, item := range e.value.items {
		if err := item.mappingOf(keys); err != nil {
			return nil, err
		}
	}
	var all []V
	for _, item := range e.value.items {
		v, err := read(item)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// problem makes an error of a key and a text that a study.Scope returned; nil of
// no text.
func (n *node) problem(key, text string) error {
	if text == "" {
		return nil
	}
	return n.positionOf(key).errorf("%s: %s", key, text)
}
