package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// MaxLine bounds one line of either file in bytes; a longer one is refused
// before it is stored.
const MaxLine = 64 << 20

// castagnoli is the polynomial of CRC-32C (RFC 3720, appendix B.4).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A line is {"crc":"8 hex digits","body":{…}}: the CRC-32C of the body's own
// bytes. It is written in this one form and read in no other, so that any
// flipped bit shows, those that JSON would forgive included.
const (
	lineHead = `{"crc":"`
	lineNeck = `","body":`
	lineTail = "}\n"
	crcChars = 8
	bodyAt   = len(lineHead) + crcChars + len(lineNeck)
)

// encodeLine returns a whole line, its newline included.
func encodeLine(body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	line := make([]byte, 0, bodyAt+len(raw)+len(lineTail))
	line = fmt.Appendf(line, "%s%08x%s", lineHead, crc32.Checksum(raw, castagnoli), lineNeck)
	line = append(append(line, raw...), lineTail...)
	if len(line) > MaxLine {
		return nil, fmt.Errorf("the line has %d bytes; expected at most %d", len(line), MaxLine)
	}
	return line, nil
}

// decodeLine checks one line and returns its body.
func decodeLine(line []byte) (json.RawMessage, error) {
	sum, framed := bytes.CutPrefix(line, []byte(lineHead))
	framed = framed && len(line) >= bodyAt+len(lineTail) &&
		bytes.HasPrefix(sum[crcChars:], []byte(lineNeck)) && bytes.HasSuffix(line, []byte(lineTail))
	if !framed {
		return nil, fmt.Errorf(`found %.40q; expected {"crc":"8 hex digits","body":{…}}`, bytes.TrimSpace(line))
	}
	body := line[bodyAt : len(line)-len(lineTail)]
	if got := fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli)); got != string(sum[:crcChars]) {
		return nil, fmt.Errorf("the body's CRC-32C is %s, not %.8q: the line was damaged", got, sum)
	}
	return body, nil
}

// extent is how far a file goes.
type extent struct {
	lines int   // whole ones
	whole int64 // their bytes
	torn  bool  // a line without its end follows
}

// errLong is of a line that is too long to be one of ours.
var errLong = fmt.Errorf("longer than %d bytes", MaxLine)

// eachLine calls visit for every whole line of a file: with its body, or with
// what is wrong with it. A line beyond MaxLine is passed over and never held.
func eachLine(r io.Reader, visit func(number int, body json.RawMessage, damage error) error) (extent, error) {
	var e extent
	buffered := bufio.NewReaderSize(r, 256<<10)
	for {
		line, size, err := readLine(buffered)
		switch {
		case errors.Is(err, io.EOF):
			e.torn = size > 0
			return e, nil
		case err != nil && !errors.Is(err, errLong):
			return e, fmt.Errorf("line %d: %w", e.lines+1, err)
		}
		long := err != nil
		var body json.RawMessage
		if !long {
			body, err = decodeLine(line)
		}
		if err := visit(e.lines+1, body, err); err != nil {
			return e, err
		}
		if long {
			rest, err := passLine(buffered)
			if errors.Is(err, io.EOF) {
				e.torn = true
				return e, nil
			}
			if err != nil {
				return e, fmt.Errorf("line %d: %w", e.lines+1, err)
			}
			size += rest
		}
		e.lines++
		e.whole += size
	}
}

// readLine returns one line with its newline, and its size in bytes. What there
// is of a line that the file ends in comes with io.EOF; errLong is told as soon
// as a line is beyond MaxLine, before its end is known.
func readLine(r *bufio.Reader) (line []byte, size int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if size += int64(len(part)); size > MaxLine {
			if err == nil { // its end was in this part; passLine is to find it
				size--
				err = r.UnreadByte()
			}
			if err == nil || errors.Is(err, bufio.ErrBufferFull) {
				err = errLong
			}
			return nil, size, err
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, size, err
		}
	}
}

// passLine reads up to the next newline and returns how many bytes that were.
func passLine(r *bufio.Reader) (size int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		if !errors.Is(err, bufio.ErrBufferFull) {
			return size, err
		}
	}
}
