package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// typed is a netdyno as a user starts it, in a directory of its own.
type typed struct {
	t      *testing.T
	dir    string // the run's
	family family
	args   []string
	goesOn bool // by --continue and the directory alone
}

func typing(t *testing.T, args ...string) typed {
	t.Helper()
	return typed{t: t, dir: filepath.Join(t.TempDir(), "run"), family: newFamily(t), args: args}
}

func (n typed) command(more ...string) (*exec.Cmd, *bytes.Buffer) {
	n.t.Helper()
	argv := append(append([]string{"run"}, n.args...), append([]string{"--out", n.dir}, more...)...)
	if n.goesOn {
		argv = append([]string{"run", n.dir, "--continue"}, more...)
	}
	c := exec.CommandContext(n.t.Context(), filepath.Join(installed(n.t), "netdyno"), argv...)
	c.Env = append(os.Environ(), string(n.family))
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	return c, &said
}

// run runs to the end and returns the exit status.
func (n typed) run(more ...string) (int, string) {
	n.t.Helper()
	c, said := n.command(more...)
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		n.t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), said.String()
}

// interrupted starts a run, waits until so many records are kept, and sends
// the signal in the middle of the trial after them.
func (n typed) interrupted(records int, signal os.Signal) (*exec.Cmd, string) {
	n.t.Helper()
	c, said := n.command()
	if err := c.Start(); err != nil {
		n.t.Fatal(err)
	}
	const timeout = 60 * time.Second
	for begin := time.Now(); n.lines() < 1+records || len(n.family.living(n.t)) < 3; time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > timeout {
			_ = c.Process.Kill() // the test has failed already
			n.t.Fatalf("no %d records within %v", records, timeout)
		}
	}
	if err := c.Process.Signal(signal); err != nil {
		n.t.Fatal(err)
	}
	_ = c.Wait() // its status is in ProcessState
	n.family.mustEnd(n.t)
	return c, said.String()
}

func (n typed) path(name string) string { return filepath.Join(n.dir, name) }

// whole returns the whole lines of records.jsonl.
func (n typed) whole() []byte {
	text, err := os.ReadFile(n.path("records.jsonl"))
	if err != nil {
		return nil
	}
	return text[:bytes.LastIndexByte(text, '\n')+1]
}

func (n typed) lines() int { return bytes.Count(n.whole(), []byte{'\n'}) }

// complete demands one record for each planned trial, and no other, and that
// those measured before the interruption stayed as they were.
func (n typed) complete(before []byte) {
	n.t.Helper()
	if !bytes.HasPrefix(n.whole(), before) {
		n.t.Error("records that were measured before have changed")
	}
	trials, err := record.ReadTrials(n.path("trials.jsonl"))
	if err != nil {
		n.t.Fatal(err)
	}
	contents, err := record.Read(n.path("records.jsonl"))
	if err != nil || len(contents.Problems) > 0 {
		n.t.Fatalf("read records: %v %v", err, contents.Problems)
	}
	trials = study.Before(trials, record.Horizon(contents.Header, trials, contents.Records))
	seen := map[string]int{}
	for _, r := range contents.Records {
		seen[r.Trial.ID]++
	}
	for _, p := range trials {
		if seen[p.ID] != 1 {
			n.t.Errorf("trial %s has %d records, want 1", p.ID, seen[p.ID])
		}
	}
	if len(seen) != len(trials) {
		n.t.Errorf("%d trials have records, %d were planned", len(seen), len(trials))
	}
	n.family.mustEnd(n.t)
}
