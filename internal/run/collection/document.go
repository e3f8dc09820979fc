package collection

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"netdyno/internal/each"
	"netdyno/internal/quantity"
)

// Bounds of a document. The YAML library calls itself for each level and for each key of a
// mapping, in time that grows with the square of the keys, and takes some 500 bytes for each
// token.
const (
	mostYAML   = 16 << 20 // bytes
	mostSigns  = 1 << 21  // of YAML's syntax, each with a token or two
	mostKeys   = 1 << 14  // of a mapping in YAML
	mostLevels = 200
	mostAlias  = 8  // times the text's size, which no document without aliases reaches
	mostHops   = 64 // references followed to reach one value
)

// document is an OpenAPI document: a tree of mappings, lists and scalars.
type document struct {
	root   any
	beside bool  // keys beside a $ref count, as in OpenAPI 3.1
	size   int   // of what was checked: bytes of texts and 8 of each value
	most   int   // of size
	err    error // the first value that is not what it is read as
}

// node is a value of a document and where it stands; the value nil is none.
type node struct {
	doc   *document
	value any
	at    *place
}

// place is where a value stands; nil is the whole document.
type place struct {
	above *place
	name  string
}

// String returns a JSON pointer (RFC 6901), the beginning of a long one.
func (p *place) String() string {
	if p == nil {
		return "#"
	}
	return quantity.Clip(p.above.String()+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(p.name), 200)
}

// document reads the text, and checks its size and that its references lead somewhere.
func (m *maker) document(version string) (whole node, err error) {
	d := &document{most: mostAlias * max(len(m.text), 1<<16)}
	if bytes.HasPrefix(bytes.TrimSpace(m.text), []byte("{")) {
		err = m.readJSON(m.text, &d.root)
	} else {
		d.root, err = readYAML(m.text)
	}
	whole = node{doc: d, value: d.root}
	if err == nil {
		err = whole.check(0, false)
	}
	d.beside = version == "3.1"
	return whole, err
}

// readYAML reads one document. The error names the line.
func readYAML(text []byte) (root any, err error) {
	if len(text) > mostYAML {
		return nil, fmt.Errorf("it has %d bytes of YAML; expected at most %d, or JSON", len(text), mostYAML)
	}
	signs := 0
	for _, c := range text {
		if strings.IndexByte(",[]{}:-\n", c) >= 0 {
			signs++
		}
	}
	if signs > mostSigns {
		return nil, fmt.Errorf("it has %d signs of YAML, such as commas, and lines; expected at most %d, or JSON", signs, mostSigns)
	}
	tokens := lexer.Tokenize(string(text))
	if err := withinYAML(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err == nil {
		bodies := slices.DeleteFunc(file.Docs, func(doc *ast.DocumentNode) bool { return doc.Body == nil || doc.Body.Type() == ast.CommentType })
		switch {
		case len(bodies) == 0:
			return nil, nil
		case len(bodies) > 1:
			return nil, fmt.Errorf("line %d: a second document begins; expected one per file", bodies[1].Body.GetToken().Position.Line)
		}
		err = yaml.NodeToValue(bodies[0].Body, &root)
	}
	if syntax := yaml.Error(nil); errors.As(err, &syntax) && syntax.GetToken() != nil {
		return nil, fmt.Errorf("line %d: it is not YAML: %s", syntax.GetToken().Position.Line, syntax.GetMessage())
	}
	return root, err
}

// withinYAML refuses what the parser has no stack or no time for.
func withinYAML(tokens token.Tokens) error {
	open, keys := 0, map[int]int{} // brackets; keys by the columns of the mappings around a token
	for _, t := range tokens {
		column := t.Position.Column
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open++
		case token.SequenceEndType, token.MappingEndType:
			open = max(0, open-1)
		case token.MappingValueType, token.SequenceEntryType, token.MappingKeyType:
			if open > 0 {
				continue
			}
			if t.Type == token.MappingValueType && t.Prev != nil {
				column = t.Prev.Position.Column
			}
			maps.DeleteFunc(keys, func(inner, _ int) bool { return inner > column })
			if keys[column] += 0; t.Type == token.MappingValueType {
				keys[column]++
			}
		}
		switch {
		case open > mostLevels || len(keys) > mostLevels:
			return fmt.Errorf("line %d: more than %d values lie in each other", t.Position.Line, mostLevels)
		case keys[column] > mostKeys:
			return fmt.Errorf("line %d: a mapping has more than %d keys; expected fewer, or JSON", t.Position.Line, mostKeys)
		}
	}
	return nil
}

// own are the keys of what is the user's data: a $ref there is no reference.
var own = []string{"example", "examples", "default", "const", "enum", "value"}

