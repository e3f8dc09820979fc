package follow

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// written makes a run with some of its records, and leaves its file open.
func written(t *testing.T, dir string, count int) (*record.File, []record.Trial, []record.Record) {
	t.Helper()
	header, trials, records := synthetic.Run(synthetic.Options{Blocks: 4, Connections: []int{50}, SD: 0.01, BlockSD: 0.01, Bare: true})
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := record.WriteTrials(filepath.Join(dir, record.TrialsFile), trials); err != nil {
		t.Fatal(err)
	}
	f, err := record.Create(filepath.Join(dir, record.RecordsFile), header)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	for _, r := range records[:count] {
		if err := f.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	return f, trials, records
}

func look(t *testing.T, run *Run, now time.Time) Snapshot {
	t.Helper()
	s, err := run.Look(now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLookCountsAndEstimates(t *testing.T) {
	dir := t.TempDir()
	f, trials, records := written(t, filepath.Join(dir, "run"), 4)
	live, err := record.CreateLive(filepath.Join(dir, "run", record.LiveFile))
	if err != nil {
		t.Fatal(err)
	}
	results, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	run, err := results.Follow("run")
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	now := time.Now()
	one := time.Duration(records[0].Timeline.EndNs)
	began := now.Add(-one / 2)
	tell := func(ns, exchanges int64) {
		t.Helper()
		ticks := []contract.Tick{{AtNs: ns, Exchanges: exchanges}, {AtNs: ns, Exchanges: exchanges}}
		if err := live.Write(record.Live{Trial: trials[4].ID, BeganAt: began, Ticks: ticks, EndsFrom: now.Add(one), EndsBy: now.Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	tell(1e9, 500)
	s := look(t, run, now)
	if s.State != Running || s.Done != 4 || s.Planned != len(trials) || s.Now == nil || s.Now.Trial.ID != trials[4].ID || s.Now.Rate != 0 {
		t.Errorf("%+v, now %+v", s.Progress, s.Now)
	}
	if s.Left != time.Hour || s.LeftLeast != one {
		t.Errorf("%v to %v left, where the run says %v to %v", s.LeftLeast, s.Left, one, time.Hour)
	}
	tell(2e9, 1500)
	if s = look(t, run, now); s.Now.Rate != 2000 {
		t.Errorf("a rate of %v, want 2000 of two clients", s.Now.Rate)
	}
	began = now // the trial is made again
	tell(3e9, 100)
	if s = look(t, run, now); s.Now.Rate != 0 || !s.Now.Began.Equal(now) {
		t.Errorf("a rate of %v since %v of a trial that begins again", s.Now.Rate, s.Now.Began)
	}
	before := s.FoundOf
	if before != 4 {
		t.Errorf("found of %d records at the second look, want of 4", before)
	}
	if err := f.Append(records[4]); err != nil {
		t.Fatal(err)
	}
	if s = look(t, run, now); s.Done != 5 || s.FoundOf != before {
		t.Errorf("%d done, found of %d; want 5, and nothing found before its time", s.Done, s.FoundOf)
	}
	if s = look(t, run, now.Add(time.Hour)); s.FoundOf != 5 || s.Found == nil {
		t.Errorf("found of %d, want of 5", s.FoundOf)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if s = look(t, run, now); s.State != Incomplete || s.Now != nil {
		t.Errorf("state %s with trial %v under way, want incomplete and none", s.State, s.Now)
	}
}

func TestAnotherRunInThePlaceOfOneIsNoticed(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "run")
	written(t, at, 1)
	results, err := Open(at)
	if err != nil {
		t.Fatal(err)
	}
	run, err := results.Follow("run")
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	look(t, run, time.Now())
	if err := os.Remove(filepath.Join(at, record.RecordsFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Look(time.Now()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a file that is gone: %v", err)
	}
	written(t, at, 2)
	if _, err := run.Look(time.Now()); err == nil {
		t.Error("another file was followed on")
	}
}

// The list of runs shows new records, that a run has ended, and that a directory is gone.
func TestListIsUpToDate(t *testing.T) {
	dir := t.TempDir()
	f, _, records := written(t, filepath.Join(dir, "tour", "run"), 1)
	results, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	only := func(done int, state State) {
		t.Helper()
		for range 2 { // read, and known
			list, more, err := results.List()
			if err != nil || more != 0 || len(list) != 1 || list[0].Name != "tour/run" || list[0].Done != done || list[0].State != state || list[0].Planned != len(records) {
				t.Errorf("%+v, %v; want %d of %d, %s", list, err, done, len(records), state)
			}
		}
	}
	only(1, Running)
	for _, r := range records[1:] {
		if err := f.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	only(len(records), Running)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	only(len(records), Complete)
	if err := os.RemoveAll(filepath.Join(dir, "tour")); err != nil {
		t.Fatal(err)
	}
	if list, _, err := results.List(); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v; want none", list, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, filepath.Join(dir, "nowhere")} {
		if _, err := Open(name); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}
