package follow

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"netdyno/internal/input"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// Entry is a run in the list of a directory's runs.
type Entry struct {
	Name     string // its directory's, below the listed one
	Study    string
	Question string
	Kind     string // what it was for: "capacity"
	Created  time.Time
	Progress
	Unsound int    // of a complete run: trials that are not valid, though nothing failed, as far as its findings say
	Trouble string // why it cannot be read; "" when it can
}

// kindOf is what a run was for.
func kindOf(h record.Header) string {
	s := h.Study
	switch {
	case len(h.Listen) > 0:
		return "server by hand"
	case s.Mesh:
		return "mesh"
	case s.Capacity != nil:
		return "capacity"
	case s.Race != nil:
		return "settings"
	case len(s.Costs) > 0:
		return "cost"
	case len(h.Asked) > 0:
		return "server by URL"
	}
	return "comparison"
}

// outline is what a list shows of a run, for as long as its files are the same.
type outline struct {
	records, plan, found stamp
	entry                Entry
}

// List returns the runs, the newest first, and how many were left out because there
// are too many.
func (r *Results) List() (entries []Entry, more int, err error) {
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	names, more, err := r.names(root)
	if err != nil {
		return nil, 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.outlines {
		if !slices.Contains(names, name) {
			delete(r.outlines, name)
		}
	}
	for _, name := range names {
		e, err := r.entry(root, name)
		if err != nil {
			e = Entry{Name: name, Trouble: err.Error()}
		}
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return b.Created.Compare(a.Created) })
	return entries, more, nil
}

// entry reads a run's outline, unless it is known already. The caller holds the lock.
func (r *Results) entry(root *os.Root, name string) (Entry, error) {
	run, err := root.OpenRoot(name)
	if err != nil {
		return Entry{}, err
	}
	defer run.Close()
	records, err := input.OpenIn(run, record.RecordsFile)
	if err != nil {
		return Entry{}, err
	}
	defer records.Close()
	info, err := records.Stat()
	if err != nil {
		return Entry{}, err
	}
	now := outline{records: stampOf(info)}
	if info, err := run.Stat(record.TrialsFile); err == nil {
		now.plan = stampOf(info)
	}
	if info, err := run.Stat(record.FindingsFile); err == nil {
		now.found = stampOf(info)
	}
	written := record.BeingWritten(records)
	known, ok := r.outlines[name]
	running := known.entry.State == Running || known.entry.State == Listening
	if ok && known.records == now.records && known.plan == now.plan && known.found == now.found && written == running {
		return known.entry, nil
	}
	contents, err := record.ReadOutline(records)
	if err != nil {
		return Entry{}, fmt.Errorf("read %s: %w", record.RecordsFile, err)
	}
	var plan []record.Trial
	if len(contents.Header.Listen) == 0 {
		if plan, err = readPlan(run); err != nil {
			return Entry{}, err
		}
	}
	h := contents.Header
	now.entry = Entry{
		Name: name, Study: cells.Title(h.Study), Question: h.Study.Question, Kind: kindOf(h), Created: h.CreatedAt,
		Progress: progressOf(h, record.Allocated(plan, h.Allocations), contents.Records, written),
	}
	if now.entry.State == Complete {
		now.entry.Unsound = unsound(run, now)
	}
	r.outlines[name] = now
	return now.entry, nil
}

// mostFindings bounds the findings that a list reads; of larger ones it says nothing.
const mostFindings = 64 << 20

// unsound is how many trials a run's findings call invalid: 0 where they are not of all of
// its records, or not there.
func unsound(run *os.Root, of outline) int {
	if of.found.size > mostFindings {
		return 0
	}
	f, err := input.OpenIn(run, record.FindingsFile)
	if err != nil {
		return 0
	}
	defer f.Close()
	var found struct {
		Tally cells.Tally `json:"tally"`
	}
	if json.NewDecoder(io.LimitReader(f, mostFindings)).Decode(&found) != nil {
		return 0
	}
	t := found.Tally
	if t.Valid+t.Invalid+t.Failed+t.Unsupported+t.Unplanned+t.Probes+t.Unloaded+t.FlatOut != of.entry.Done {
		return 0
	}
	return t.Invalid
}

// Condition is a run's state, with what of it is not sound: "complete, 3 invalid".
func (e Entry) Condition() string {
	words := string(e.State)
	if e.Failed > 0 {
		words += fmt.Sprintf(", %d failed", e.Failed)
	}
	if e.Unsound > 0 {
		words += fmt.Sprintf(", %d invalid", e.Unsound)
	}
	return words
}

// Wanted is which runs of a list are asked for: "" is any.
type Wanted struct {
	Words              string // each in the run's name, study or question, whatever its case
	Study, Kind, State string
}

// Holds tells whether a run is wanted.
func (w Wanted) Holds(e Entry) bool {
	for _, pair := range [][2]string{{w.Study, e.Study}, {w.Kind, e.Kind}, {w.State, string(e.State)}} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	text := strings.ToLower(e.Name + " " + e.Study + " " + e.Question)
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(w.Words)), func(word string) bool { return !strings.Contains(text, word) })
}
