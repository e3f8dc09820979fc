package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestKilledRunResumes(t *testing.T) {
	t.Parallel()
	n := typing(t, "transport=go-net,go-epoll", "connections=4", "amount=5000", "blocks=2")
	c, said := n.interrupted(2, syscall.SIGKILL)
	if c.ProcessState.Success() {
		t.Fatalf("the run ended before it was killed: %s", said)
	}
	before := n.whole()
	if code, said := n.run("--resume"); !finished(code, said) {
		t.Fatalf("resume ended with status %d: %s", code, said)
	}
	n.complete(before)
}

// A run that was killed, within its own blocks or on the way to a further look,
// goes on by its directory alone, and each planned trial leaves one record.
func TestKilledRunGoesOn(t *testing.T) {
	t.Parallel()
	n := typing(t, "transport=null", "opt.service=1ms,1001us", "connections=1", "amount=300", "blocks=5")
	n.interrupted(2, syscall.SIGKILL)
	n.goesOn = true
	if code, said := n.run(); !finished(code, said) || !strings.Contains(said, "13 trials in 5 blocks") || !strings.Contains(said, "15 trials") {
		t.Fatalf("what was left ended with status %d: %s", code, said)
	}
	before := n.whole()
	n.interrupted(bytes.Count(before, []byte{'\n'})+1, syscall.SIGKILL)
	if code, said := n.run(); !finished(code, said) || !strings.Contains(said, "18 trials") {
		t.Fatalf("the further look ended with status %d: %s", code, said)
	}
	n.complete(before)
}

// A foreign server is nobody's child of ours: its worker's, and the init
// process's if it likes.
func TestKilledRunLeavesNoForeignServer(t *testing.T) {
	for _, kind := range []string{"plain", "daemon"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			script, err := filepath.Abs("testdata/server.py")
			if err != nil {
				t.Fatal(err)
			}
			n := typing(t, "server=exec", "client=go-net", "opt.server.command=python3 "+script+" {port} "+kind, "connections=2", "window=5s", "blocks=1")
			c, said := n.command()
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			serving := func() bool {
				return slices.ContainsFunc(n.family.living(t), func(line string) bool { return strings.Contains(line, "netdyno-worker-net") }) &&
					slices.ContainsFunc(n.family.living(t), func(line string) bool { return strings.Contains(line, "server.py") })
			}
			for begin := time.Now(); !serving(); time.Sleep(10 * time.Millisecond) {
				if time.Since(begin) > time.Minute {
					_ = c.Process.Kill() // the test has failed already
					t.Fatalf("no server within a minute: %s", said)
				}
			}
			time.Sleep(time.Second) // a daemon takes 0.3 s to leave its parent
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait() // killed
			n.family.mustEnd(t)
		})
	}
}

func TestCtrlCKeepsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	n := typing(t, "transport=null", "opt.service=1ms", "connections=1", "amount=200", "blocks=3")
	c, said := n.interrupted(2, os.Interrupt)
	if code := c.ProcessState.ExitCode(); code != statusUnmet {
		t.Errorf("status %d, want %d", code, statusUnmet)
	}
	for _, want := range []string{
		"netdyno: stopped; what was measured is kept, and netdyno run " + n.path("") + " --continue goes on\n", "6 trials planned: ", " missing", "report  " + n.path("report.html"),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	before := n.whole()
	code, said := n.run("--resume")
	if !finished(code, said) {
		t.Errorf("resume ended with status %d: %s", code, said)
	}
	n.complete(before)
}

// A power cut may leave a part of the last line.
func TestTornTailResumes(t *testing.T) {
	t.Parallel()
	n := typing(t, "transport=null", "opt.service=1ms", "connections=1", "amount=50", "blocks=2")
	if code, said := n.run(); !finished(code, said) {
		t.Fatalf("status %d: %s", code, said)
	}
	whole := n.whole()
	// The last line holds what the host was like after the run, no trial.
	whole = whole[:bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1]
	for _, torn := range []int{1, 5, 200} {
		if err := os.WriteFile(n.path("records.jsonl"), whole[:len(whole)-torn], 0o644); err != nil {
			t.Fatal(err)
		}
		before := n.whole()
		code, said := n.run("--resume")
		if !finished(code, said) || !strings.Contains(said, "line 5: torn: ") || !strings.Contains(said, "1 trial in 1 block") {
			t.Errorf("%d bytes torn off: status %d: %s", torn, code, said)
		}
		n.complete(before)
	}
}
