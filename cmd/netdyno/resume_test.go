package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/record"
)

// typed is a netdyno as a user starts it, in a directory of its own.
type typed struct {
	t      *testing.T
	dir    string // the run's
	family family
	args   []string
}

func typing(t *testing.T, args ...string) typed {
	t.Helper()
	return typed{t: t, dir: filepath.Join(t.TempDir(), "run"), family: newFamily(t), args: args}
}

func (n typed) command(more ...string) (*exec.Cmd, *bytes.Buffer) {
	n.t.Helper()
	argv := append(append([]string{"run"}, n.args...), append([]string{"--out", n.dir}, more...)...)
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
	const patience = 60 * time.Second
	for begin := time.Now(); n.lines() < 1+records || len(n.family.living(n.t)) < 3; time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > patience {
			_ = c.Process.Kill() // the test has failed already
			n.t.Fatalf("no %d records within %v", records, patience)
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

var shortRun = []string{"transport=go-net,go-epoll", "connections=4", "window=200ms", "warmup=50ms", "blocks=2"}

func TestKilledRunResumes(t *testing.T) {
	t.Parallel()
	n := typing(t, shortRun...)
	c, said := n.interrupted(2, syscall.SIGKILL)
	if c.ProcessState.Success() {
		t.Fatalf("the run ended before it was killed: %s", said)
	}
	before := n.whole()
	if code, said := n.run("--resume"); code > statusTainted {
		t.Fatalf("resume ended with status %d: %s", code, said)
	}
	n.complete(before)
}

func TestCtrlCKeepsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	n := typing(t, "transport=null", "opt.service=1ms", "connections=1", "amount=200", "blocks=3")
	c, said := n.interrupted(2, os.Interrupt)
	if code := c.ProcessState.ExitCode(); code != statusTainted {
		t.Errorf("status %d, want %d", code, statusTainted)
	}
	for _, want := range []string{
		"netdyno: stopped; what was measured is kept, the same command with --resume goes on\n", "6 trials planned: ", " missing", "report  " + n.path("report.html"),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	before := n.whole()
	code, said := n.run("--resume")
	if code != statusOK {
		t.Errorf("resume ended with status %d: %s", code, said)
	}
	n.complete(before)
}

// A power cut may leave a part of the last line.
func TestTornTailResumes(t *testing.T) {
	t.Parallel()
	n := typing(t, "transport=null", "opt.service=1ms", "connections=1", "amount=50", "blocks=2")
	if code, said := n.run(); code != statusOK {
		t.Fatalf("status %d: %s", code, said)
	}
	whole := n.whole()
	for _, torn := range []int{1, 5, 200} {
		if err := os.WriteFile(n.path("records.jsonl"), whole[:len(whole)-torn], 0o644); err != nil {
			t.Fatal(err)
		}
		before := n.whole()
		code, said := n.run("--resume")
		if code != statusOK || !strings.Contains(said, "line 5: torn: ") || !strings.Contains(said, "1 trials in 2 blocks") {
			t.Errorf("%d bytes torn off: status %d: %s", torn, code, said)
		}
		n.complete(before)
	}
}

// Two runs, one directory: one of them has it, with its own plan.
func TestOneDirectoryOneRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	const contenders = 3
	var wait sync.WaitGroup
	codes, texts := make([]int, contenders), make([]string, contenders)
	for i := range contenders {
		n := typing(t, "transport=null", "opt.service=1ms", "connections=1", "amount=50", fmt.Sprintf("seed=%d", i+1), "blocks=1")
		n.dir = dir
		wait.Go(func() { codes[i], texts[i] = n.run() })
	}
	wait.Wait()
	winners := 0
	for i, code := range codes {
		switch {
		case code == statusOK:
			winners++
		case code != statusRefused || !strings.Contains(texts[i], "holds a run already"):
			t.Errorf("a loser ended with status %d: %s", code, texts[i])
		}
	}
	if winners != 1 {
		t.Fatalf("%d runs believe that they have the directory, want 1", winners)
	}
	n := typing(t)
	n.dir = dir
	n.complete(nil)
	contents, err := record.Read(n.path("records.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	trials, err := record.ReadTrials(n.path("trials.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if trials[0].Seed != contents.Records[0].Trial.Seed {
		t.Error("the plan is a loser's, the records are the winner's")
	}
}

// The same race within microseconds.
func TestOneDirectoryOneCreator(t *testing.T) {
	for range 20 {
		d := directory(filepath.Join(t.TempDir(), "run"))
		const contenders = 4
		var wait sync.WaitGroup
		files := make([]*record.File, contenders)
		for i := range contenders {
			wait.Go(func() {
				var err error
				files[i], err = d.create([]byte("study: x\n"), record.Header{}, []record.Trial{{ID: fmt.Sprint(i)}})
				if err != nil && !strings.Contains(err.Error(), "holds a run already") {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		winner := slices.IndexFunc(files, func(f *record.File) bool { return f != nil })
		if winner < 0 {
			t.Fatal("nobody has the directory")
		}
		for i, f := range files {
			if f != nil && i != winner {
				t.Errorf("both %d and %d have the directory", winner, i)
			}
			if f != nil && f.Close() != nil {
				t.Error("the winner's file does not close")
			}
		}
		if trials, err := record.ReadTrials(d.trials()); err != nil || trials[0].ID != fmt.Sprint(winner) {
			t.Fatalf("the plan is %v (%v), the winner's is %d", trials, err, winner)
		}
	}
}

// While a run is under way nobody resumes it.
func TestResumeOfARunUnderWay(t *testing.T) {
	t.Parallel()
	n := typing(t, "transport=null", "opt.service=1ms", "connections=1", "amount=1500", "blocks=1")
	c, _ := n.command()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for n.lines() < 1 {
		time.Sleep(5 * time.Millisecond)
	}
	code, said := n.run("--resume")
	if code != statusRefused || !strings.Contains(said, "another process is writing it") {
		t.Errorf("status %d: %s", code, said)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("the run that was not to be disturbed: %v", err)
	}
	n.complete(nil)
}

// A full disk ends the run with an error; what was measured is whole, no
// report is half written, and with more room the run goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	n := typing(t, append([]string{"study=full-disk"}, "transport=go-net,go-epoll", "connections=4", "amount=200", "blocks=4")...)
	n.dir = filepath.Join(disk, "run")
	code, said := n.run()
	if code != statusRefused || !strings.Contains(said, "no space left on device") || !strings.Contains(said, "the records are safe in") {
		t.Errorf("status %d: %s", code, said)
	}
	before := n.whole()
	if text, err := os.ReadFile(n.path("records.jsonl")); err != nil || !bytes.Equal(text, before) || n.lines() < 2 {
		t.Errorf("records of %d bytes, whole lines of %d: %v", len(text), len(before), err)
	}
	for _, name := range []string{"findings.json", "report.html", "report.md"} {
		if _, err := os.Stat(n.path(name)); err == nil && !strings.HasSuffix(tailOf(t, n.path(name)), "\n") {
			t.Errorf("%s is half written", name)
		}
	}
	if hidden, _ := filepath.Glob(n.path(".*")); len(hidden) > 0 { // the pattern is well formed
		t.Errorf("temporary files are left: %v", hidden)
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=4m"); err != nil {
		t.Fatal(err)
	}
	if code, said := n.run("--resume"); code != statusOK {
		t.Errorf("resume ended with status %d: %s", code, said)
	}
	n.complete(before)
}

func tailOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text[max(0, len(text)-20):])
}

// The search for leftovers must find what is left over.
func TestFamilyFindsItsMembers(t *testing.T) {
	mine := newFamily(t)
	c := exec.Command("sleep", "60")
	c.Env = append(os.Environ(), string(mine))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if found := mine.living(t); len(found) != 1 || !strings.Contains(found[0], "sleep") {
		t.Errorf("found %q, want the one process", found)
	}
	_ = c.Process.Kill() // it lives: nobody has waited for it
	_ = c.Wait()
	mine.mustEnd(t)
}
