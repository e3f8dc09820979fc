package rigs_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// leaveTimeout is how long what a run was made of may take to be gone: a meter
// gives its worker 2 s, and Slurm a task as much (KillWait).
const leaveTimeout = 8 * time.Second

// process is one of the machine's processes.
type process struct {
	pid  int
	name string // /proc/PID/comm
	argv []string
}

func (p process) String() string { return fmt.Sprintf("%d %s", p.pid, strings.Join(p.argv, " ")) }

// processes returns all whose command line has a part in it. One that has ended
// has no command line.
func processes(t *testing.T, part string) []process {
	t.Helper()
	proc, err := os.Open("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close()
	entries, err := proc.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	var found []process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry)
		if err != nil {
			continue // no process
		}
		line, err := os.ReadFile(filepath.Join("/proc", entry, "cmdline"))
		if err != nil || !bytes.Contains(line, []byte(part)) {
			continue // it has just ended, or is not asked for
		}
		name, err := os.ReadFile(filepath.Join("/proc", entry, "comm"))
		if err != nil {
			continue
		}
		found = append(found, process{pid, strings.TrimSpace(string(name)), strings.Split(string(bytes.TrimSuffix(line, []byte{0})), "\x00")})
	}
	return found
}

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
	for deadline := time.Now().Add(leaveTimeout); ; time.Sleep(poll) {
		err := c.left(t)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("after %v: %v", leaveTimeout, err)
			return
		}
	}
}

func (c census) left(t *testing.T) error {
	var errs []error
	for _, p := range processes(t, filepath.Base(c.programs)) {
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
