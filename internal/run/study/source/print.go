package source

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/each"
)

// maxInline is how long what is written in one line may be.
const maxInline = 120

// print writes a mapping, or a list, whose lines have an indent: what is short in one line.
// The first key of a mapping follows what stands before it.
func (n *node) print(b *bytes.Buffer, indent string) {
	for i, e := range n.entries {
		if i > 0 {
			b.WriteString(indent)
		}
		b.WriteString(e.key + ":")
		switch line := e.value.inline(); {
		case e.value.kind == scalar || len(line) <= maxInline:
			b.WriteString(" " + line + "\n")
		case e.value.kind == mapping:
			b.WriteString("\n  " + indent)
			e.value.print(b, indent+"  ")
		default:
			b.WriteString("\n")
			e.value.print(b, indent+"  ")
		}
	}
	for _, item := range n.items {
		b.WriteString(indent + "- ")
		if line := item.inline(); item.kind == scalar || len(line) <= maxInline {
			b.WriteString(line + "\n")
		} else {
			item.print(b, indent+"  ")
		}
	}
}

// inline writes a node in one line. Lines stay below input.MaxYAMLLine as long as
// levels do.
func (n *node) inline() string {
	parts := each.Of(n.entries, func(e entry) string { return e.key + ": " + e.value.inline() })
	for _, item := range n.items {
		parts = append(parts, item.inline())
	}
	switch n.kind {
	case mapping:
		return "{" + strings.Join(parts, ", ") + "}"
	case list:
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return quote(n.text)
}

var plainScalar = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+%-]*$`)

// yamlWord matches the plain scalars that some YAML reader takes for no text;
// numbers are left plain, as levels are read as they are written.
var yamlWord = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n)$`)

// quote writes a text so that YAML reads the same text back: plain where YAML allows
// that, else in double quotes with JSON's escapes.
func quote(text string) string {
	if plainScalar.MatchString(text) && !yamlWord.MatchString(text) {
		return text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return strconv.Quote(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// textNode is a single value to write; nil of none.
func textNode(text string) *node {
	if text == "" {
		return nil
	}
	return scalarNode(position{}, text)
}

// listNode is a list to write; nil of none.
func listNode(items []*node) *node {
	if len(items) == 0 {
		return nil
	}
	return &node{kind: list, items: items}
}

// textsNode is a list of single values to write; nil of none, or where they are empty.
func textsNode(texts []string) *node {
	if len(texts) == 0 || texts[0] == "" {
		return nil
	}
	return listNode(each.Of(texts, func(text string) *node { return scalarNode(position{}, text) }))
}

// mapNode is a mapping to write, by its keys; nil of an empty one.
func mapNode[V any](m map[string]V, write func(V) *node) *node {
	return mapNodeOf(slices.Sorted(maps.Keys(m)), func(key string) entry { return entry{key: key, value: write(m[key])} })
}

// mapNodeOf is a mapping to write; nil of an empty one.
func mapNodeOf[V any](all []V, of func(V) entry) *node {
	if len(all) == 0 {
		return nil
	}
	return &node{kind: mapping, entries: each.Of(all, of)}
}
