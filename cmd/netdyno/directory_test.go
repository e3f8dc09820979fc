package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/record"
	"netdyno/internal/run/session"
	"netdyno/test/programs"
)

// Of two runs that begin in one directory at a time, one gets the directory, and the plan
// there is its own.
func TestOneDirectoryOneRun(t *testing.T) {
	programs.Whole(t)
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
		d := session.Directory(filepath.Join(t.TempDir(), "run"))
		const contenders = 4
		var wait sync.WaitGroup
		files := make([]*record.File, contenders)
		for i := range contenders {
			wait.Go(func() {
				var err error
				files[i], err = d.Create([]byte("study: x\n"), record.Header{}, []record.Trial{{ID: fmt.Sprint(i)}})
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
		if trials, err := record.ReadTrials(d.Trials()); err != nil || trials[0].ID != fmt.Sprint(winner) {
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
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=96k"); err != nil {
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
	if code != statusUnmet || !strings.Contains(said, "no space left on device") || !strings.Contains(said, "the records are safe in") {
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
	if code, said := n.run("--resume"); !finished(code, said) {
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
