package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// The names of the files in a run's directory.
const (
	TrialsFile  = "trials.jsonl"
	RecordsFile = "records.jsonl"
)

// MaxLine bounds one line of either file in bytes; a longer one is refused
// before it is stored.
const MaxLine = 64 << 20

// castagnoli is the polynomial of CRC-32C (RFC 3720, appendix B.4).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Problem is something wrong in a file that did not keep the rest of it from
// being read.
type Problem struct {
	Line   int // from 1
	Reason string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Reason) }

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

// eachLine calls visit for every whole line of a file.
func eachLine(r io.Reader, visit func(number int, line []byte) error) (extent, error) {
	var e extent
	buffered := bufio.NewReaderSize(r, 256<<10)
	for {
		line, err := readLine(buffered)
		switch {
		case errors.Is(err, io.EOF):
			e.torn = len(line) > 0
			return e, nil
		case err != nil:
			return e, fmt.Errorf("line %d: %w", e.lines+1, err)
		}
		e.lines++
		if err := visit(e.lines, line); err != nil {
			return e, err
		}
		e.whole += int64(len(line))
	}
}

// readLine returns one line with its newline, or what there is with io.EOF.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, fmt.Errorf("longer than %d bytes", MaxLine)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Contents is what Read found in records.jsonl.
type Contents struct {
	Header   Header
	Records  []Record  // one per trial, in the order written
	Problems []Problem // damaged lines, duplicates, a torn tail
}

// Read returns the header and the records of a records.jsonl. Damaged lines
// are skipped and reported, and so is every later record of the same trial. It
// fails when the file cannot be read, has no whole header, or was written by a
// newer schema. Another process may be appending meanwhile.
func Read(path string) (Contents, error) {
	var c Contents
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer f.Close()
	if err := c.read(f); err != nil {
		return c, fmt.Errorf("read %s: %w", path, err)
	}
	return c, nil
}

func (c *Contents) read(r io.Reader) error {
	first := map[string]int{} // line by trial
	headed := false
	e, err := eachLine(r, func(number int, line []byte) error {
		body, err := decodeLine(line)
		if number == 1 {
			headed = true
			return c.readHeader(body, err)
		}
		if err != nil {
			c.Problems = append(c.Problems, Problem{number, err.Error()})
			return nil
		}
		return c.readRecord(number, body, first)
	})
	switch {
	case err != nil:
		return err
	case !headed:
		return errors.New("line 1: no whole header; expected the run's header")
	case e.torn:
		c.Problems = append(c.Problems, Problem{e.lines + 1, "torn: the file ends inside the line; its trial is to be run again"})
	}
	return nil
}

func (c *Contents) readHeader(body []byte, err error) error {
	if err != nil {
		return fmt.Errorf("line 1: header: %w", err)
	}
	if err := json.Unmarshal(body, &c.Header); err != nil {
		return fmt.Errorf("line 1: header: %w", err)
	}
	return checkSchema(1, c.Header.Schema)
}

// checkSchema refuses what a newer netdyno wrote: its fields may mean what
// this one does not know.
func checkSchema(line, schema int) error {
	switch {
	case schema > Schema:
		return fmt.Errorf("line %d: schema %d was written by a newer netdyno; this one reads up to schema %d", line, schema, Schema)
	case schema < 1:
		return fmt.Errorf("line %d: schema %d; expected from 1 to %d", line, schema, Schema)
	}
	return nil
}

func (c *Contents) readRecord(number int, body []byte, first map[string]int) error {
	var schema struct {
		Schema int `json:"schema"`
	}
	var r Record
	if err := json.Unmarshal(body, &schema); err == nil && schema.Schema > Schema {
		return checkSchema(number, schema.Schema)
	}
	err := json.Unmarshal(body, &r)
	switch {
	case err != nil:
		c.Problems = append(c.Problems, Problem{number, "record: " + err.Error()})
	case r.Trial.ID == "":
		c.Problems = append(c.Problems, Problem{number, "record: its trial has no id"})
	case first[r.Trial.ID] > 0:
		c.Problems = append(c.Problems, Problem{number, fmt.Sprintf("trial %s has a record already, on line %d, which stands", r.Trial.ID, first[r.Trial.ID])})
	default:
		first[r.Trial.ID] = number
		c.Records = append(c.Records, r)
	}
	return nil
}

// WriteTrials writes the plan, whole or not at all.
func WriteTrials(path string, trials []Trial) error {
	var b bytes.Buffer
	for _, t := range trials {
		line, err := encodeLine(t)
		if err != nil {
			return fmt.Errorf("encode trial %s: %w", t.ID, err)
		}
		b.Write(line)
	}
	return WriteFileAtomic(path, b.Bytes())
}

// ReadTrials returns the plan. It was written whole, so anything wrong in it
// is an error.
func ReadTrials(path string) ([]Trial, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var trials []Trial
	seen := map[string]bool{}
	e, err := eachLine(f, func(number int, line []byte) error {
		body, err := decodeLine(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		var t Trial
		if err := json.Unmarshal(body, &t); err != nil {
			return fmt.Errorf("line %d: trial: %w", number, err)
		}
		if t.ID == "" || seen[t.ID] {
			return fmt.Errorf("line %d: trial id %q is empty or repeated", number, t.ID)
		}
		seen[t.ID] = true
		trials = append(trials, t)
		return nil
	})
	if err == nil && e.torn {
		err = errors.New("the last line is torn")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return trials, nil
}
