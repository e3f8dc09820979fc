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

// A run that was killed, within its own blocks or on the way to a further look,
// goes on by its directory alone, and each planned trial leaves one record.
func TestKilledRunGoesOn(t *testing.T) {
	t.Parallel()
	n := typing(t, "transport=null", "opt.service=1ms,1001us", "connections=1", "amount=300", "blocks=5")
	n.interrupted(2, syscall.SIGKILL)
	before := n.whole()
	n.goesOn = true
	if code, said := n.run(); !finished(code, said) {
		t.Fatalf("what was left ended with status %d: %s", code, said)
	}
	n.complete(before)
	before = n.whole()
	n.interrupted(bytes.Count(before, []byte{'\n'}), syscall.SIGKILL) // its look is not yet over
	if code, said := n.run(); !finished(code, said) || n.lines() < bytes.Count(before, []byte{'\n'})+3 {
		t.Fatalf("the further look ended with status %d and %d lines: %s", code, n.lines(), said)
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
		if !finished(code, said) || !strings.Contains(said, ": torn: ") || !strings.Contains(said, "1 trial in 1 round") {
			t.Errorf("%d bytes torn off: status %d: %s", torn, code, said)
		}
		n.complete(before)
	}
}
