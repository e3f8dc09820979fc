package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/session"
)

// Of those that begin in one directory within microseconds one gets it, and the plan there is
// its own.
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
	n := typing(t, "transport=null", "opt.service=1ms", "connections=1", "window=60s", "blocks=1")
	c, said := n.command()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "a run under way", func() bool { return n.lines() > 0 && len(n.family.living(t)) > 2 })
	if code, said := n.run("--resume"); code != statusRefused || !strings.Contains(said, "another process is writing it") {
		t.Errorf("status %d: %s", code, said)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // its status is in ProcessState
	if code := c.ProcessState.ExitCode(); code != statusUnmet || n.lines() < 1 {
		t.Errorf("the run that was not to be disturbed ended with status %d and %d lines: %s", code, n.lines(), said)
	}
	n.family.mustEnd(t)
}
