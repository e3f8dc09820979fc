package follow

import (
	"fmt"
	"os"
	"path"

	"netdyno/internal/input"
	"netdyno/internal/printable"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
)

// Find reads a run whole and returns what its records say.
func (r *Results) Find(name string) (finding.Findings, error) {
	run, f, err := r.openRecords(name)
	if err != nil {
		return finding.Findings{}, err
	}
	defer run.Close()
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return finding.Findings{}, err
	}
	var t record.Tail
	if err := t.Read(f, info.Size()); err != nil {
		return finding.Findings{}, fmt.Errorf("read %s: %w", record.RecordsFile, err)
	}
	t.Header.Directory = r.Path(name)
	plan, err := readPlan(run)
	if err != nil {
		return finding.Findings{}, err
	}
	plan, unplanned := t.HoldTo(plan)
	found, err := finding.Find(t.Header, plan, t.Records)
	found.Tally.Unplanned = unplanned
	return found, err
}

// Stamp changes whenever a run's records do.
func (r *Results) Stamp(name string) (string, error) {
	run, err := r.openRun(name)
	if err != nil {
		return "", err
	}
	defer run.Close()
	info, err := run.Stat(record.RecordsFile)
	if err != nil {
		return "", err
	}
	at := stampOf(info)
	return fmt.Sprintf("%d-%d", at.size, at.modified), nil
}

// Record returns a trial's record as JSON that can be shown; nil when there is none.
func (r *Results) Record(name, trial string) ([]byte, error) {
	run, f, err := r.openRecords(name)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	defer f.Close()
	body, err := record.ReadOne(f, trial)
	if err != nil || body == nil {
		return nil, err
	}
	return printable.JSON(body), nil
}

// Profile opens one of the profiles that a run's report wrote beside it.
func (r *Results) Profile(name, file string) (*os.File, error) {
	run, err := r.openRun(name)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	return input.OpenIn(run, path.Join("profiles", path.Base(file)))
}
