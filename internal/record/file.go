package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// The names of the files in a run's directory.
const (
	TrialsFile  = "trials.jsonl"
	RecordsFile = "records.jsonl"
)

// Problem is something wrong in a file that did not keep the rest of it from
// being read.
type Problem struct {
	Line   int // from 1
	Reason string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Reason) }

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

// ReadHeader returns the header of a records.jsonl alone. It fails as Read does.
func ReadHeader(path string) (Header, error) {
	var c Contents
	f, err := os.Open(path)
	if err != nil {
		return c.Header, err
	}
	defer f.Close()
	line, err := readLine(bufio.NewReader(f))
	if err == nil {
		err = c.readHeader(decodeLine(line))
	}
	if err != nil {
		return c.Header, fmt.Errorf("read %s: %w", path, err)
	}
	return c.Header, nil
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
			return nil //nolint:nilerr // a damaged line is reported and the rest is read
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
	if err := checkSchema(1, c.Header.Schema); err != nil {
		return err
	}
	if c.Header.CreatedAt.IsZero() { // a record, say, whose header was cut off
		return errors.New("line 1: not a run's header: it has no created_at")
	}
	return nil
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

// ending is a line after records: that the run stopped at a stage, or what the
// hosts were like after the last record. A resumed run may have more than one,
// of which the last counts.
type ending struct {
	Schema  int             `json:"schema"`
	After   map[string]Host `json:"after,omitzero"` // an empty one is a line too
	Stopped *Stop           `json:"stopped,omitempty"`
}

func (c *Contents) readRecord(number int, body []byte, first map[string]int) error {
	var line ending
	var r Record
	err := json.Unmarshal(body, &line)
	if err == nil && line.Schema > Schema {
		return checkSchema(number, line.Schema)
	}
	switch {
	case err == nil && line.After != nil:
		c.Header.Facts.After = line.After
		return nil
	case err == nil && line.Stopped != nil:
		c.Header.Stopped = line.Stopped
		return nil
	}
	err = json.Unmarshal(body, &r)
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
