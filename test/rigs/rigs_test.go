// Package rigs_test runs the same study on every rig of several hosts, in a
// laboratory of namespaces with a real sshd and a real Slurm cluster, and then
// pulls cables and kills what a run is made of.
package rigs_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/test/lab"
)

// netdyno is the directory of the programs under test.
var bin string

func TestMain(m *testing.M) { os.Exit(build(m)) }

// build builds what the tests run, so that it is what the tree says.
func build(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "rigs-bin-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	c := exec.Command("go", "build", "-o", bin, "netdyno/cmd/netdyno", "netdyno/cmd/netdyno-worker-net")
	if out, err := c.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v: %s", err, out)
		return 1
	}
	return m.Run()
}

// small is a study that takes a second or two on any rig.
var small = []string{"transport=go-net,go-epoll", "clients=2", "connections=4", "blocks=1", "window=200ms", "warmup=50ms"}

// bed is where netdyno runs: the hub of a laboratory.
type bed struct {
	*lab.Lab
	env []string
}

// command is netdyno in the hub, with a study's arguments and a directory for
// its results.
func (b bed) command(t *testing.T, args ...string) (c *exec.Cmd, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	argv := slices.Concat([]string{filepath.Join(bin, "netdyno"), "run"}, args, []string{"--out", dir})
	c = b.Command(0, argv...)
	c.Env = append(os.Environ(), b.env...)
	return c, dir
}

// run runs a study to its end and returns its records.
func (b bed) run(t *testing.T, args ...string) []record.Record {
	t.Helper()
	c, dir := b.command(t, args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		t.Fatalf("netdyno run %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	contents, err := record.Read(filepath.Join(dir, record.RecordsFile))
	if err != nil {
		t.Fatal(err)
	}
	return contents.Records
}

func TestSSH(t *testing.T) {
	l := lab.Hosts(t, 3)
	ssh := l.SSH(t)
	b := bed{Lab: l}
	for _, r := range b.run(t, append(small, "--rig", "ssh:node1,node2,node3?config="+ssh.Config)...) {
		t.Log(r.Outcome, r.Failure, r.Timeline)
	}
}

func TestSlurm(t *testing.T) {
	l := lab.Hosts(t, 3)
	s := l.Slurm(t)
	b := bed{Lab: l, env: s.Env()}
	for _, r := range b.run(t, append(small, "--rig", "slurm:3")...) {
		t.Log(r.Outcome, r.Failure, r.Timeline)
	}
}
