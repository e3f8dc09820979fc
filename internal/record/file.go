package record

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"sync"
	"unique"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"netdyno/internal/contract"
	"netdyno/internal/input"
	"netdyno/internal/plainjson"
)

// The names of the files in a run's directory.
const (
	TrialsFile   = "trials.jsonl"
	RecordsFile  = "records.jsonl"
	FindingsFile = "findings.json" // made from the records
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
	Problems []Problem // damaged lines, duplicates, trials outside the plan, a torn tail

	lines  map[string]int // of each trial's record
	levels sharedLevels
	take   func(*Record) (keep func())
}

// Read returns the header and the records of a records.jsonl. Damaged and
// over-long lines are skipped and reported, and so is every later record of the
// same trial. It fails when the file cannot be read, has no whole header, or was written by a
// newer schema. Another process may be appending meanwhile.
func Read(path string) (Contents, error) { return ReadEach(path, nil) }

// ReadEach is Read that shows each record to take as soon as it is decoded, of several
// lines at once, and calls what take returns for those that count, one after the other.
func ReadEach(path string, take func(*Record) (keep func())) (Contents, error) {
	c := Contents{take: take}
	f, err := input.OpenKept(path)
	if err != nil {
		return c, err
	}
	defer f.Close()
	if _, err := c.readLines(f); err != nil {
		return c, fmt.Errorf("read %s: %w", path, err)
	}
	return c, nil
}

// ReadHeader returns the header of a records.jsonl alone. It fails as Read does.
func ReadHeader(path string) (Header, error) {
	var c Contents
	f, err := input.OpenKept(path)
	if err != nil {
		return c.Header, err
	}
	defer f.Close()
	line, _, err := readLine(bufio.NewReader(f), nil)
	if err == nil {
		err = c.readHeader(decodeLine(line))
	}
	if err != nil {
		return c.Header, fmt.Errorf("read %s: %w", path, err)
	}
	return c.Header, nil
}

func (c *Contents) readLines(r io.Reader) (extent, error) {
	c.lines, c.levels = map[string]int{}, sharedLevels{}
	e, err := c.readAfter(0, r, decodeRecord)
	switch {
	case err != nil:
		return e, err
	case e.lines == 0:
		return e, errNoHeader
	case e.torn:
		c.Problems = append(c.Problems, Problem{e.lines + 1, "torn: the file ends inside the line; its trial is to be run again"})
	}
	return e, nil
}

var errNoHeader = errors.New("line 1: no whole header; expected the run's header")

// readAfter takes in the lines that follow the first before lines of a file.
func (c *Contents) readAfter(before int, r io.Reader, decode func(json.RawMessage) (recordLine, error)) (extent, error) {
	return eachLine(r, func(number int, body json.RawMessage, damage error) func() error {
		number += before
		switch {
		case number == 1:
			return func() error { return c.readHeader(body, damage) }
		case damage != nil:
			return func() error {
				c.Problems = append(c.Problems, Problem{number, damage.Error()})
				return nil
			}
		}
		l, err := decode(body)
		keep := func() {}
		if err == nil && c.take != nil && l.Trial.ID != "" {
			keep = c.take(&l.Record)
		}
		return func() error { return c.enter(number, &l, err, keep) }
	})
}

// decodeRecord reads a line's body. Those that netdyno wrote are read as the plain text that
// they are: a general decoder would take most of the time of a large run's report.
func decodeRecord(body json.RawMessage) (recordLine, error) {
	var l recordLine
	if plainLines().Read(body, &l) {
		return l, nil
	}
	return decodeAny(body)
}

// decodeAny reads a line's body in whatever form.
func decodeAny(body []byte) (l recordLine, err error) {
	err = jsonv2.Unmarshal(body, &l, lean)
	return l, err
}

// HoldTo takes out the records that the plan does not have, and adds a problem for each:
// a trial that was never planned, or one whose name is in the plan with other levels.
// Whatever such a record counted, it is not what the study asked. The plan is the one
// that was run (see Allocated). HoldTo returns the number of records taken out.
func (c *Contents) HoldTo(plan []Trial) int { return c.holdFrom(0, byID(plan)) }

