package follow

import (
	"fmt"
	"os"
	"slices"
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
	Created  time.Time
	Progress
	Trouble string // why it cannot be read; "" when it can
}

// outline is what a list shows of a run, for as long as its files are the same.
type outline struct {
	records, plan stamp
	entry         Entry
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
	written := record.BeingWritten(records)
	known, ok := r.outlines[name]
	running := known.entry.State == Running
	if ok && known.records == now.records && known.plan == now.plan && written == running {
		return known.entry, nil
	}
	contents, err := record.ReadOutline(records)
	if err != nil {
		return Entry{}, fmt.Errorf("read %s: %w", record.RecordsFile, err)
	}
	plan, err := readPlan(run)
	if err != nil {
		return Entry{}, err
	}
	h, study := contents.Header, cells.PlanOf(contents.Header)
	now.entry = Entry{
		Name: name, Study: study.Title(), Question: study.Question, Created: h.CreatedAt,
		Progress: progressOf(h, record.Allocated(plan, h.Allocations), contents.Records, written),
	}
	r.outlines[name] = now
	return now.entry, nil
}

// Condition is a run's state, with how many trials failed: "complete, 3 failed".
func (e Entry) Condition() string {
	words := string(e.State)
	if e.Failed > 0 {
		words += fmt.Sprintf(", %d failed", e.Failed)
	}
	return words
}
