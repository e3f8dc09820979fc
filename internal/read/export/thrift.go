package export

import "encoding/binary"

// thrift writes structures in Thrift's compact protocol, as far as a Parquet file
// without nested columns needs it. Fields are written with rising numbers; stop ends the
// outermost structure.
//
// Source: Apache Thrift, thrift-compact-protocol.md.
type thrift struct {
	text []byte
	last int // number of the field before, in the structure that is open
}

// Types of the compact protocol.
const (
	compactI32    = 5
	compactI64    = 6
	compactBytes  = 8
	compactList   = 9
	compactStruct = 12
)

func (t *thrift) field(number, kind int) {
	if delta := number - t.last; delta > 0 && delta < 16 {
		t.text = append(t.text, byte(delta<<4|kind))
	} else {
		t.text = binary.AppendVarint(append(t.text, byte(kind)), int64(number))
	}
	t.last = number
}

func (t *thrift) i32(number int, x int64) {
	t.field(number, compactI32)
	t.text = binary.AppendVarint(t.text, x) // zigzag, as the protocol has it
}

func (t *thrift) i64(number int, x int64) {
	t.field(number, compactI64)
	t.text = binary.AppendVarint(t.text, x)
}

// text8 writes a string in UTF-8.
func (t *thrift) text8(number int, s string) {
	t.field(number, compactBytes)
	t.bare(s)
}

func (t *thrift) bare(s string) {
	t.text = append(binary.AppendUvarint(t.text, uint64(len(s))), s...)
}

// structure writes a structure whose fields inside writes.
func (t *thrift) structure(number int, inside func()) {
	t.field(number, compactStruct)
	t.nested(inside)
}

func (t *thrift) nested(inside func()) {
	outer := t.last
	t.last = 0
	inside()
	t.stop()
	t.last = outer
}

// list writes a list of n structures, of which each writes one's fields.
func (t *thrift) list(number, n int, each func(i int)) {
	t.elements(number, n, compactStruct)
	for i := range n {
		t.nested(func() { each(i) })
	}
}

func (t *thrift) i32s(number int, all ...int64) {
	t.elements(number, len(all), compactI32)
	for _, x := range all {
		t.text = binary.AppendVarint(t.text, x)
	}
}

func (t *thrift) texts(number int, all ...string) {
	t.elements(number, len(all), compactBytes)
	for _, s := range all {
		t.bare(s)
	}
}

func (t *thrift) elements(number, n, kind int) {
	t.field(number, compactList)
	if n < 15 {
		t.text = append(t.text, byte(n<<4|kind))
		return
	}
	t.text = binary.AppendUvarint(append(t.text, byte(0xf0|kind)), uint64(n))
}

func (t *thrift) stop() { t.text = append(t.text, 0) }

// levelRuns say which values of an optional column there are, as runs of Parquet's RLE
// of one bit. The zero value is empty.
type levelRuns struct {
	text  []byte
	there bool
	n     uint64
}

func (l *levelRuns) addLevel(there bool) {
	if l.n > 0 && there != l.there {
		l.end()
	}
	l.there = there
	l.n++
}

func (l *levelRuns) end() {
	l.text = binary.AppendUvarint(l.text, l.n<<1)
	bit := byte(0)
	if l.there {
		bit = 1
	}
	l.text, l.n = append(l.text, bit), 0
}

// encode returns all runs.
func (l *levelRuns) encode() []byte {
	if l.n > 0 {
		l.end()
	}
	return l.text
}
