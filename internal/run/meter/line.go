package meter

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"netdyno/internal/contract"
)

// lines splits a stream into lines of at most contract.MaxLine bytes. One
// goroutine may use it.
type lines struct {
	buf  *bufio.Reader
	long []byte // a line that did not fit into buf
}

func newLines(r io.Reader) *lines { return &lines{buf: bufio.NewReaderSize(r, 64<<10)} }

// errLong is a line longer than contract.MaxLine.
var errLong = fmt.Errorf("longer than %d bytes", contract.MaxLine)

// nextLine returns the next line with its newline, valid until the next call. At
// the end of the stream it returns what is left, perhaps nothing, and io.EOF;
// for a line that is too long its beginning and errLong.
func (l *lines) nextLine() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.buf.ReadSlice('\n')
		if len(l.long)+len(part) > contract.MaxLine {
			return append(l.long, part...), errLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			l.long = append(l.long, part...)
			continue
		}
		if len(l.long) > 0 {
			l.long = append(l.long, part...)
			part = l.long
		}
		return part, err
	}
}

// key returns a line's message key by its first bytes, without parsing it;
// "" when the line does not begin like an object.
func key(line []byte) string {
	rest := bytes.TrimLeft(line, " \t")
	if len(rest) == 0 || rest[0] != '{' {
		return ""
	}
	rest = bytes.TrimLeft(rest[1:], " \t")
	if len(rest) == 0 || rest[0] != '"' {
		return ""
	}
	name, _, found := bytes.Cut(rest[1:min(len(rest), 1+maxKey)], []byte{'"'})
	if !found {
		return ""
	}
	return string(name)
}

// maxKey bounds the search for a key's closing quote; the longest is "result".
const maxKey = 16

// withMeter returns a message's line with the reading added. The bytes of the
// message stay as the worker wrote them, unknown fields included. The line
// must be a whole JSON object.
func withMeter(line []byte, m contract.Meter) ([]byte, error) {
	reading, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode the meter's reading: %w", err)
	}
	body := bytes.TrimSuffix(bytes.TrimRight(line, " \t\r\n"), []byte{'}'})
	if length := len(body) + len(reading) + len(`,"meter":}`) + 1; length > contract.MaxLine {
		return nil, fmt.Errorf("add the meter's reading: the line would have %d bytes, at most %d are allowed", length, contract.MaxLine)
	}
	out := make([]byte, 0, len(body)+len(reading)+16)
	out = append(append(out, body...), `,"meter":`...)
	return append(append(out, reading...), "}\n"...), nil
}