func byID(plan []Trial) map[string]Trial {
	planned := make(map[string]Trial, len(plan))
	for _, t := range plan {
		planned[t.ID] = t
	}
	return planned
}

// holdFrom holds the records from a place on to the plan.
func (c *Contents) holdFrom(first int, planned map[string]Trial) int {
	before := len(c.Records)
	kept := slices.DeleteFunc(c.Records[first:], func(r Record) bool {
		t, known := planned[r.Trial.ID]
		if known && reflect.DeepEqual(t, r.Trial) {
			return false
		}
		reason := fmt.Sprintf("trial %s is not in the plan (%s); its record is left out", r.Trial.ID, TrialsFile)
		if known {
			reason = fmt.Sprintf("trial %s is not the plan's: its arm, cell, levels or seed differ (%s); its record is left out", r.Trial.ID, TrialsFile)
		}
		c.Problems = append(c.Problems, Problem{c.lines[r.Trial.ID], reason})
		return true
	})
	c.Records = c.Records[:first+len(kept)]
	for i := first; i < len(c.Records); i++ { // it is the same: held once, with all its levels
		c.Records[i].Trial = planned[c.Records[i].Trial.ID]
	}
	slices.SortStableFunc(c.Problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return before - len(c.Records)
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
	if len(c.Header.Listen) > 0 {
		return errors.New("line 1: the records of a server that stood by itself (netdyno listen), which are not read any more")
	}
	if c.Header.CreatedAt.IsZero() { // a record, say, whose header was cut off
		return errors.New("line 1: not a run's header: it has no created_at")
	}
	return nil
}

// checkSchema refuses the file of a newer netdyno, whose fields may have
// other meanings.
func checkSchema(line, schema int) error {
	switch {
	case schema > Schema:
		return fmt.Errorf("line %d: schema %d was written by a newer netdyno; this one reads up to schema %d", line, schema, Schema)
	case schema < 1:
		return fmt.Errorf("line %d: schema %d; expected from 1 to %d", line, schema, Schema)
	}
	return nil
}

// addition is a line among the records that is none; one of its fields is set.
type addition struct {
	Schema    int             `json:"schema"`
	After     map[string]Host `json:"after,omitzero"`      // what the hosts were like after the last record, an empty map too; of several the last counts
	Stopped   *Stop           `json:"stopped,omitempty"`   // the run stopped at a look; of several the last counts
	Allocated *Allocation     `json:"allocated,omitempty"` // before a block's records: what of the block is run
	Asked     []Asked         `json:"asked,omitempty"`     // before records: what the servers were asked meanwhile
	Again     *attempt        `json:"again,omitempty"`     // a trial that was disturbed and is made again
}

// recordLine is a line after the header: a record or an addition.
type recordLine struct {
	Record
	After     map[string]Host `json:"after"`
	Stopped   *Stop           `json:"stopped"`
	Allocated *Allocation     `json:"allocated"`
	Asked     []Asked         `json:"asked"`
	Again     *attempt        `json:"again"`
}

// enter adds what a line says; err is what was wrong with its JSON, keep is called where
// its record counts.
func (c *Contents) enter(number int, l *recordLine, err error, keep func()) error {
	id := l.Trial.ID
	switch {
	case l.Schema > Schema:
		return checkSchema(number, l.Schema)
	case err != nil:
		c.Problems = append(c.Problems, Problem{number, "record: " + err.Error()})
	case l.After != nil:
		c.Header.Facts.After = l.After
	case l.Stopped != nil:
		c.Header.Stopped = l.Stopped
	case l.Allocated != nil:
		c.allocate(number, *l.Allocated)
	case l.Asked != nil:
		c.Header.Asked = append(c.Header.Asked, l.Asked...)
	case l.Again != nil:
		c.Header.Again = append(c.Header.Again, l.Again.read())
	case id == "":
		c.Problems = append(c.Problems, Problem{number, "record: its trial has no id"})
	case c.lines[id] > 0:
		c.Problems = append(c.Problems, Problem{number, fmt.Sprintf("trial %s has a record already, on line %d, which stands", id, c.lines[id])})
	default:
		c.lines[id] = number
		c.levels.share(&l.Trial)
		c.Records = append(c.Records, l.Record)
		keep()
	}
	return nil
}

// allocate adds a decision. A block is decided once.
func (c *Contents) allocate(number int, a Allocation) {
	if slices.ContainsFunc(c.Header.Allocations, func(b Allocation) bool { return b.Block == a.Block }) {
		c.Problems = append(c.Problems, Problem{number, fmt.Sprintf("what runs of block %d was decided before; that stands", a.Block)})
		return
	}
	c.Header.Allocations = append(c.Header.Allocations, a)
}

// WriteTrials writes the plan, whole or not at all.
func WriteTrials(path string, trials []Trial) error {
	var b bytes.Buffer
	for _, t := range trials {
		line, err := encodeLine(t, false)
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
	f, err := input.OpenKept(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	trials, err := ReadTrialsFrom(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return trials, nil
}

// ReadTrialsFrom returns the plan that a file holds, as ReadTrials does.
func ReadTrialsFrom(r io.Reader) ([]Trial, error) {
	var trials []Trial
	seen, levels := map[string]bool{}, sharedLevels{}
	e, err := eachLine(r, func(number int, body json.RawMessage, damage error) func() error {
		var t Trial
		var bad error
		if damage == nil {
			bad = json.Unmarshal(body, &t)
		}
		return func() error {
			switch {
			case damage != nil:
				return fmt.Errorf("line %d: %w", number, damage)
			case bad != nil:
				return fmt.Errorf("line %d: trial: %w", number, bad)
			case t.ID == "" || seen[t.ID]:
				return fmt.Errorf("line %d: trial id %q is empty or repeated", number, t.ID)
			}
			seen[t.ID] = true
			levels.share(&t)
			trials = append(trials, t)
			return nil
		}
	})
	if err == nil && e.torn {
		err = errors.New("the last line is torn")
	}
	return trials, err
}

// sharedLevels are the first trials of arms in cells. The others there have the same levels,
// nearly always, and hold them once: a run has a few cells, or the pairs of many hosts.
type sharedLevels map[[2]string]Trial

func (s sharedLevels) share(t *Trial) {
	at := [2]string{t.Cell, t.Arm}
	switch first, known := s[at]; {
	case !known && s != nil:
		s[at] = *t
	case maps.Equal(first.Levels, t.Levels):
		t.Cell, t.Arm, t.Levels = first.Cell, first.Arm, first.Levels
	}
}

// plainLines reads the lines that netdyno writes.
var (
	plainLines = sync.OnceValue(func() *plainjson.Reader[recordLine] {
		return plainjson.For[recordLine](readOther, plainjson.Custom{Type: reflect.TypeFor[contract.Interfaces](), Read: readPlainInterfaces})
	})
	counters = sync.OnceValue(func() *plainjson.Reader[contract.Interface] { return plainjson.For[contract.Interface](readOther) })
)

func readOther(text []byte, to any) error { return jsonv2.Unmarshal(text, to, lean) }

// readPlainInterfaces is readInterfaces of plain text.
func readPlainInterfaces(t *plainjson.Text, to any) bool {
	all, ok := to.(*contract.Interfaces)
	return ok && t.Object(func(name string) bool {
		var c contract.Interface
		_, twice := all.Of(name)
		if twice || !counters().Into(t, &c) {
			return false
		}
		all.Set(name, c)
		return true
	})
}

// lean reads what a large run has a million of without a map for each.
var lean = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(readInterfaces))

// readInterfaces is Interfaces.UnmarshalJSON straight from a decoder. Names are
// shared by all readings.
func readInterfaces(d *jsontext.Decoder, all *contract.Interfaces) error {
	if d.PeekKind() != jsontext.KindBeginObject { // null, or what the type itself refuses
		return errors.ErrUnsupported
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	*all = nil
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		shared := unique.Make(name.String()).Value()
		var counters contract.Interface
		if err := jsonv2.UnmarshalDecode(d, &counters); err != nil {
			return err
		}
		all.Set(shared, counters)
	}
	_, err := d.ReadToken()
	return err
}
