package record

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
)

// MaxLine bounds one line of either file in bytes; a longer one is refused
// before it is stored.
const MaxLine = 64 << 20

// castagnoli is the polynomial of CRC-32C (RFC 3720, appendix B.4).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A line is {"crc":"8 hex digits","body":{…}}: the CRC-32C of the body's own
// bytes. A line is written in this one form and read in no other, so that any
// flipped bit shows, even one that JSON would forgive.
const (
	lineHead = `{"crc":"`
	lineNeck = `","body":`
	lineTail = "}\n"
	crcChars = 8
	bodyAt   = len(lineHead) + crcChars + len(lineNeck)
)

// encodeLine returns a whole line, its newline included; packed, its body is a string with
// what DEFLATE makes of the object, in base64.
func encodeLine(body any, packed bool) ([]byte, error) {
	raw, err := json.Marshal(body)
	if err == nil && packed {
		raw, err = pack(raw)
	}
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
	if bytes.HasPrefix(body, []byte{'"'}) {
		return unpack(body)
	}
	return body, nil
}

func pack(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(raw)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("pack the line: %w", err)
	}
	return json.Marshal(b.Bytes())
}

// unpack is the inverse of pack, of an object of at most MaxLine bytes.
func unpack(body []byte) (json.RawMessage, error) {
	var deflated []byte
	if err := json.Unmarshal(body, &deflated); err != nil {
		return nil, fmt.Errorf("unpack the line: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(deflated)), MaxLine+1))
	if err == nil && len(raw) > MaxLine {
		err = errLong
	}
	if err != nil {
		return nil, fmt.Errorf("unpack the line: %w", err)
	}
	return raw, nil
}

// extent is how far a file goes.
type extent struct {
	lines int   // whole ones
	whole int64 // their bytes
	torn  bool  // a line without its end follows
}

// errLong is of a line that is too long to be one of ours.
var errLong = fmt.Errorf("longer than %d bytes", MaxLine)

// eachLine reads every whole line of a file: with its body, or with what is wrong
// with it. Lines are read side by side, on all CPUs, as most of the time goes into
// their JSON; what read returns is called in the order of the lines. A line beyond
// MaxLine is passed over and never held. A body is gone once its line was entered.
func eachLine(r io.Reader, read func(number int, body json.RawMessage, damage error) (enter func() error)) (extent, error) {
	var e extent
	buffered, pending := bufio.NewReaderSize(r, 256<<10), newPending()
	defer pending.abandon()
	for {
		line, size, err := readLine(buffered, pending.room())
		switch {
		case errors.Is(err, io.EOF):
			e.torn = size > 0
			return e, pending.finish()
		case err != nil && !errors.Is(err, errLong):
			return e, errors.Join(pending.finish(), fmt.Errorf("line %d: %w", e.lines+1, err))
		}
		number, long := e.lines+1, err
		if err := pending.start(line, func() func() error {
			if long != nil {
				return read(number, nil, long)
			}
			body, damage := decodeLine(line)
			return read(number, body, damage)
		}); err != nil {
			return e, err
		}
		if long != nil { // its end may be far: what comes before it first
			if err := pending.finish(); err != nil {
				return e, err
			}
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

// pending are lines that are being read, in their order. It belongs to one
// goroutine.
type pending struct {
	lines []reading
	spare [][]byte // of lines that were entered
	most  int
}

// reading is a line that is being read, and what enters it then.
type reading struct {
	text  []byte
	enter chan func() error
}

func newPending() *pending { return &pending{most: 2 * runtime.GOMAXPROCS(0)} }

// start reads one more line, and enters earlier ones when many are under way.
func (p *pending) start(text []byte, read func() func() error) error {
	for len(p.lines) >= p.most {
		if err := p.enter(); err != nil {
			return err
		}
	}
	line := reading{text, make(chan func() error, 1)}
	go func() { line.enter <- read() }()
	p.lines = append(p.lines, line)
	return nil
}

// enter waits for the first of them.
func (p *pending) enter() error {
	line := p.lines[0]
	p.lines = p.lines[1:]
	err := (<-line.enter)()
	if cap(line.text) <= mostSpare {
		p.spare = append(p.spare, line.text)
	}
	return err
}

// mostSpare bounds the memory of a line that is used again.
const mostSpare = 1 << 20

// room returns memory for a line; nil where there is none yet.
func (p *pending) room() []byte {
	if len(p.spare) == 0 {
		return nil
	}
	last := p.spare[len(p.spare)-1]
	p.spare = p.spare[:len(p.spare)-1]
	return last[:0]
}

// finish enters all that are left, up to the first error.
func (p *pending) finish() error {
	for len(p.lines) > 0 {
		if err := p.enter(); err != nil {
			return err
		}
	}
	return nil
}

// abandon waits for what is still being read and enters none of it.
func (p *pending) abandon() {
	for _, line := range p.lines {
		<-line.enter
	}
	p.lines = nil
}

// readLine returns one line with its newline, in room or more, and its size in bytes. What there
// is of a line that the file ends in comes with io.EOF; errLong is told as soon
// as a line is beyond MaxLine, before its end is known.
func readLine(r *bufio.Reader, room []byte) (line []byte, size int64, err error) {
	line = room
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
