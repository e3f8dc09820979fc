package source

import (
	"netdyno/internal/each"
	"netdyno/internal/run/study"
)

// A study file is blocks of keys: the study itself, a comparison, a chart. Each block is
// a table (keys.go, keys_results.go) of which follow how a file is read and written, what
// a command line may change, what completion offers, and the reference (netdyno studies factors).

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
	always bool     // read both before and then
	keys   []about  // those of a block, or of each block of a list
}

// key is a key of a block that becomes a T.
type key[T any] struct {
	about
	read  func(e entry, into *T, w whole) error
	write func(from *T) *node              // nil where there is nothing to write
	fits  func(c study.Scope, x *T) string // why the study has no such thing; nil where it is not asked
}

// whole is the study that a block belongs to, as far as it is read.
type whole struct {
	*study.Study
	scope *study.Scope // of the complete study; nil before
	kept  bool         // arguments changed the study: what it has no more is left out
}

// kind is what may stand behind a key: how it becomes a V, and how a V is written.
type kind[V any] struct {
	form  string
	many  bool
	read  func(e entry) (V, error)
	write func(V) *node // nil where there is nothing to write
	fits  func(c study.Scope, v V) string
}

// keyOf makes a key of a kind. Where returns the place that its value goes to.
func keyOf[T, V any](name string, k kind[V], where func(*T) *V, doc string) key[T] {
	made := key[T]{
		about: about{name: name, form: k.form, many: k.many, doc: doc},
		read: func(e entry, into *T, _ whole) (err error) {
			*where(into), err = k.read(e)
			return err
		},
		write: func(from *T) *node { return k.write(*where(from)) },
	}
	if k.fits != nil {
		made.fits = func(c study.Scope, x *T) string { return k.fits(c, *where(x)) }
	}
	return made
}

// must makes a key required in its block.
func (k key[T]) must() key[T] { k.needed = true; return k }

// typing gives a key a name on the command line, and values to offer behind it.
func (k key[T]) typing(name string, usual ...string) key[T] {
	k.typed, k.usual = name, usual
	return k
}

// writing has a key's value written in another way than that of its kind.
func (k key[T]) writing(write func(from *T) *node) key[T] { k.write = write; return k }

// result makes a key one that is read when the study is complete.
func (k key[T]) result() key[T] { k.last = true; return k }

// block is a mapping that becomes a T.
type block[T any] struct {
	name  string                             // for errors: "chart"
	start T                                  // what it is before a key is read
	keys  []key[T]                           // in the order in which they are read and written
	check func(n *node, x *T, w whole) error // when all are read; nil for none

	// rule is what the complete study must have beside what each key asks for, and the
	// key that is wrong; nil for none.
	rule func(c study.Scope, x T) (key, text string)
}

func (b block[T]) names() []string {
	return each.Of(b.keys, func(k key[T]) string { return k.name })
}

func (b block[T]) abouts() []about {
	return each.Of(b.keys, func(k key[T]) about { return k.about })
}

// readBlock reads a mapping over what is there.
func (b block[T]) readBlock(n *node, into *T, w whole) error {
	if err := n.mappingOf(b.names()); err != nil {
		return err
	}
	for _, k := range b.keys {
		if k.needed && n.entryOf(k.name) == nil {
			return n.at.errorf("%s: the key %q is missing", b.name, k.name)
		}
	}
	if err := b.readKeys(n, into, w, false); err != nil {
		return err
	}
	if b.check != nil {
		if err := b.check(n, into, w); err != nil {
			return err
		}
	}
	if w.scope == nil {
		return nil
	}
	return n.problem(b.problem(*w.scope, into))
}

// problem says which key asks for what the study has not, and why; both are "" for none.
func (b block[T]) problem(c study.Scope, x *T) (key, text string) {
	for _, k := range b.keys {
		if k.fits != nil {
			if text := k.fits(c, x); text != "" {
				return k.name, text
			}
		}
	}
	if b.rule == nil {
		return "", ""
	}
	return b.rule(c, *x)
}

// readKeys reads the keys that a mapping has, those that are read last or the others.
func (b block[T]) readKeys(n *node, into *T, w whole, last bool) error {
	for _, k := range b.keys {
		if e := n.entryOf(k.name); e != nil && (k.last == last || k.always) {
			if err := k.read(*e, into, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeBlock makes a mapping of what there is to write.
func (b block[T]) writeBlock(from *T) *node {
	n := &node{kind: mapping}
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
		read: func(e entry, into *T, w whole) error {
			v := b.start
			if there := *where(into); there != nil {
				v = *there
			}
			*where(into) = &v
			return b.readBlock(e.value, &v, w)
		},
		write: func(from *T) *node {
			if v := *where(from); v != nil {
				return b.writeBlock(v)
			}
			return nil
		},
	}
}

// blocksOf makes a key of a list of blocks.
func blocksOf[T, V any](name string, l length, b block[V], where func(*T) *[]V, doc string) key[T] {
	return key[T]{
		about: about{name: name, form: "a list", doc: doc, keys: b.abouts()},
		read: func(e entry, into *T, w whole) error {
			if e.value.kind != list || !l.has(len(e.value.items)) {
				return e.value.at.errorf("%s: found %s; expected a list of %s, each with %s", name, counted(e.value), l, joined(b.names()))
			}
			*where(into) = nil
			for _, item := range e.value.items {
				v := b.start
				if err := b.readBlock(item, &v, w); err != nil && w.kept {
					continue // the file itself was sound
				} else if err != nil {
					return err
				}
				*where(into) = append(*where(into), v)
			}
			return nil
		},
		write: func(from *T) *node {
			items := each.Of(*where(from), func(v V) *node { return b.writeBlock(&v) })
			return listNode(items)
		},
		fits: func(c study.Scope, x *T) string {
			for _, v := range *where(x) {
				if _, text := b.problem(c, &v); text != "" {
					return text
				}
			}
			return ""
		},
	}
}
