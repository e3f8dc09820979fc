package plainjson

import (
	"bytes"
	"math"
	"reflect"
	"strconv"
	"unsafe"
)

// Text is what is left to read of a text, with memory that readers use again. It belongs
// to one goroutine.
type Text struct {
	rest  []byte
	other func(text []byte, to any) error
	words map[string]string // short texts, which a large run repeats in every record
	spare map[reflect.Type]reflect.Value
}

// Bounds of Text.words.
const (
	mostWords = 4096
	mostWord  = 48 // bytes
)

// skip passes over a text; false where another comes.
func (t *Text) skip(what string) bool {
	if len(t.rest) < len(what) || string(t.rest[:len(what)]) != what {
		return false
	}
	t.rest = t.rest[len(what):]
	return true
}

// peek returns the next byte; 0 at the end.
func (t *Text) peek() byte {
	if len(t.rest) == 0 {
		return 0
	}
	return t.rest[0]
}

func (t *Text) skipByte(c byte) bool {
	if t.peek() != c {
		return false
	}
	t.rest = t.rest[1:]
	return true
}

// each calls read for each of the values between brackets.
func (t *Text) each(open, shut byte, read func() bool) bool {
	if !t.skipByte(open) {
		return false
	}
	if t.skipByte(shut) {
		return true
	}
	for read() {
		if t.skipByte(shut) {
			return true
		}
		if !t.skipByte(',') {
			return false
		}
	}
	return false
}

// Object reads an object: each name, and by read its value.
func (t *Text) Object(read func(name string) bool) bool {
	return t.each('{', '}', func() bool {
		name, ok := t.string()
		return ok && t.skipByte(':') && read(name)
	})
}

// string reads a text; one with escapes, or beyond ASCII, by the other decoder.
func (t *Text) string() (string, bool) {
	if t.peek() != '"' {
		return "", false
	}
	for i, c := range t.rest[1:] {
		switch {
		case c == '"':
			text := t.rest[1 : 1+i]
			t.rest = t.rest[i+2:]
			return t.word(text), true
		case c == '\\' || c < ' ' || c >= 0x80:
			return t.anyString()
		}
	}
	return "", false
}

func (t *Text) anyString() (text string, ok bool) {
	for i := 1; i < len(t.rest); i++ {
		switch t.rest[i] {
		case '\\':
			i++
		case '"':
			quoted := t.rest[:i+1]
			t.rest = t.rest[i+1:]
			ok = t.other(quoted, &text) == nil
			return text, ok
		}
	}
	return "", false
}

// word returns a text as a string, the same one each time where it is short.
func (t *Text) word(text []byte) string {
	if len(text) > mostWord {
		return string(text)
	}
	word, known := t.words[string(text)]
	if !known {
		if len(t.words) >= mostWords {
			clear(t.words)
		}
		word = string(text)
		t.words[word] = word
	}
	return word
}

// digits reads a whole number without sign, of at most 18 digits.
func (t *Text) digits() (int64, bool) {
	n, i := int64(0), 0
	for ; i < len(t.rest) && i < 19; i++ {
		digit := t.rest[i] - '0'
		if digit > 9 {
			break
		}
		n = 10*n + int64(digit)
	}
	if i == 0 || i == 19 || i > 1 && t.rest[0] == '0' {
		return 0, false
	}
	t.rest = t.rest[i:]
	return n, !t.broken()
}

// broken tells whether a number goes on as no whole one does.
func (t *Text) broken() bool { c := t.peek(); return c == '.' || c == 'e' || c == 'E' }

// number reads any number.
func (t *Text) number() ([]byte, bool) {
	n := 0
	for n < len(t.rest) && (t.rest[n]-'0' <= 9 || bytes.IndexByte([]byte("+-.eE"), t.rest[n]) >= 0) {
		n++
	}
	text := t.rest[:n]
	t.rest = t.rest[n:]
	digits := bytes.TrimPrefix(text, []byte("-"))
	plain := len(digits) > 0 && digits[0]-'0' <= 9 && (digits[0] != '0' || len(digits) == 1 || digits[1]-'0' > 9) && text[n-1]-'0' <= 9
	at := bytes.IndexByte(digits, '.') // a digit must follow
	return text, plain && (at < 0 || digits[at+1]-'0' <= 9)
}

// value passes over a whole value, which whoever reads it has to check.
func (t *Text) value() ([]byte, bool) {
	depth, quoted := 0, false
	for i := 0; i < len(t.rest); i++ {
		switch c := t.rest[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == '}' || c == ']'):
			text := t.rest[:i]
			t.rest = t.rest[i:]
			return text, len(text) > 0
		case c == '}' || c == ']':
			depth--
		}
	}
	text := t.rest
	t.rest = nil
	return text, depth == 0 && !quoted && len(text) > 0
}

// room returns zeroed memory for elements of a slice. Who takes it brings it back to
// spare.
func (t *Text) room(of reflect.Type) reflect.Value {
	room, has := t.spare[of]
	if !has {
		const first = 8
		return reflect.MakeSlice(of, first, first)
	}
	delete(t.spare, of) // a type within itself gets its own
	return room
}

// Into reads a value of a type by its reader.
func (r *Reader[T]) Into(t *Text, to *T) bool { return r.read(t, unsafe.Pointer(to)) }

func readBool(t *Text, to unsafe.Pointer) bool {
	*(*bool)(to) = t.peek() == 't'
	return t.skip("true") || t.skip("false")
}

func readInt(t *Text, to unsafe.Pointer) bool {
	negative := t.skipByte('-')
	n, ok := t.digits()
	if negative {
		ok = ok && n != 0
		n = -n
	}
	*(*int64)(to) = n
	return ok
}

func readUint(t *Text, to unsafe.Pointer) bool {
	text, ok := t.number()
	if !ok {
		return false
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	*(*uint64)(to) = n
	return err == nil
}

func readFloat(t *Text, to unsafe.Pointer) bool {
	text, ok := t.number()
	if !ok {
		return false
	}
	x, err := strconv.ParseFloat(string(text), 64)
	*(*float64)(to) = x
	return err == nil && !math.IsInf(x, 0)
}

func readString(t *Text, to unsafe.Pointer) bool {
	text, ok := t.string()
	*(*string)(to) = text
	return ok
}
