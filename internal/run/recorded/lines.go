package recorded

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// eachLine visits every line that is not empty, by its number, without its end; of one that is
// longer than the reader's buffer its beginning. An error of the visit ends the reading.
func eachLine(from *bufio.Reader, visit func(number int, line []byte, long bool) error) error {
	for number := 1; ; number++ {
		line, err := from.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if long {
			line = bytes.Clone(line) // its beginning, which the reader will overwrite
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = from.ReadSlice('\n')
		}
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			if failed := visit(number, line, long); failed != nil {
				return failed
			}
		}
		if ended {
			return nil
		}
	}
}

// parseJSON reads an object, whose members are called by their roles.
func parseJSON(line []byte) (s seen, why reason) {
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return s, foreign
	}
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != '}' {
		var key, value jsontext.Token
		if key, err = d.ReadToken(); err != nil {
			break
		}
		set := setters[key.String()]
		if kind := d.PeekKind(); set == nil || kind != '"' && kind != '0' {
			err = d.SkipValue()
			continue
		}
		if value, err = d.ReadToken(); err == nil && why == "" {
			why = set(&s, []byte(value.String()))
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	switch {
	case err != nil:
		return s, foreign
	case why == "" && s.at == 0:
		return s, noTime
	}
	return s, why
}
