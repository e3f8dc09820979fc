package rigs_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/test/lab"
	"netdyno/test/running"
)

// leaveTimeout is longer than what a run was made of may take to be gone on a machine that has
// much else to do: a meter gives its worker 2 s, and Slurm a task as much (KillWait).
const leaveTimeout = time.Minute

// census is what was there before a run, to tell what is left after it.
type census struct {
	bed
	before []string
}

func (b bed) census(t *testing.T) census { return census{b, b.inhabitants(t)} }

// inhabitants are the laboratory's processes, by host and command line: daemons
// that were started again have another id. An sshd that listens writes over its
// own, with how many are just connecting: who merely asks whether it is up.
func (b bed) inhabitants(t *testing.T) []string {
	var all []string
	for host := 0; host <= b.Size(); host++ {
		for _, p := range b.Processes(t, host) {
			line, _, _ := strings.Cut(strings.TrimPrefix(strings.Join(p.Argv, " "), "sshd: "), " [listener] ")
			all = append(all, b.Name(host)+": "+line)
		}
	}
	slices.Sort(all)
	return all
}

// nothingLeft fails the test when, after a while, there are still processes of
// the bed's programs or that were not there before, files delivered, or jobs.
func (c census) nothingLeft(t *testing.T) {
	t.Helper()
	var left error
	running.Await(t, leaveTimeout, "nothing is left", func() bool {
		if now := c.left(t); fmt.Sprint(now) != fmt.Sprint(left) {
			left = now
			t.Logf("left: %v", left)
		}
		return left == nil
	})
}

func (c census) left(t *testing.T) error {
	var errs []error
	for _, p := range lab.Running(t, filepath.Base(c.programs)) {
		errs = append(errs, fmt.Errorf("%v still runs", p))
	}
	for _, line := range excess(c.inhabitants(t), c.before) {
		errs = append(errs, fmt.Errorf("%s still runs", line))
	}
	files, err := os.ReadDir(c.Temporary())
	errs = append(errs, err)
	for _, f := range files {
		errs = append(errs, fmt.Errorf("%s is still in %s", f.Name(), c.Temporary()))
	}
	if c.slurm != nil {
		jobs, err := c.slurm.Command("squeue", "--noheader").Output()
		errs = append(errs, err)
		if len(jobs) > 0 {
			errs = append(errs, fmt.Errorf("Slurm still has %s", bytes.TrimSpace(jobs)))
		}
	}
	return errors.Join(errs...)
}

// excess returns what is in all more often than in known, both sorted.
func excess(all, known []string) []string {
	var more []string
	for _, each := range all {
		if i, found := slices.BinarySearch(known, each); found {
			known = slices.Delete(slices.Clone(known), i, i+1)
			continue
		}
		more = append(more, each)
	}
	return more
}
