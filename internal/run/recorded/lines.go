package recorded

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"netdyno/internal/quantity"
)

// mostLine bounds a line, in bytes. A longer one is read past and left out.
const mostLine = 256 << 10

// eachLine parses every line. An empty one is skipped.
func eachLine(from *bufio.Reader, parse func([]byte) (seen, reason), take func(int, seen) error, refuse func(int, reason, []byte) error) error {
	for number := 1; ; number++ {
		line, err := readLine(from)
		if err != nil && !errors.Is(err, errLong) {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		s, why := seen{}, tooLong
		if err == nil {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			s, why = parse(line)
		}
		if why != "" {
			err = refuse(number, why, line)
		} else {
			err = take(number, s)
		}
		if err != nil {
			return err
		}
	}
}

var errLong = errors.New("the line is too long")

// readLine returns the next line without its end, valid until the next call; the last one
// may lack an end. io.EOF: there is none.
func readLine(from *bufio.Reader) ([]byte, error) {
	line, err := from.ReadSlice('\n')
	long := errors.Is(err, bufio.ErrBufferFull)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = from.ReadSlice('\n')
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case long:
		return nil, errLong
	case err != nil && len(line) == 0:
		return nil, io.EOF
	case len(line) > mostLine:
		return nil, errLong
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
}

// rolesByName are the roles of a file's columns. Unless they are named, a column has the
// role of its name.
func rolesByName(o Options) (map[string]string, error) {
	roles := map[string]string{}
	for _, role := range ColumnRoles() {
		roles[role] = role
	}
	for _, role := range slices.Sorted(maps.Keys(o.Columns)) {
		if setters[role] == nil {
			return nil, fmt.Errorf("--columns: unknown role %q; %s", quantity.Clip(role, 40), quantity.Hint(role, ColumnRoles()))
		}
		delete(roles, role)
	}
	for role, name := range o.Columns {
		roles[name] = role
	}
	return roles, nil
}

type jsonLines struct{ roles map[string]string }

func openJSONLines(o Options) (source, error) {
	roles, err := rolesByName(o)
	return jsonLines{roles}, err
}

func (j jsonLines) read(from *bufio.Reader, take func(int, seen) error, refuse func(int, reason, []byte) error) error {
	return eachLine(from, j.parse, take, refuse)
}

func (j jsonLines) parse(line []byte) (s seen, why reason) {
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return s, foreign
	}
	if why, err := walk(d, &s, "", j.roles); err != nil {
		return s, foreign
	} else if why != "" {
		return s, why
	}
	if s.at == 0 {
		return s, noTime
	}
	return s, ""
}

// mostNested bounds the levels of names that are looked at: request.path has two.
const mostNested = 8

// walk reads a value and enters those members that have a role, by their names with dots
// between the levels.
func walk(d *jsontext.Decoder, s *seen, name string, roles map[string]string) (why reason, err error) {
	if d.PeekKind() == '{' && d.StackDepth() < mostNested {
		if _, err := d.ReadToken(); err != nil {
			return "", err
		}
		for d.PeekKind() != '}' {
			key, err := d.ReadToken()
			if err != nil {
				return "", err
			}
			inner := key.String()
			if name != "" {
				inner = name + "." + inner
			}
			of, err := walk(d, s, inner, roles)
			if err != nil {
				return "", err
			}
			if why == "" {
				why = of
			}
		}
		_, err := d.ReadToken()
		return why, err
	}
	role := roles[name]
	if kind := d.PeekKind(); role == "" || kind != '"' && kind != '0' {
		return "", d.SkipValue()
	}
	value, err := d.ReadToken()
	if err != nil {
		return "", err
	}
	return setters[role](s, []byte(value.String())), nil
}

type csvLines struct{ roles map[string]string }

func openCSV(o Options) (source, error) {
	roles, err := rolesByName(o)
	return csvLines{roles}, err
}

func (c csvLines) read(from *bufio.Reader, take func(int, seen) error, refuse func(int, reason, []byte) error) error {
	var columns []func(*seen, []byte) reason
	timed := false
	return eachLine(from, func(line []byte) (s seen, why reason) {
		r := csv.NewReader(bytes.NewReader(line))
		r.LazyQuotes = true
		values, err := r.Read()
		if err != nil {
			return s, foreign
		}
		if columns == nil {
			for _, name := range values {
				role := c.roles[name]
				timed = timed || role == "time" || role == "end"
				columns = append(columns, setters[role])
			}
			return s, ""
		}
		if len(values) != len(columns) {
			return s, foreign
		}
		for i, set := range columns {
			if set == nil {
				continue
			}
			if why := set(&s, []byte(values[i])); why != "" {
				return s, why
			}
		}
		if s.at == 0 {
			return s, noTime
		}
		return s, ""
	}, func(number int, s seen) error {
		switch {
		case s.at != 0:
			return take(number, s)
		case !timed:
			return fmt.Errorf("line %d names no column that says when a request came; expected one called time, or --columns time=NAME", number)
		}
		return nil // the line of names
	}, refuse)
}
