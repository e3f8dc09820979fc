// Package rigs_test runs the same study on every rig of several hosts, in a
// laboratory of namespaces with a real sshd and a real Slurm cluster, and then
// pulls cables and kills what a run is made of.
//
// Most of it waits, for deadlines and for daemons, so the tests run beside each
// other, each in a laboratory of its own.
package rigs_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/test/lab"
	"netdyno/test/programs"
	"netdyno/test/trials"
)

// beside is how many tests run at once: more make everything slow.
const beside = "6"

// bin is the directory of the programs under test, and of what they are held by.
var bin string

func TestMain(m *testing.M) { os.Exit(build(m)) }

// build gathers what the tests run in a directory of their own, where a bed can
// link to it.
func build(m *testing.M) int {
	err := flag.Set("test.parallel", beside)
	if err == nil {
		bin, err = os.MkdirTemp("", "rigs-bin-")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	for _, name := range []string{"netdyno", "netdyno-host", plain} {
		if err := programs.Copy(name, bin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	c := exec.Command("go", "build", "-o", filepath.Join(bin, held),
		"-ldflags", "-X main.worker="+filepath.Join(bin, plain)+" -X main.gates="+bin, "./testdata/held")
	if out, err := c.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v: %s", err, out)
		return 1
	}
	return m.Run()
}

// bed is a laboratory with a way to reach its hosts, in whose hub netdyno runs.
type bed struct {
	*lab.Lab
	programs string // directory of netdyno and the one worker that it finds
	worker   string // that one's file name, and of no other bed's
	rig      string
	env      []string
	address  func(node int) string // of a host, counted from 1
	ssh      *lab.SSH              // nil elsewhere
	slurm    *lab.Slurm            // nil elsewhere
}

// beds are the rigs that tests are made on, by name.
var beds = map[string]func(t *testing.T, worker string) bed{"netns": netnsBed, "ssh": sshBed, "slurm": slurmBed}

// The workers of a bed: as it is, or one whose trials a test can hold.
const plain, held = "netdyno-worker-net", "held"

var bedsMade atomic.Int32

// newBed makes a laboratory, and a directory of programs of a name that no other
// has, so that the test knows its own processes among all of the machine's.
func newBed(t *testing.T, hosts int, worker string) bed {
	t.Helper()
	name := fmt.Sprintf("bed%d-%03d", os.Getpid(), bedsMade.Add(1))
	b := bed{Lab: lab.Hosts(t, hosts), programs: filepath.Join(bin, name), worker: bench.WorkerPrefix + name}
	err := errors.Join(os.Mkdir(b.programs, 0o755),
		os.Link(filepath.Join(bin, "netdyno"), filepath.Join(b.programs, "netdyno")),
		os.Link(filepath.Join(bin, "netdyno-host"), filepath.Join(b.programs, "netdyno-host")),
		os.Link(filepath.Join(bin, worker), filepath.Join(b.programs, b.worker)))
	if err != nil {
		t.Fatal(err)
	}
	b.env = []string{"TMPDIR=" + b.Temporary()}
	b.address = b.Address
	return b
}

// netnsBed needs of a laboratory only that it is apart from the machine.
func netnsBed(t *testing.T, worker string) bed {
	t.Helper()
	b := newBed(t, 1, worker)
	b.rig = "netns:3"
	b.address = func(node int) string { return fmt.Sprintf("10.77.%d.1", node) }
	return b
}

func sshBed(t *testing.T, worker string) bed {
	t.Helper()
	b := newBed(t, 3, worker)
	b.ssh = b.SSH(t)
	b.rig = "ssh:node1,node2,node3?config=" + b.ssh.Config
	return b
}

func slurmBed(t *testing.T, worker string) bed {
	t.Helper()
	b := newBed(t, 3, worker)
	b.slurm = b.Slurm(t)
	b.rig = "slurm:3"
	b.env = append(b.env, b.slurm.Env()...)
	return b
}

// command is netdyno in the hub, with a study's arguments and a directory for
// its results.
func (b bed) command(t *testing.T, args ...string) (c *exec.Cmd, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	c = b.Command(0, slices.Concat([]string{filepath.Join(b.programs, "netdyno"), "run"}, args, []string{"--rig", b.rig, "--out", dir})...)
	c.Env = append(os.Environ(), b.env...)
	return c, dir
}

// run runs a study to its end and returns its records. One with a trial that is not valid is
// run again: a busy machine may have disturbed it.
func (b bed) run(t *testing.T, args ...string) record.Contents {
	t.Helper()
	var dir string
	trials.Repeat(func() bool {
		var c *exec.Cmd
		var out bytes.Buffer
		c, dir = b.command(t, args...)
		c.Stdout, c.Stderr = &out, &out
		err := c.Run()
		if exit := new(exec.ExitError); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
			t.Fatalf("netdyno run %s: %v\n%s", strings.Join(args, " "), err, out.String())
		}
		return err != nil
	})
	contents, err := record.Read(filepath.Join(dir, record.RecordsFile))
	if err != nil || len(contents.Problems) > 0 {
		t.Fatalf("read the records: %v, %v", err, contents.Problems)
	}
	return contents
}
