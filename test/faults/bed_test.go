package faults_test

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"netdyno/test/lab"
)

// host is a rig of the table.
type place struct {
	name   string
	hosts  int      // of the laboratory; 0 for none
	chosen []string // transports of the part that make test-all executes
	set    func(t *testing.T, b *bed)
}

var rigs = []place{
	{name: "loopback", chosen: []string{"go-net", "asio", "go-http1", "go-grpc", "baidu-std", "exec"}, set: func(_ *testing.T, b *bed) { b.rig, b.server = "loopback", "127.0.0.1" }},
	{name: "netns", chosen: []string{"go-net", "exec", "go-quic"}, hosts: 1, set: func(_ *testing.T, b *bed) { b.rig, b.server = "netns:2", "10.77.1.1" }},
	{name: "ssh", hosts: 2, set: func(t *testing.T, b *bed) {
		b.rig, b.server = "ssh:node1,node2?config="+b.lab.SSH(t).Config, b.lab.Address(1)
	}},
	{name: "slurm", hosts: 2, set: func(t *testing.T, b *bed) {
		b.rig, b.server = "slurm:2", b.lab.Address(1)
		b.env = append(b.env, b.lab.Slurm(t).Env()...)
	}},
}

// bed is a rig with the programs of one transport, under names that no other has:
// so a test knows its own processes among all of the machine's.
type bed struct {
	transport
	place    place
	name     string
	programs string // directory of netdyno and the workers
	results  string // directory for runs
	temp     string // directory for temporary files
	lab      *lab.Lab
	rig      string
	server   string // address of the server's host
	env      []string
}

var beds atomic.Int32

func newBed(t *testing.T, r place, x transport) *bed {
	t.Helper()
	b := &bed{transport: x, place: r}
	if r.hosts > 0 {
		b.lab = lab.Hosts(t, r.hosts)
	}
	b.fill(t)
	r.set(t, b)
	return b
}

// again is the same bed with directories and names of its own.
func (b *bed) again(t *testing.T) *bed {
	t.Helper()
	own := *b
	own.env = slices.Clone(b.env)
	own.fill(t)
	return &own
}

// fill gives the bed its programs and directories.
func (b *bed) fill(t *testing.T) {
	t.Helper()
	b.name = fmt.Sprintf("bed%d-%03d", os.Getpid(), beds.Add(1))
	home := t.TempDir()
	b.programs, b.results, b.temp = filepath.Join(home, b.name), filepath.Join(home, "results"), filepath.Join(home, "tmp")
	if b.lab != nil {
		b.temp = filepath.Join(b.lab.Temporary(), b.name)
	}
	for _, dir := range []string{b.programs, b.results, b.temp} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	install(t, filepath.Join(bin, "netdyno"), filepath.Join(b.programs, "netdyno"))
	install(t, filepath.Join(bin, "netdyno-host"), filepath.Join(b.programs, "netdyno-host"))
	installed := b.workers
	if !slices.Contains(installed, "exec") {
		installed = append(slices.Clone(installed), "exec") // for servers that this test plays
	}
	for _, worker := range installed {
		install(t, filepath.Join(bin, "netdyno-worker-"+worker), b.program(worker))
	}
	b.env = append(b.env, "TMPDIR="+b.temp, "PATH="+os.Getenv("PATH"))
}

func (b *bed) program(worker string) string {
	return filepath.Join(b.programs, "netdyno-worker-"+b.name+"-"+worker)
}

// install puts a program at a path: a link, or a copy where another file system
// begins.
func install(t *testing.T, from, to string) {
	t.Helper()
	if os.Link(from, to) == nil {
		return
	}
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// ends are the levels that choose server and client.
func (b *bed) ends() []string {
	if b.foreign() {
		return []string{"server=exec", "client=" + b.clientName(), "opt.server.command=" + b.fake("honest")}
	}
	return append(b.security(), "server="+b.transport.name, "client="+b.clientName())
}

// security are the levels without which a transport refuses a trial.
func (b *bed) security() []string {
	if b.overUDP() {
		return []string{"tls=yes"}
	}
	return nil
}

func (b *bed) clientName() string { return cmp.Or(b.client, b.transport.name) }

// fake is the command line of a server that this test plays.
func (b *bed) fake(mode string) string {
	return fmt.Sprintf("%s fake %s %s {host} {port} %s", os.Args[0], mode, b.wire, b.name)
}

// command is netdyno with a study's arguments, and the directory of its run.
func (b *bed) command(args ...string) (c *exec.Cmd, dir string) {
	dir = filepath.Join(b.results, "run")
	return b.argv(slices.Concat([]string{filepath.Join(b.programs, "netdyno"), "run"}, args, []string{"--rig", b.rig, "--out", dir})...), dir
}

func (b *bed) argv(argv ...string) *exec.Cmd {
	c := exec.Command(argv[0], argv[1:]...)
	if b.lab != nil {
		c = b.lab.Command(0, argv...)
	}
	c.Env = append(os.Environ(), b.env...)
	return c
}
