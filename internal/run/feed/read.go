package feed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"netdyno/internal/quantity"
	"netdyno/internal/rows"
)

// mostLine bounds a row, in bytes.
const mostLine = 4 << 20

var errLong = fmt.Errorf("it has more than %d bytes; expected fields of at most %d", mostLine, rows.MostField)

// lines reads lines, and those that quotes join.
type lines struct {
	from   *bufio.Reader
	begins int // number of the line that was read last, from 1; of joined ones the first
	next   int
	joined []byte
}

func newLines(from io.Reader) *lines {
	return &lines{from: bufio.NewReaderSize(from, mostLine), next: 1}
}

// peek returns what the file begins with.
func (l *lines) peek() ([]byte, error) {
	begin, err := l.from.Peek(4 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.HasPrefix(begin, []byte{0xef, 0xbb, 0xbf}) { // a byte order mark
		_, err := l.from.Discard(3)
		return begin[3:], err
	}
	return begin, nil
}

// line returns the next line, without its end, until the next call.
func (l *lines) line() ([]byte, error) {
	line, err := l.from.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		l.begins = l.next
		return nil, errLong
	case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0):
		return nil, err
	}
	l.begins = l.next
	l.next++
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

// filled returns the next line that is not empty.
func (l *lines) filled() ([]byte, error) {
	for {
		if line, err := l.line(); err != nil || len(line) > 0 {
			return line, err
		}
	}
}

// record returns the next line that is not empty, and those after it that its quotes join.
func (l *lines) record() ([]byte, error) {
	line, err := l.filled()
	if err != nil || bytes.Count(line, quote)%2 == 0 {
		return line, err
	}
	begins := l.begins
	defer func() { l.begins = begins }()
	l.joined = append(l.joined[:0], line...)
	for {
		line, err := l.line()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("a quote opens here that nothing closes")
		}
		if err == nil && len(l.joined)+len(line) > mostLine {
			err = errLong
		}
		if err != nil {
			return nil, err
		}
		l.joined = append(append(l.joined, '\n'), line...)
		if bytes.Count(line, quote)%2 == 1 {
			return l.joined, nil
		}
	}
}

var quote = []byte(`"`)

// form is how rows stand in a file.
type form interface {
	// columns reads their names, io.EOF of an empty file.
	columns(l *lines) ([]string, error)
	// row reads the next row's fields, of those columns at least that are asked for. They are
	// the caller's until the next call. io.EOF after the last.
	row(l *lines, fields [][]byte, in []bool) error
	// without says what a file is that has columns and no rows; "" for nothing special.
	without() string
}

// formOf tells a file's form by its name, or else by what it begins with.
func formOf(name string, begin []byte) (form, error) {
	first, _, _ := bytes.Cut(begin, []byte("\n"))
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return &csv{comma: commaOf(first)}, nil
	case ".tsv":
		return &csv{comma: '\t'}, nil
	case ".jsonl", ".ndjson":
		return &objects{}, nil
	case ".json":
		if bytes.HasPrefix(bytes.TrimSpace(begin), []byte("[")) {
			return nil, errors.New("it is one JSON array; expected an object a line, as jq -c '.[]' makes of it")
		}
		return &objects{}, nil
	case ".txt":
		return texts{}, nil
	}
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(begin), []byte("{")):
		return &objects{}, nil
	case bytes.ContainsAny(first, ",\t;"):
		return &csv{comma: commaOf(first)}, nil
	}
	return texts{}, nil
}

// commaOf is what parts the fields of a first line.
func commaOf(first []byte) byte {
	for _, c := range []byte(",\t;") {
		if bytes.IndexByte(first, c) >= 0 {
			return c
		}
	}
	return ','
}

// texts are a text a line.
type texts struct{}

// lineColumn is the column of a text, and of JSON lines the whole object.
const lineColumn = "line"

func (texts) columns(l *lines) ([]string, error) {
	if _, err := l.from.Peek(1); err != nil {
		return nil, err
	}
	return []string{lineColumn}, nil
}

func (texts) without() string { return "" }

func (texts) row(l *lines, fields [][]byte, _ []bool) (err error) {
	fields[0], err = l.filled()
	return err
}

// csv is RFC 4180, with a header line.
type csv struct {
	comma byte
	names []string
}

func (*csv) without() string { return "it has a header line and no rows" }

func (c *csv) columns(l *lines) ([]string, error) {
	record, err := l.record()
	if err != nil {
		return nil, err
	}
	fields, err := c.split(record, nil)
	if err != nil {
		return nil, err
	}
	for i, field := range fields {
		name := strings.TrimSpace(string(field))
		_, number := strconv.ParseFloat(name, 64)
		switch before := slices.Index(c.names, name); {
		case name == "":
			return nil, fmt.Errorf("column %d has no name; expected a header line with the columns' names", i+1)
		case number == nil:
			return nil, fmt.Errorf("found %s as the name of column %d; expected a header line with the columns' names, such as id,name", quantity.Clip(name, 40), i+1)
		case before >= 0:
			return nil, fmt.Errorf("columns %d and %d are both named %s", before+1, i+1, quantity.Clip(name, 40))
		case i >= rows.MostColumns:
			return nil, fmt.Errorf("it has %d columns; expected at most %d", len(fields), rows.MostColumns)
		}
		c.names = append(c.names, name)
	}
	return c.names, nil
}

