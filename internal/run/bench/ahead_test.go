package bench_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/bench/benchtest"
)

// noting returns a bench whose meters note when they start and as which process, and what
// they noted so far.
func noting(t *testing.T) (b *bench.Bench, noted func() (at []time.Time, pids []int)) {
	t.Helper()
	b = benchtest.Built(t)
	dir := t.TempDir()
	notes, meter := filepath.Join(dir, "notes"), filepath.Join(dir, "meter")
	script := fmt.Sprintf("#!/bin/sh\necho \"$(date +%%s%%N) $$\" >>'%s'\nexec '%s' \"$@\"\n", notes, b.Meter[0])
	if err := os.WriteFile(meter, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	b.Meter[0] = meter
	return b, func() (at []time.Time, pids []int) {
		text, err := os.ReadFile(notes)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var ns int64
			var pid int
			if _, err := fmt.Sscan(line, &ns, &pid); err != nil {
				t.Fatal(line, err)
			}
			at, pids = append(at, time.Unix(0, ns)), append(pids, pid)
		}
		return at, pids
	}
}

// The workers of a trial are started when the trial before has its results, and never while
// anything is measured.
func TestWorkersAreStartedAheadOutsideOfWindows(t *testing.T) {
	b, noted := noting(t)
	_, trials := benchtest.Plan(t, "transport=go-net", "connections=2", "blocks=2", "window=200ms", "warmup=50ms")
	records := benchtest.Conduct(t.Context(), t, b, trials)
	starts, _ := noted()
	if len(starts) != 2*len(records) || len(records) < 3 {
		t.Fatalf("%d workers of %d trials", len(starts), len(records))
	}
	ahead := 0
	for i, r := range records {
		if r.Outcome != record.OK {
			t.Fatalf("trial %d: %+v", i, r.Failure)
		}
		from, to := r.StartedAt.Add(time.Duration(r.Timeline.StartNs)), r.StartedAt.Add(time.Duration(r.Timeline.CloseNs))
		for _, at := range starts {
			if at.After(from) && at.Before(to) {
				t.Errorf("a worker was started %v after the load of trial %d began, in its window or warm-up", at.Sub(from), i)
			}
		}
		if i > 0 && starts[2*i].Before(r.StartedAt) {
			ahead++
		}
	}
	if ahead == 0 {
		t.Error("no worker was started ahead of its trial")
	}
}

// What was started ahead of a trial that does not come is gone with the run.
func TestWhatWasStartedAheadEndsWithTheRun(t *testing.T) {
	b, noted := noting(t)
	_, trials := benchtest.Plan(t, "transport=go-net", "connections=2", "blocks=2", "window=100ms", "warmup=0s")
	full := errors.New("the disk is full")
	b.Keep = func(record.Record) error { return full }
	if err := b.Run(t.Context(), trials); !errors.Is(err, full) {
		t.Fatal(err)
	}
	_, pids := noted()
	if len(pids) <= 2 {
		t.Errorf("%d workers were started, none ahead", len(pids))
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there (%v)", pid, err)
		}
	}
}

// A trial that is made again comes before the one whose workers were started ahead: these are
// gone before it begins.
func TestWhatWasStartedAheadEndsBeforeATrialIsMadeAgain(t *testing.T) {
	b, noted := noting(t)
	_, trials := benchtest.Plan(t, "transport=go-net", "connections=2", "blocks=1", "window=100ms", "warmup=0s")
	asked, gone := 0, 0
	b.Again = func(record.Record) (by record.Disturbance, err error) {
		if asked++; asked == 1 {
			by.Why = "it was disturbed"
		}
		return by, nil
	}
	b.Observe = func(e bench.Event) {
		if e.Again == "" {
			return
		}
		_, pids := noted()
		for _, pid := range pids {
			if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
				gone++
			}
		}
		if len(pids) != 4 || gone != 4 {
			t.Errorf("of %d workers %d are gone, want all of the disturbed trial and of the next", len(pids), gone)
		}
	}
	records := benchtest.Conduct(t.Context(), t, b, trials)
	if asked != len(trials)+1 || gone == 0 || records[0].Outcome != record.OK {
		t.Errorf("asked %d times of %d trials; the first ended %s", asked, len(trials), records[0].Outcome)
	}
}
