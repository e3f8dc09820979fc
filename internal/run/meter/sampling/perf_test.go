package sampling

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
)

func started(c *exec.Cmd) error { return c.Start() }

func now(t *testing.T) int64 {
	t.Helper()
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &at); err != nil {
		t.Fatal(err)
	}
	return at.Nano()
}

// window samples this process while it is busy.
func window(t *testing.T) *contract.Sampled {
	t.Helper()
	r := Start([]int{os.Getpid()}, started)
	defer r.Kill()
	from := now(t)
	for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
		if spin() < 0 {
			t.Fatal("a sum of squares is negative")
		}
	}
	r.Close(from, now(t))
	return r.Sampled()
}

//go:noinline
func spin() (sum int) {
	for i := range 100_000 {
		sum += i * i
	}
	return sum
}

func TestAProcessIsSampled(t *testing.T) {
	s := window(t)
	if s.Why != "" {
		t.Skip("no perf here:", s.Why)
	}
	if s.Source != "perf" || s.Hz != Hz || s.Samples == 0 {
		t.Fatalf("sampled %+v", *s)
	}
	p, err := profile.ParseData(s.Pprof)
	if err != nil {
		t.Fatal(err)
	}
	var ns int64
	for _, one := range p.Sample {
		if strings.HasSuffix(one.Location[0].Line[0].Function.Name, "sampling.spin") {
			ns += one.Value[1]
		}
	}
	if ns == 0 {
		t.Errorf("none of %d samples is in the function that was busy: %v", s.Samples, p)
	}
}

// Whatever keeps perf from sampling is a sentence in the result.
func TestWhyThereAreNoSamples(t *testing.T) {
	const record, script = `if [ "$1" = record ]; then `, "; fi\n"
	// acknowledged plays a perf record that samples until it is interrupted.
	const acknowledged = record + `read line <&3; echo ack >&4; trap 'exit 0' INT; while :; do sleep 0.01; done` + script
	for _, c := range []struct{ name, perf, why string }{
		{"no perf", "", "not on this host's PATH"},
		{"forbidden", record + `echo 'Error: No permission to enable cpu-clock event.' >&2; exit 255` + script, "perf may not sample here: kernel.perf_event_paranoid is"},
		{"early", record + `echo; printf 'cannot\033[31m find x\n' >&2; exit 1` + script, "perf ended early: cannot"},
		{"silent", record + `exit 0` + script, "perf ended early and said nothing"},
		{"in the window", record + `read line <&3; echo ack >&4; exit 3` + script, "perf ended early"},
		{"script fails", acknowledged + "echo 'bad file' >&2; exit 1\n", "perf script failed: bad file"},
		{"nothing", acknowledged + "exit 0\n", "perf took no sample in the window of"},
		{"nonsense", acknowledged + "printf 'a\\nb 1/1 x: y:\\n\\t\\n'\n", "perf took no sample in the window of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			directory := t.TempDir()
			if c.perf != "" {
				if err := os.WriteFile(filepath.Join(directory, "perf"), []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+c.perf), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", directory)
			s := window(t)
			if !strings.Contains(s.Why, c.why) || s.Pprof != nil || strings.Contains(s.Why, "\x1b") {
				t.Errorf("why %q, want %q", s.Why, c.why)
			}
		})
	}
}
