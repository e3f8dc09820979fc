package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/test/programs"
	"netdyno/test/trials"
)

// remembering runs netdyno in a directory, with a cache of its own, and returns the exit
// status and the output in one line: where netdyno wraps its lines does not matter.
func remembering(t *testing.T, dir, cache string, args ...string) (int, string) {
	t.Helper()
	c := exec.Command("netdyno", args...)
	c.Dir, c.Env = dir, append(os.Environ(), "XDG_CACHE_HOME="+cache)
	said, err := c.CombinedOutput()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), strings.Join(strings.Fields(string(said)), " ")
}

// A calibration from end to end is kept, and stands with the facts of the next run.
func TestCalibrate(t *testing.T) {
	if os.Getenv("NETDYNO_SOAK") == "" {
		t.Skip("minutes of measuring: make soak runs it (NETDYNO_SOAK=1)")
	}
	dir, cache := t.TempDir(), t.TempDir()
	for times := 1; times <= 2; times++ {
		code, said := remembering(t, dir, cache, "calibrate")
		t.Log(said)
		if code != statusOK {
			t.Fatalf("status %d", code)
		}
		want := []string{
			"generator", "exchanges per second, alone", "link", "a spinning thread loses", "timers overshoot", "stolen", "window beyond",
			fmt.Sprintf("Calibrations behind that: %d.", times), "exchanges_per_s", "server.cpu_us_per_exchange",
		}
		for _, words := range want {
			if !strings.Contains(said, words) {
				t.Errorf("calibration %d says nothing of %q", times, words)
			}
		}
	}
	kept, err := filepath.Glob(filepath.Join(cache, "netdyno", "calibration", "*.json"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%d calibrations are kept (%v), want one file for the machine", len(kept), err)
	}
	if code, said := remembering(t, dir, cache, "run", "transport=null", "opt.service=1ms", "connections=1", "amount=50", "blocks=1", "--out", "after"); code != statusOK {
		t.Fatalf("status %d: %s", code, said)
	}
	contents, err := record.Read(filepath.Join(dir, "after", record.RecordsFile))
	if err != nil {
		t.Fatal(err)
	}
	if c := contents.Header.Facts.Calibration; c == nil || c.Times != 2 || !(c.GeneratorPerS > 0) || !(c.LinkBytesPerS > 0) {
		t.Errorf("the next run's facts hold the calibration %+v, want both of them", c)
	}
}

// What was kept of a machine is told before a run whose blocks cannot tell
// enough, stands with the run's facts, and judges stored runs.
func TestCalibrationIsUsed(t *testing.T) {
	programs.Whole(t)
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	netdyno := func(args ...string) (int, string) { return remembering(t, dir, cache, args...) }
	work := []string{"run", "transport=null", "opt.service=1ms", "connections=4", "blocks=6", "amount=100", "compare.primary=service_p50_us", "--out"}
	repeated := func(out string) (code int, said string) {
		trials.Repeat(func() bool {
			if code, said = netdyno(append(work, out)...); code == statusOK || !trials.Disturbed(said) {
				return false
			}
			if err := os.RemoveAll(filepath.Join(dir, out)); err != nil {
				t.Fatal(err)
			}
			return true
		})
		return code, said
	}
	if code, said := repeated("before"); code != statusOK {
		t.Fatalf("the first run ended with status %d: %s", code, said)
	}
	contents, err := record.Read(filepath.Join(dir, "before", record.RecordsFile))
	if err != nil {
		t.Fatal(err)
	}
	facts := contents.Header.Facts
	if facts.Calibration != nil {
		t.Fatalf("an empty cache knows %+v", facts.Calibration)
	}
	apart := []float64{-0.2, 0.2, -0.2, 0.2, -0.2, 0.2}
	kept := []record.Calibrated{{Scatter: map[string]record.Scatter{"service_p50_us": {Trial: 0.3, Absolute: apart, Relative: apart}}}}
	path := filepath.Join(cache, "netdyno", "calibration", record.MachineKey(facts.Rig, facts.Seats)+".json")
	if err := record.WriteCalibrations(path, kept); err != nil {
		t.Fatal(err)
	}

	code, said := repeated("after")
	if report, err := os.ReadFile(filepath.Join(dir, "after", "report.md")); err != nil || code != statusOK || !strings.Contains(string(report), "this machine shows differences in service") {
		t.Errorf("status %d, and no word of what 6 blocks cannot tell: %v, %s, %s", code, err, said, report)
	}
	if contents, err = record.Read(filepath.Join(dir, "after", record.RecordsFile)); err != nil || contents.Header.Facts.Calibration == nil {
		t.Errorf("the run's facts hold no calibration (%v)", err)
	}
	// The same work twice, on a machine where like runs differ by a fifth.
	if code, said = netdyno("compare", "before", "after"); code != statusOK || !strings.Contains(said, "annot tell") || strings.Contains(said, "assumed") {
		t.Errorf("compare ended with status %d: %s", code, said)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, said = repeated("third")
	if report, err := os.ReadFile(filepath.Join(dir, "third", "report.md")); err != nil || code != statusOK || !strings.Contains(string(report), "calibrations in ") {
		t.Errorf("with a damaged cache a run ended with status %d and no word of it: %v, %s, %s", code, err, said, report)
	}
}
