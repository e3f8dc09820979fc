package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"netdyno/internal/contract"
)

// Tail reads a records.jsonl that grows: each Read takes in the lines that are whole
// since the one before. The zero value has read nothing. One goroutine may use it.
type Tail struct {
	Contents
	whole   int64   // bytes that were read
	count   int     // lines of these
	plan    []Trial // as it is run
	planned map[string]Trial
	decided int // allocations in plan
	held    int // records that were held to the plan
}

// Read takes in what was appended to a file that has so many bytes now. A line that
// is not whole yet is left to the next Read. After an error the file is unreadable, as
// it is to the function Read, or not the one that the Tail began with.
func (t *Tail) Read(f io.ReaderAt, size int64) error {
	if size < t.whole {
		return fmt.Errorf("the file has %d bytes and had %d: it was replaced", size, t.whole)
	}
	if t.lines == nil {
		t.lines = map[string]int{}
	}
	e, err := t.readAfter(t.count, io.NewSectionReader(f, t.whole, size-t.whole), decodeRecord)
	t.whole, t.count = t.whole+e.whole, t.count+e.lines
	if err == nil && t.count == 0 {
		err = errNoHeader
	}
	return err
}

// HoldTo takes out records that the plan does not have, as Contents.HoldTo does, among
// those that were read since the last call; the plan must be the same each time. It
// returns the plan as it is run, by the decisions so far, and the number of records taken
// out.
func (t *Tail) HoldTo(plan []Trial) (run []Trial, left int) {
	if decided := len(t.Header.Allocations); t.planned == nil || t.decided != decided {
		t.plan, t.decided = Allocated(plan, t.Header.Allocations), decided
		t.planned = byID(t.plan)
	}
	left = t.holdFrom(t.held, t.planned)
	t.held = len(t.Records)
	return t.plan, left
}

// ReadOutline returns what Read does in a part of its time: of each record only the
// name of its trial.
func ReadOutline(r io.Reader) (Contents, error) {
	c := Contents{lines: map[string]int{}}
	e, err := c.readAfter(0, r, decodeOutline)
	if err == nil && e.lines == 0 {
		err = errNoHeader
	}
	return c, err
}

// decodeOutline reads a line up to the name of its trial, which stands at its
// beginning; an ending, which is short, whole.
func decodeOutline(body json.RawMessage) (l recordLine, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	for range 5 { // the object, and schema and trial with their values
		token, err := d.ReadToken()
		if err != nil {
			return l, err
		}
		if token.Kind() != '"' {
			continue
		}
		switch token.String() {
		case "schema":
			err = jsonv2.UnmarshalDecode(d, &l.Schema)
		case "trial":
			return l, jsonv2.UnmarshalDecode(d, &l.Trial)
		default:
			return decodeRecord(body)
		}
		if err != nil {
			return l, err
		}
	}
	return l, errors.New("it has no trial")
}

// ReadOne returns the body of the line that holds a trial's record, as JSON; nil when
// there is none. The first such line counts.
func ReadOne(r io.Reader, id string) (json.RawMessage, error) {
	var found json.RawMessage
	_, err := eachLine(r, func(number int, body json.RawMessage, damage error) func() error {
		if number == 1 || damage != nil {
			return func() error { return nil }
		}
		l, err := decodeOutline(body)
		return func() error {
			if err == nil && l.Trial.ID == id {
				found = slices.Clone(body)
				return io.EOF
			}
			return nil
		}
	})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return found, err
}

// LiveFile is where a run says how far its trial is, in the run's directory. It is
// there only while the run goes on, and nothing is computed from it but what is shown
// meanwhile.
const LiveFile = "live.json"

// Bounds of LiveFile.
const (
	maxLive = 64 << 10
	// MaxLiveClients are the clients whose ticks it holds, the first ones.
	MaxLiveClients = 64
)

// Live is how far the trial under way is.
type Live struct {
	Schema  int             `json:"schema"`
	Trial   string          `json:"trial"`
	BeganAt time.Time       `json:"began_at"`
	Ticks   []contract.Tick `json:"ticks,omitempty"` // the latest of each client, by its number; one that told nothing yet has AtNs 0

	// When the run ends by its own estimate: where the next look ends it, and at the latest.
	EndsFrom time.Time `json:"ends_from,omitzero"`
	EndsBy   time.Time `json:"ends_by,omitzero"`
}

// LiveWriter writes a LiveFile. One goroutine may use it.
type LiveWriter struct {
	file    *os.File
	longest int
}

// CreateLive makes a new LiveFile in the place of one that a killed run left.
func CreateLive(path string) (*LiveWriter, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return &LiveWriter{file: f}, nil
}

// Write replaces what the file says, in its place: renaming a new file over it would
// make some file systems write to the disk five times a second. The line carries its
// sum, so that a reader in between notices.
func (w *LiveWriter) Write(l Live) error {
	l.Schema = Schema
	line, err := encodeLine(l, false)
	if err != nil {
		return err
	}
	if len(line) > maxLive {
		return fmt.Errorf("%s: the line has %d bytes; expected at most %d", LiveFile, len(line), maxLive)
	}
	w.longest = max(w.longest, len(line))
	_, err = w.file.WriteAt(append(line, bytes.Repeat([]byte(" "), w.longest-len(line))...), 0)
	return err
}

// Remove takes the file away and closes it.
func (w *LiveWriter) Remove() error {
	return errors.Join(os.Remove(w.file.Name()), w.file.Close())
}

// ReadLive returns what a LiveFile says. It fails also while the file is being written.
func ReadLive(r io.Reader) (Live, error) {
	var l Live
	line, _, err := readLine(bufio.NewReader(io.LimitReader(r, maxLive)), nil)
	if err != nil {
		return l, err
	}
	body, err := decodeLine(line)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(body, &l); err != nil {
		return l, err
	}
	if len(l.Ticks) > MaxLiveClients {
		l.Ticks = l.Ticks[:MaxLiveClients]
	}
	return l, checkSchema(1, l.Schema)
}
