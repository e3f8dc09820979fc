package rows

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/draw"
	"netdyno/internal/quantity"
)

// Source says what each request is filled with. Any goroutine may use it.
type Source struct {
	file   *File
	first  uint64
	random bool
	picks  uint64 // states at which the streams begin
	uuids  uint64
	texts  uint64
}

// NewSource returns the source of a trial: number n takes row first + n, from the first row
// again after the last, or one that is drawn.
func NewSource(file *File, seed, first uint64, random bool) *Source {
	salted := seed ^ file.salt
	return &Source{
		file: file, first: first, random: random,
		picks: draw.At(seed, draw.Picks-1), uuids: draw.At(salted, draw.UUIDs-1), texts: draw.At(salted, draw.Texts-1),
	}
}

// Row is what one request is filled with.
type Row struct {
	source *Source
	n, row uint64
	key    int64
}

// Of returns what request number n is filled with; key stands for {key}.
func (s *Source) Of(n uint64, key int64) Row {
	r := Row{source: s, n: s.first + n, key: key}
	switch {
	case s.file.Rows == 0:
	case s.random:
		r.row, _ = bits.Mul64(draw.At(s.picks, r.n), s.file.Rows)
	default:
		r.row = r.n % s.file.Rows
	}
	return r
}

// What is made for a request, in templates of the contract and of users alike.
const (
	UUID   = "uuid"   // of version 4
	Number = "n"      // of the request
	Random = "random" // followed by its length: letters and digits
	Now    = "now"    // ms since 1970
	Key    = "key"    // of a workload's keys
)

// MostRandom bounds the length of a random text, in bytes.
const MostRandom = 1000

// How a field is written.
const (
	plain   = 0
	inURL   = 'u' // each byte that is not unreserved as %XX (RFC 3986, section 2.3)
	inJSON  = 'j' // as inside a JSON string (RFC 8259, section 7)
	digits  = "0123456789"
	letters = digits + "abcdefghjkmnpqrstvwxyz" // 32
)

// piece is a literal, and what follows it.
type piece struct {
	literal string
	column  int // made says what in place of one
	escape  byte
	made    string // "" for a column, or for nothing at the end
	length  int    // of Random
}

const (
	noColumn = -1
	perDraw  = 12 // letters of one output
	perByte  = 5  // bits of a letter
)

// Template is a text that requests are filled by. It never changes.
type Template struct{ pieces []piece }

// Fixed tells whether every request has the same text.
func (t Template) Fixed() bool {
	return len(t.pieces) == 0 || len(t.pieces) == 1 && t.pieces[0].made == "" && t.pieces[0].column == noColumn
}

// Empty tells whether the text is.
func (t Template) Empty() bool { return len(t.pieces) == 0 }

// Scan hands on what a template of the contract has, in its order: its literals, with braces
// as they are meant, and what stands between braces.
func Scan(text string, literal func(text string), hole func(name string) error) error {
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			literal(b.String())
			b.Reset()
		}
	}
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			flush()
			return nil
		}
		if after, brace := strings.CutPrefix(rest, "{"); brace {
			b.WriteByte('{')
			text = after
			continue
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return errors.New("a { has no } after it; expected {{ for a brace")
		}
		flush()
		if err := hole(name); err != nil {
			return err
		}
		text = after
	}
}

// ParseTemplate reads a template of the contract for rows of so many columns.
func ParseTemplate(text string, columns int) (t Template, err error) {
	literal := ""
	err = Scan(text, func(text string) { literal = text }, func(name string) error {
		p, err := parsePiece(name, columns)
		p.literal, literal = literal, ""
		t.pieces = append(t.pieces, p)
		return err
	})
	if err != nil {
		return Template{}, err
	}
	if literal != "" {
		t.pieces = append(t.pieces, piece{literal: literal, column: noColumn})
	}
	return t, nil
}

func parsePiece(name string, columns int) (piece, error) {
	wrong := fmt.Errorf("found {%s}; expected the number of one of %d columns, with u or j after it, or %s", quantity.Clip(name, 40), columns, "uuid, n, now, key or random8")
	switch name {
	case UUID, Number, Now, Key:
		return piece{column: noColumn, made: name}, nil
	}
	if length, is := strings.CutPrefix(name, Random); is {
		n, err := strconv.Atoi(length)
		if err != nil || n < 1 || n > MostRandom {
			return piece{}, wrong
		}
		return piece{column: noColumn, made: Random, length: n}, nil
	}
	p, number := piece{}, name
	if n := len(name); n > 0 && (name[n-1] == inURL || name[n-1] == inJSON) {
		p.escape, number = name[n-1], name[:n-1]
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || int(n) >= columns {
		return piece{}, wrong
	}
	p.column = int(n)
	return p, nil
}

// Append adds the text that a request has.
func (t Template) Append(to []byte, r Row) []byte {
	for i := range t.pieces {
		p := &t.pieces[i]
		to = append(to, p.literal...)
		switch {
		case p.column != noColumn:
			to = appendEscaped(to, r.source.file.Field(r.row, p.column), p.escape)
		case p.made == UUID:
			to = appendUUID(to, draw.At(r.source.uuids, r.n))
		case p.made == Number:
			to = strconv.AppendUint(to, r.n, 10)
		case p.made == Key:
			to = strconv.AppendInt(to, r.key, 10)
		case p.made == Now:
			to = strconv.AppendInt(to, time.Now().UnixMilli(), 10)
		case p.made == Random:
			state, bitsOf := draw.At(r.source.texts, r.n), uint64(0)
			for k := range p.length {
				if k%perDraw == 0 {
					bitsOf = draw.At(state, uint64(k/perDraw))
				}
				to = append(to, letters[bitsOf%32])
				bitsOf >>= perByte
			}
		}
	}
	return to
}

// appendUUID adds a UUID of version 4 (RFC 9562, section 5.4).
func appendUUID(to []byte, state uint64) []byte {
	high, low := draw.At(state, 0), draw.At(state, 1)
	high, low = high&^0xf000|0x4000, low&^(3<<62)|1<<63
	for i := range 32 {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			to = append(to, '-')
		}
		half := high
		if i >= 16 {
			half = low
		}
		to = append(to, "0123456789abcdef"[half>>(60-4*(i%16))&0xf])
	}
	return to
}

func appendEscaped(to, field []byte, escape byte) []byte {
	if escape == plain {
		return append(to, field...)
	}
	const hex = "0123456789ABCDEF"
	for _, c := range field {
		switch {
		case escape == inURL && !unreserved(c):
			to = append(to, '%', hex[c>>4], hex[c&0xf])
		case escape == inJSON && (c == '"' || c == '\\'):
			to = append(to, '\\', c)
		case escape == inJSON && c < ' ':
			to = append(to, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		default:
			to = append(to, c)
		}
	}
	return to
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}