// check looks at all values in one, which lies in so many others.
func (n node) check(depth int, data bool) error {
	n.doc.size += 8
	switch value := n.value.(type) {
	case string:
		n.doc.size += len(value)
	case []any:
		for i, one := range value {
			if err := n.in(strconv.Itoa(i), one).check(depth+1, data); err != nil {
				return err
			}
		}
	case map[string]any:
		if _, err := n.follow(new(int)); err != nil && !data {
			return err
		}
		for _, name := range n.names() {
			n.doc.size += len(name)
			data := data || strings.HasPrefix(name, "x-") || slices.Contains(own, name)
			if err := n.in(name, value[name]).check(depth+1, data); err != nil {
				return err
			}
		}
	}
	switch {
	case depth > mostLevels:
		return fmt.Errorf("%s: more than %d values lie in each other", n.at, mostLevels)
	case n.doc.size > n.doc.most:
		return fmt.Errorf("%s: its aliases stand for more than %d times its size; write fewer of them", n.at, mostAlias)
	}
	return nil
}

func (n node) in(name string, value any) node {
	return node{n.doc, value, &place{n.at, name}}
}

// follow returns what a value's reference leads to; the value itself without one.
func (n node) follow(hops *int) (to node, err error) {
	fields, _ := n.value.(map[string]any)
	ref, is := fields["$ref"].(string)
	if !is {
		return n, nil
	}
	shown := quantity.Clip(ref, 100)
	if *hops++; *hops > mostHops {
		return to, fmt.Errorf("%s: the reference %q leads to itself, or over more than %d others", n.at, shown, mostHops)
	}
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return to, fmt.Errorf("it refers to another file (%s) at %s; join them into one, such as by redocly bundle", shown, n.at)
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	if !strings.HasPrefix(path, "/") {
		return to, fmt.Errorf("%s: the reference is %q; expected a JSON pointer, such as #/components/schemas/NAME", n.at, shown)
	}
	to = node{doc: n.doc, value: n.doc.root}
	for name := range strings.SplitSeq(path[1:], "/") {
		if to, err = to.follow(hops); err != nil {
			return to, err
		}
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		next := to.step(name)
		if next.value == nil {
			fields, _ := to.value.(map[string]any)
			names := slices.Sorted(maps.Keys(fields))
			return to, fmt.Errorf("%s: the reference %q leads nowhere: %s has no %q; %s", n.at, shown, to.at, quantity.Clip(name, 60), quantity.Clip(quantity.Hint(name, names), 120))
		}
		to = next
	}
	if to, err = to.follow(hops); err != nil || len(fields) == 1 || !n.doc.beside {
		return to, err
	}
	return to.with(fields), nil
}

// step is the value of a key as it is written, or an item by its number.
func (n node) step(name string) (to node) {
	switch value := n.value.(type) {
	case map[string]any:
		return n.in(name, value[name])
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(value) {
			return n.in(name, value[i])
		}
	}
	return to
}

// with is a mapping with the keys that stand beside the reference to it.
func (n node) with(beside map[string]any) node {
	fields, is := n.value.(map[string]any)
	if !is {
		return n
	}
	fields = maps.Clone(fields)
	for name, value := range beside {
		switch own := fields[name].(type) {
		case map[string]any:
			if more, is := value.(map[string]any); is && name == "properties" {
				value = maps.Clone(own)
				maps.Copy(value.(map[string]any), more)
			}
		case []any:
			if more, is := value.([]any); is && (name == "required" || name == "allOf") {
				value = slices.Concat(own, more)
			}
		}
		if name != "$ref" {
			fields[name] = value
		}
	}
	n.value = fields
	return n
}

// expects notes that the value should be of another kind, unless there is none.
func (n node) expects(kind string) {
	if n.value != nil && n.doc.err == nil {
		n.doc.err = fmt.Errorf("%s: expected %s, found %s", n.at, kind, quantity.Clip(plain(n.value), 60))
	}
}

// fields are those of a mapping, as they are written.
func (n node) fields() map[string]any {
	fields, is := n.value.(map[string]any)
	if !is {
		n.expects("a mapping")
	}
	return fields
}

// names are the keys of a mapping, in order.
func (n node) names() []string { return slices.Sorted(maps.Keys(n.fields())) }

// get is the value of a mapping's key, its reference followed.
func (n node) get(name string) node { return n.in(name, n.fields()[name]).followed() }

// list are the items of a list, their references followed.
func (n node) list() (all []node) {
	values, is := n.value.([]any)
	if !is {
		n.expects("a list")
	}
	for i, value := range values {
		all = append(all, n.in(strconv.Itoa(i), value).followed())
	}
	return all
}

func (n node) followed() node {
	to, err := n.follow(new(int))
	if err != nil && n.doc.err == nil {
		n.doc.err = err
	}
	to.doc = n.doc
	return to
}

// text is a scalar as a text; "" where there is none.
func (n node) text() string {
	switch n.value.(type) {
	case nil:
		return ""
	case map[string]any, []any:
		n.expects("a text")
	}
	return plain(n.value)
}

// texts are the items of a list of scalars.
func (n node) texts() []string { return each.Of(n.list(), node.text) }

// yes tells whether the value is true.
func (n node) yes() bool {
	yes, is := n.value.(bool)
	if !is {
		n.expects("true or false")
	}
	return yes
}