func (c *csv) row(l *lines, fields [][]byte, _ []bool) error {
	record, err := l.record()
	if err != nil {
		return err
	}
	all, err := c.split(record, fields[:0])
	if err != nil {
		return err
	}
	if len(all) != len(fields) {
		return fmt.Errorf("the row has %s; expected %d, as the header line has", quantity.Plural(len(all), "field"), len(fields))
	}
	return nil
}

// split parts a record into fields, in its own bytes, at most one more than there are names.
func (c *csv) split(record []byte, fields [][]byte) ([][]byte, error) {
	quoted := bytes.IndexByte(record, '"') >= 0
	for {
		if quoted && len(record) > 0 && record[0] == '"' {
			field, rest, err := unquote(record[1:])
			if err != nil || len(rest) > 0 && rest[0] != c.comma {
				return nil, errors.New(`a quote stands inside a field; expected the field in quotes, and "" for a quote in it`)
			}
			if fields = append(fields, field); len(rest) == 0 {
				return fields, nil
			}
			record = rest[1:]
			continue
		}
		end := bytes.IndexByte(record, c.comma)
		field := record
		if end >= 0 {
			field = record[:end]
		}
		if quoted && bytes.IndexByte(field, '"') >= 0 {
			return nil, errors.New(`a quote stands inside a field; expected the field in quotes, and "" for a quote in it`)
		}
		if fields = append(fields, field); end < 0 || c.names != nil && len(fields) > len(c.names) {
			return fields, nil
		}
		record = record[end+1:]
	}
}

// unquote returns a field up to its closing quote, and what follows that.
func unquote(text []byte) (field, rest []byte, err error) {
	to := 0
	for i := 0; i < len(text); i++ {
		if text[i] == '"' {
			if i+1 == len(text) || text[i+1] != '"' {
				return text[:to], text[i+1:], nil
			}
			i++
		}
		text[to] = text[i]
		to++
	}
	return nil, nil, errors.New("nothing closes a quote")
}

// objects are JSON lines: an object a line, of whose members each is a column.
type objects struct {
	names   []string
	decoder jsontext.Decoder
	reader  bytes.Reader
	room    []byte // of strings without their escapes
}

func (*objects) without() string { return "" }

func (o *objects) columns(l *lines) ([]string, error) {
	begin, err := l.from.Peek(mostLine)
	if len(begin) == 0 {
		return nil, err
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(begin, " \t\r\n"), []byte("\n"))
	l.begins = 1 + bytes.Count(begin[:len(begin)-len(bytes.TrimLeft(begin, " \t\r\n"))], []byte("\n"))
	err = o.members(first, func(name string, _ jsontext.Value) error {
		o.names = append(o.names, name)
		return nil
	})
	if err == nil && len(o.names) >= rows.MostColumns {
		err = fmt.Errorf("it has %d members; expected fewer than %d", len(o.names), rows.MostColumns)
	}
	if !slices.Contains(o.names, lineColumn) {
		o.names = append(o.names, lineColumn)
	}
	return o.names, err
}

// members calls each for the members of an object, whose names are never twice the same.
func (o *objects) members(line []byte, each func(name string, value jsontext.Value) error) error {
	o.reader.Reset(line)
	o.decoder.Reset(&o.reader)
	token, err := o.decoder.ReadToken()
	if err != nil || token.Kind() != '{' {
		return errors.Join(errors.New(`expected a JSON object a line, such as {"id": 7}`), notEnd(err))
	}
	for o.decoder.PeekKind() != '}' {
		token, err := o.decoder.ReadToken()
		if err != nil {
			return notJSON(err)
		}
		name := token.String()
		value, err := o.decoder.ReadValue()
		if err != nil {
			return notJSON(err)
		}
		if err := each(name, value); err != nil {
			return err
		}
	}
	if _, err := o.decoder.ReadToken(); err != nil {
		return notJSON(err)
	}
	if _, err := o.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("more follows the object on its line")
	}
	return nil
}

func notEnd(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	return notJSON(err)
}

// notJSON says what is no JSON without showing it, as it may be secret.
func notJSON(err error) error {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return fmt.Errorf("it is no JSON at byte %d of the line", syntactic.ByteOffset)
	}
	return errors.New("its JSON is cut off")
}

func (o *objects) row(l *lines, fields [][]byte, in []bool) error {
	line, err := l.filled()
	if err != nil {
		return err
	}
	clear(fields)
	o.room = o.room[:0]
	if last := len(o.names) - 1; o.names[last] == lineColumn {
		fields[last] = line
	}
	next := 0 // where members are in the order of the first row
	err = o.members(line, func(name string, value jsontext.Value) error {
		at := next
		if at >= len(o.names) || o.names[at] != name {
			if at = slices.Index(o.names, name); at < 0 {
				return nil
			}
		}
		next = at + 1
		if !in[at] {
			return nil
		}
		begins := len(o.room)
		if value.Kind() == '"' {
			o.room, _ = jsontext.AppendUnquote(o.room, value) // it is valid
		} else {
			o.room = append(o.room, value...)
		}
		fields[at] = o.room[begins:len(o.room):len(o.room)]
		return nil
	})
	if err != nil {
		return err
	}
	for i, field := range fields {
		if field == nil && in[i] {
			return fmt.Errorf("the row has no %q, which the first one has", quantity.Clip(o.names[i], 40))
		}
	}
	return nil
}
