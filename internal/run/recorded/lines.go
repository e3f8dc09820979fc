package recorded

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
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

// jsonLines reads an object a line, whose members are called by their roles.
type jsonLines struct{}

func openJSONLines(Options) (source, error) { return jsonLines{}, nil }

func (j jsonLines) read(from *bufio.Reader, take func(int, seen) error, refuse func(int, reason, []byte) error) error {
	return eachLine(from, j.parse, take, refuse)
}

// ownRoles are names that say their role.
var ownRoles = func() map[string]string {
	roles := map[string]string{}
	for role := range setters {
		roles[role] = role
	}
	return roles
}()

func (j jsonLines) parse(line []byte) (s seen, why reason) {
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return s, foreign
	}
	if why, err := walk(d, &s, "", ownRoles); err != nil {
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
