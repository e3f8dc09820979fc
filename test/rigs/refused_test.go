package rigs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"netdyno/internal/record"
)

// hindrance is something that keeps hosts from being used.
type hindrance struct {
	name  string
	spoil func(t *testing.T, b *bed) (undo func())
	says  []string // what netdyno must say of it
}

// What keeps a rig of hosts from being used is said before any trial, by the
// host's name, and leaves nothing.
func TestRefusedHosts(t *testing.T) {
	t.Parallel()
	b := sshBed(t, plain)
	before := b.census(t)
	for _, c := range few([]hindrance{
		{"another host key", func(t *testing.T, b *bed) func() {
			b.configure(t, "UserKnownHostsFile "+foreignKeys(t))
			return nil
		}, []string{"connect to node", "Host key verification failed"}},
		{"no key", func(t *testing.T, b *bed) func() {
			b.configure(t, "PubkeyAuthentication no")
			return nil
		}, []string{"connect to node", "Permission denied", "must work without"}},
		{"a host without sshd", func(t *testing.T, b *bed) func() {
			b.ssh.Kill(t, 3)
			return func() { b.ssh.Start(t, 3) }
		}, []string{"connect to node3", "Connection refused"}},
		{"a host without a cable", func(t *testing.T, b *bed) func() {
			b.Cut(t, 2)
			return func() { b.Mend(t, 2) }
		}, []string{"connect to node2", "connect to host 10.77.0.2"}},
		{"a full disk", func(t *testing.T, b *bed) func() {
			return b.mount(t, 2, "-t", "tmpfs", "-o", "size=1m", "tmpfs", b.Temporary())
		}, []string{"copy netdyno", "to node2", "No space left on device"}},
		{"no sha256sum", func(t *testing.T, b *bed) func() {
			return b.mount(t, 2, "--bind", "/dev/null", "/usr/bin/sha256sum")
		}, []string{"copy netdyno", "to node2", "sha256sum is missing"}},
		{"a shell that greets", func(t *testing.T, b *bed) func() {
			greeting := filepath.Join(t.TempDir(), "greeting")
			if err := os.WriteFile(greeting, []byte("echo Welcome\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			return b.mount(t, 2, "--bind", greeting, filepath.Join(os.Getenv("HOME"), ".bashrc"))
		}, []string{"node2", `"Welcome`, "prints something at login"}},
	}, 0, 4, 6) {
		t.Run(c.name, func(t *testing.T) {
			spoiled := b
			undo := c.spoil(t, &spoiled)
			spoiled.refused(t, c.says...)
			if undo != nil {
				undo()
			}
			before.nothingLeft(t)
		})
	}
}

// refused demands that a run ends before its first trial with the given words.
func (b bed) refused(t *testing.T, says ...string) {
	t.Helper()
	c, dir := b.command(t, "transport=go-net", "blocks=1", "window=50ms")
	out, _ := c.CombinedOutput() // its status is looked at
	if code := c.ProcessState.ExitCode(); code != 2 {
		t.Errorf("netdyno exits with %d, want 2", code)
	}
	for _, part := range says {
		if !strings.Contains(string(out), part) {
			t.Errorf("netdyno says %q, want in it %q", out, part)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, record.RecordsFile)); err == nil {
		t.Error("there are records of a run that did not begin")
	}
}

// configure gives ssh a configuration that begins with some lines: of what is
// said twice, the first counts.
func (b *bed) configure(t *testing.T, lines ...string) {
	t.Helper()
	usual, err := os.ReadFile(b.ssh.Config)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("Host *\n  %s\n%s", strings.Join(lines, "\n  "), usual)
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b.rig = strings.ReplaceAll(b.rig, b.ssh.Config, own)
}

// foreignKeys returns a file that knows all hosts by a key that is not theirs.
func foreignKeys(t *testing.T) string {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("make a key: %v: %s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	known := key + ".known"
	if err := os.WriteFile(known, []byte("node*,10.77.* "+string(public)), 0o600); err != nil {
		t.Fatal(err)
	}
	return known
}

// mount mounts something where a host's sshd, and all that comes of it, sees it.
// The mount ends with that sshd, if not before.
func (b bed) mount(t *testing.T, host int, argv ...string) (undo func()) {
	t.Helper()
	enter := func(argv ...string) {
		t.Helper()
		there := append([]string{"--mount", "--target", strconv.Itoa(b.ssh.Sshd(host)), "--"}, argv...)
		if out, err := exec.Command("nsenter", there...).CombinedOutput(); err != nil {
			t.Fatalf("%s at %s: %v: %s", argv[0], b.Name(host), err, out)
		}
	}
	enter(append([]string{"mount"}, argv...)...)
	return func() { enter("umount", argv[len(argv)-1]) }
}

// Whoever kills what holds a host does not keep its files: they are noticed to
// be gone and brought again, or removed in the end.
func TestKilledKeeper(t *testing.T) {
	t.Parallel()
	soak(t)
	b := sshBed(t, held)
	before := b.census(t)
	u := b.start(t, endless...)
	keeper := func(node int, program string) int {
		for _, p := range u.Processes(t, node) {
			if filepath.Base(p.Argv[0]) == program && (program == "cat" || strings.Contains(p.String(), "mktemp")) {
				return p.Pid
			}
		}
		t.Fatalf("no keeper at node%d among %v", node, u.Processes(t, node))
		return 0
	}
	u.kill(keeper(1, "sh")) // it can remove nothing any more

	_, number := u.held("window", 2)
	u.kill(keeper(2, "cat")) // it removes all at once
	u.release()
	if r := u.Next(u.t, number); r.Outcome != record.OK {
		t.Errorf("the trial under way is %s: %+v; what runs needs no file", r.Outcome, r.Failure)
	}
	if r := u.Next(u.t, number+1); r.Failure == nil || r.Failure.Worker != "client-1" || r.Failure.State != "born" ||
		!strings.Contains(r.Failure.Text, "node2") || !strings.Contains(r.Failure.Text, "No such file") {
		t.Errorf("the next trial is %s: %+v, want node2 to miss the program", r.Outcome, r.Failure)
	}
	if r := u.Next(u.t, number+2); r.Outcome != record.OK {
		t.Errorf("the trial after it is %s: %+v", r.Outcome, r.Failure)
	}
	u.interrupt()
	before.nothingLeft(t)
}
