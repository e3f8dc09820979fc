package source

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"

	"netdyno/internal/each"
	"netdyno/internal/run/study"
)

// The keys of a study file are the fields of study.Study, and of the structs in it, that
// have these tags. A new key is one such field.
//
//	key    its name in a file
//	is     what stands behind it, a kind of kinds.go; without it a mapping, or a list of some
//	typed  its name on a command line; without it the key can be written in a file only
//	must   "yes": it must be there
//	min    of a number or a share, the least; of a list, how many
//	max    likewise
//	doc    what it is, in a line

// key is a field with such tags.
type key struct {
	kind
	name, typed, doc string
	must             bool
	field            int   // of the struct
	keys             []key // of a mapping, or of each of a list
}

// kind is what may stand behind a key.
type kind struct {
	form  string
	many  bool // typed, commas separate several values
	read  func(e entry, f field) error
	write func(f field) *node                 // nil where there is nothing to write
	fits  func(f field, c study.Scope) string // why the complete study has no such thing; nil where that is not asked
}

// field is where the value of a key goes.
type field struct {
	at    reflect.Value
	of    any          // a pointer to the struct
	whole *study.Study // as far as it is read
}

var knownKeys sync.Map // []key by the struct's type

// keysOf returns the keys of a struct, in their order.
func keysOf(of reflect.Type) (all []key) {
	if known, is := knownKeys.Load(of); is {
		return known.([]key)
	}
	defer func() { knownKeys.Store(of, all) }()
	for i := range of.NumField() {
		f := of.Field(i)
		if name, is := f.Tag.Lookup("key"); is {
			k := key{name: name, typed: f.Tag.Get("typed"), doc: f.Tag.Get("doc"), must: f.Tag.Get("must") != "", field: i, kind: kindOf(f)}
			if inner := blockType(f.Type); inner.Kind() == reflect.Struct {
				k.keys = keysOf(inner)
			}
			all = append(all, k)
		}
	}
	return all
}

// blockType is what a key's value consists of: the struct of a list of structs.
func blockType(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		return t.Elem()
	}
	return t
}

func studyKeys() []key { return keysOf(reflect.TypeFor[study.Study]()) }

func names(keys []key) []string { return each.Of(keys, func(k key) string { return k.name }) }

// Key is a key of a study file.
type Key struct {
	Name  string // those of a mapping, or of each item of a list, follow its name and a dot
	Form  string // what stands behind it
	Doc   string
	Typed string // its name on a command line; empty where it can be written in a file only
}

// Keys returns every key of a study file, in the order in which they are written.
func Keys() []Key { return listOf("", studyKeys()) }

func listOf(prefix string, keys []key) (all []Key) {
	for _, k := range keys {
		doc := k.doc
		if k.must {
			doc += " (must be there)"
		}
		all = append(all, Key{prefix + k.name, k.form, doc, k.typed})
		all = append(all, listOf(prefix+k.name+".", k.keys)...)
	}
	return all
}

// readBlock reads a mapping over a struct. Name is the mapping's, for errors.
func readBlock(name string, n *node, into reflect.Value, whole *study.Study) error {
	keys := keysOf(into.Type())
	if err := n.mappingOf(names(keys)); err != nil {
		return err
	}
	for _, k := range keys {
		if k.must && n.entryOf(k.name) == nil {
			return n.at.errorf("%s: the key %q is missing", name, k.name)
		}
	}
	if err := readKeys(n, into, whole); err != nil {
		return err
	}
	return check(n, into.Addr().Interface(), whole)
}

// readKeys reads the keys that a mapping has.
func readKeys(n *node, into reflect.Value, whole *study.Study) error {
	for _, k := range keysOf(into.Type()) {
		if e := n.entryOf(k.name); e != nil {
			if err := k.read(*e, field{into.Field(k.field), into.Addr().Interface(), whole}); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeBlock makes a mapping of what there is to write of a struct.
func writeBlock(from reflect.Value) *node {
	n := &node{kind: mapping}
	for _, k := range keysOf(from.Type()) {
		if value := k.write(field{at: from.Field(k.field), of: from.Addr().Interface()}); value != nil {
			n.entries = append(n.entries, entry{key: k.name, value: value})
		}
	}
	return n
}

// problem says which key of a mapping asks for what the complete study has not, and why;
// both are "" for none. X points to the struct.
func problem(c study.Scope, x any) (name, text string) {
	v := reflect.ValueOf(x).Elem()
	for _, k := range keysOf(v.Type()) {
		if k.fits == nil {
			continue
		}
		if text := k.fits(field{at: v.Field(k.field)}, c); text != "" {
			return k.name, text
		}
	}
	return rule(c, x)
}

// aBlock is a mapping that becomes a struct; behind a pointer one that may be absent.
func aBlock() kind {
	return kind{
		form: "a mapping",
		read: func(e entry, f field) error {
			if f.at.Kind() != reflect.Pointer {
				return readBlock(e.key, e.value, f.at, f.whole)
			}
			there := f.at.Elem()
			if f.at.IsNil() {
				there = reflect.ValueOf(standards[f.at.Type().Elem()])
			}
			f.at.Set(reflect.New(f.at.Type().Elem()))
			f.at.Elem().Set(there)
			return readBlock(e.key, e.value, f.at.Elem(), f.whole)
		},
		write: func(f field) *node {
			if from := reflect.Indirect(f.at); from.IsValid() {
				return writeBlock(from)
			}
			return nil
		},
	}
}

// blocksOf is a list of so many mappings, each of which becomes a struct.
func blocksOf(l length) kind {
	return kind{
		form: "a list",
		read: func(e entry, f field) error {
			if e.value.kind != list || !l.has(len(e.value.items)) {
				keys := names(keysOf(f.at.Type().Elem()))
				return e.value.at.errorf("%s: found %s; expected a list of %s, each with %s", e.key, counted(e.value), l, joined(keys))
			}
			f.at.SetZero()
			for _, item := range e.value.items {
				one := reflect.New(f.at.Type().Elem()).Elem()
				if err := readBlock(e.key, item, one, f.whole); err != nil {
					return err
				}
				f.at.Set(reflect.Append(f.at, one))
			}
			return nil
		},
		write: func(f field) *node {
			var items []*node
			for i := range f.at.Len() {
				items = append(items, writeBlock(f.at.Index(i)))
			}
			return listNode(items)
		},
	}
}

// maxViews is how many a list has at most that gives no other bound.
const maxViews = 100

// lengthOf is how many the tags of a list allow.
func lengthOf(tag reflect.StructTag) length {
	l := length{0, maxViews}
	for name, bound := range map[string]*int{"min": &l.least, "max": &l.most} {
		if text, given := tag.Lookup(name); given {
			n, err := strconv.Atoi(text)
			if err != nil {
				panic(fmt.Errorf("tag %s: %w", name, err))
			}
			*bound = n
		}
	}
	return l
}

// kindOf returns the kind of a field: the one that its tag names, or that of its type.
func kindOf(f reflect.StructField) kind {
	is := f.Tag.Get("is")
	switch {
	case is == "expectations":
		return expectations(lengthOf(f.Tag))
	case is == "number":
		return aNumber(f)
	case is == "share":
		return aShare(f.Tag.Get("min"))
	case is != "":
		k, known := kinds[is]
		if !known {
			panic(fmt.Sprintf("field %s is of no known kind %q", f.Name, is))
		}
		return k
	case f.Type.Kind() == reflect.Slice:
		return blocksOf(lengthOf(f.Tag))
	}
	return aBlock()
}
