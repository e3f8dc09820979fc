// Package plainjson reads JSON in the one form in which encoding/json writes a Go value:
// no spaces, fields in the order of the type, each at most once. It takes a fraction of a
// general decoder's time, and gives up at anything else: then a general decoder has to
// read the text, and says what is wrong with it.
package plainjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// Reader reads values of type T. Many goroutines may use it.
type Reader[T any] struct {
	read   reader
	other  func(text []byte, to any) error
	states sync.Pool
}

// Custom reads a type that has its own form; false gives up. To points to a zero value
// of the type.
type Custom struct {
	Type reflect.Type
	Read func(t *Text, to any) bool
}

// For returns a reader of a type. What neither it nor a Custom can read, such as types
// with methods of their own, is left to other, which must be a general decoder.
func For[T any](other func(text []byte, to any) error, customs ...Custom) *Reader[T] {
	c := compiler{other: other, customs: customs, known: map[reflect.Type]*reader{}}
	return &Reader[T]{read: c.of(reflect.TypeFor[T]()), other: other}
}

// Read reads a value from the whole text; false where the text is of another form. To
// must be zero, and is of no use after false. It keeps no part of the text.
func (r *Reader[T]) Read(text []byte, to *T) bool {
	t, _ := r.states.Get().(*Text)
	if t == nil {
		t = &Text{other: r.other, words: map[string]string{}, spare: map[reflect.Type]reflect.Value{}}
	}
	t.rest = text
	whole := r.read(t, unsafe.Pointer(to)) && len(t.rest) == 0
	t.rest = nil
	r.states.Put(t)
	return whole
}

// reader reads one value to where it belongs, which is zero before.
type reader func(t *Text, to unsafe.Pointer) bool

// compiler makes the readers of types.
type compiler struct {
	other   func(text []byte, to any) error
	customs []Custom
	known   map[reflect.Type]*reader
}

// of returns the reader of a type. One that contains itself finds its own later.
func (c *compiler) of(t reflect.Type) reader {
	if known := c.known[t]; known != nil {
		return func(text *Text, to unsafe.Pointer) bool { return (*known)(text, to) }
	}
	known := new(reader)
	c.known[t] = known
	*known = c.make(t)
	return *known
}

func (c *compiler) make(t reflect.Type) reader {
	if i := slices.IndexFunc(c.customs, func(custom Custom) bool { return custom.Type == t }); i >= 0 {
		read := c.customs[i].Read
		return func(text *Text, to unsafe.Pointer) bool { return read(text, reflect.NewAt(t, to).Interface()) }
	}
	if p := reflect.PointerTo(t); p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return c.general(t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return readBool
	case reflect.Int, reflect.Int64:
		if t.Size() == 8 {
			return readInt
		}
	case reflect.Uint64:
		return readUint
	case reflect.Float64:
		return readFloat
	case reflect.String:
		return readString
	case reflect.Struct:
		return c.structure(t)
	case reflect.Pointer:
		return c.pointer(t)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return c.slice(t)
		}
	case reflect.Array:
		return c.array(t)
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return c.mapping(t)
		}
	}
	return c.general(t)
}

// general leaves a value to the other decoder.
func (c *compiler) general(t reflect.Type) reader {
	return func(text *Text, to unsafe.Pointer) bool {
		value, ok := text.value()
		return ok && c.other(value, reflect.NewAt(t, to).Interface()) == nil
	}
}

// field is one of a structure.
type field struct {
	name   string // with quotes and colon
	offset uintptr
	read   reader
}

func (c *compiler) structure(t reflect.Type) reader {
	fields := c.fields(t, 0)
	return func(text *Text, to unsafe.Pointer) bool {
		at := 0
		return text.each('{', '}', func() bool {
			for ; at < len(fields); at++ {
				if f := &fields[at]; text.skip(f.name) {
					at++
					return f.read(text, unsafe.Add(to, f.offset))
				}
			}
			return false
		})
	}
}

// fields returns those of a structure, and of what is embedded in it, in their order.
func (c *compiler) fields(t reflect.Type, base uintptr) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			all = append(all, c.fields(f.Type, base+f.Offset)...)
			continue
		case name == "-" || !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		read := c.of(f.Type)
		if options != "" && options != "omitempty" && options != "omitzero" { // such as string: another form
			read = func(*Text, unsafe.Pointer) bool { return false }
		}
		all = append(all, field{`"` + name + `":`, base + f.Offset, read})
	}
	return all
}

func (c *compiler) pointer(t reflect.Type) reader {
	of, read := t.Elem(), c.of(t.Elem())
	return func(text *Text, to unsafe.Pointer) bool {
		if text.skip("null") {
			return true
		}
		value := reflect.New(of).UnsafePointer()
		*(*unsafe.Pointer)(to) = value
		return read(text, value)
	}
}

// slice reads the elements into memory that is used again, and then copies as many as
// there are.
func (c *compiler) slice(t reflect.Type) reader {
	read, size := c.of(t.Elem()), t.Elem().Size()
	return func(text *Text, to unsafe.Pointer) bool {
		if text.skip("null") {
			return true
		}
		room := text.room(t)
		n := 0
		ok := text.each('[', ']', func() bool {
			if n == room.Len() {
				more := reflect.MakeSlice(t, 2*n, 2*n)
				reflect.Copy(more, room)
				room = more
			}
			n++
			return read(text, unsafe.Add(room.UnsafePointer(), uintptr(n-1)*size))
		})
		if ok {
			value := reflect.MakeSlice(t, n, n)
			reflect.Copy(value, room)
			reflect.NewAt(t, to).Elem().Set(value)
		}
		room.Slice(0, n).Clear()
		text.spare[t] = room
		return ok
	}
}

func (c *compiler) array(t reflect.Type) reader {
	read, size, most := c.of(t.Elem()), t.Elem().Size(), t.Len()
	return func(text *Text, to unsafe.Pointer) bool {
		n := 0
		ok := text.each('[', ']', func() bool {
			n++
			return n <= most && read(text, unsafe.Add(to, uintptr(n-1)*size))
		})
		return ok && n == most
	}
}

func (c *compiler) mapping(t reflect.Type) reader {
	read := c.of(t.Elem())
	return func(text *Text, to unsafe.Pointer) bool {
		if text.skip("null") {
			return true
		}
		all := reflect.MakeMap(t)
		reflect.NewAt(t, to).Elem().Set(all)
		return text.Object(func(name string) bool {
			key, value := reflect.ValueOf(name).Convert(t.Key()), reflect.New(t.Elem())
			if all.MapIndex(key).IsValid() || !read(text, value.UnsafePointer()) {
				return false
			}
			all.SetMapIndex(key, value.Elem())
			return true
		})
	}
}
