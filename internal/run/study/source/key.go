package source

import (
	"netdyno/internal/run/study"
)

// A study file is blocks of keys: the study itself, a comparison, a chart. Each block is
// a table (keys.go, keys_results.go) of which follow how a file is read and written, what
// a command line may change, what completion offers, and the reference in docs/studies.md.

// about is what there is to say of a key.
type about struct {
	name   string
	form   string // what stands behind it
	doc    string
	needed bool
	many   bool     // typed, commas separate several values
	typed  string   // its name on a command line; "" where it can be written in a file only
	usual  []string // values to offer there
	last   bool     // read when the study is complete, as it speaks of what the study has
	keys   []about  // those of a block, or of each block of a list
}

// key is a key of a block that becomes a T.
type key[T any] struct {
	about
	read  func(e entry, into *T, s *study.Study) error // s is the study as far as it is read
	write func(from *T) *node                          // nil where there is nothing to write
}

// kind is what may stand behind a key: how it becomes a V, and how a V is written.
type kind[V any] struct {
	form  string
	many  bool
	read  func(e entry) (V, error)
	write func(V) *node // nil where there is nothing to write
}

// of makes a key of a kind. Where returns the place that its value goes to.
func of[T, V any](name string, k kind[V], where func(*T) *V, doc string) key[T] {
	return key[T]{
		about: about{name: name, form: k.form, many: k.many, doc: doc},
		read: func(e entry, into *T, _ *study.Study) (err error) {
			*where(into), err = k.read(e)
			return err
		},
		write: func(from *T) *node { return k.write(*where(from)) },
	}
}

// must makes a key one that its block needs.
func (k key[T]) must() key[T] { k.needed = true; return k }

// typing gives a key a name on the command line, and values to offer behind it.
func (k key[T]) typing(name string, usual ...string) key[T] {
	k.typed, k.usual = name, usual
	return k
}

// inline has a key's value written in one line.
func (k key[T]) inline() key[T] {
	write := k.write
	k.write = func(from *T) *node { return oneLine(write(from)) }
	return k
}

// writing has a key's value written in another way than that of its kind.
func (k key[T]) writing(write func(from *T) *node) key[T] { k.write = write; return k }

// result makes a key one that is read when the study is complete.
func (k key[T]) result() key[T] { k.last = true; return k }

// block is a mapping that becomes a T.
type block[T any] struct {
	name   string                                    // for errors: "chart"
	start  T                                         // what it is before a key is read
	keys   []key[T]                                  // in the order in which they are read and written
	check  func(n *node, x *T, s *study.Study) error // when all are read; nil for none
	inline bool                                      // written in one line
}

func (b block[T]) names() []string {
	var names []string
	for _, k := range b.keys {
		names = append(names, k.name)
	}
	return names
}

func (b block[T]) abouts() []about {
	var all []about
	for _, k := range b.keys {
		all = append(all, k.about)
	}
	return all
}

// read reads a mapping over what is there.
func (b block[T]) read(n *node, into *T, s *study.Study) error {
	if err := n.mappingOf(b.names()); err != nil {
		return err
	}
	for _, k := range b.keys {
		if k.needed && n.get(k.name) == nil {
			return n.at.errorf("%s: the key %q is missing", b.name, k.name)
		}
	}
	if err := b.readKeys(n, into, s, false); err != nil || b.check == nil {
		return err
	}
	return b.check(n, into, s)
}

// readKeys reads the keys that a mapping has, those that are read last or the others.
func (b block[T]) readKeys(n *node, into *T, s *study.Study, last bool) error {
	for _, k := range b.keys {
		if e := n.get(k.name); e != nil && k.last == last {
			if err := k.read(*e, into, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// write makes a mapping of what there is to write.
func (b block[T]) write(from *T) *node {
	n := &node{kind: mapping, flow: b.inline}
	for _, k := range b.keys {
		if value := k.write(from); value != nil {
			n.entries = append(n.entries, entry{key: k.name, value: value})
		}
	}
	return n
}

// sub makes a key of a block that may be absent.
func sub[T, V any](name string, b block[V], where func(*T) **V, doc string) key[T] {
	return key[T]{
		about: about{name: name, form: "a mapping", doc: doc, keys: b.abouts()},
		read: func(e entry, into *T, s *study.Study) error {
			v := b.start
			if there := *where(into); there != nil {
				v = *there
			}
			*where(into) = &v
			return b.read(e.value, &v, s)
		},
		write: func(from *T) *node {
			if v := *where(from); v != nil {
				return b.write(v)
			}
			return nil
		},
	}
}

// blocksOf makes a key of a list of blocks.
func blocksOf[T, V any](name string, least, most int, b block[V], where func(*T) *[]V, doc string) key[T] {
	return key[T]{
		about: about{name: name, form: "a list", doc: doc, keys: b.abouts()},
		read: func(e entry, into *T, s *study.Study) error {
			if e.value.kind != list || len(e.value.items) < least || len(e.value.items) > most {
				return e.value.at.errorf("%s: found %s; expected a list of %s, each with %s", name, counted(e.value), between(least, most), joined(b.names()))
			}
			*where(into) = nil
			for _, item := range e.value.items {
				v := b.start
				if err := b.read(item, &v, s); err != nil {
					return err
				}
				*where(into) = append(*where(into), v)
			}
			return nil
		},
		write: func(from *T) *node {
			var items []*node
			for _, v := range *where(from) {
				items = append(items, b.write(&v))
			}
			return listNode(items)
		},
	}
}
