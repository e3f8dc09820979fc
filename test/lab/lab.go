// Package lab makes a small laboratory of hosts on one machine, for the tests of rigs
// that need several hosts: network namespaces joined by cables whose ends can be pulled,
// with an sshd or a Slurm node in each where asked. It needs root, and touches nothing of
// the machine but /run/sshd. What a laboratory makes has no name outside its own
// processes, so nothing is left over however the test ends.
//
// Host 0 is the hub "ctl", where netdyno itself runs; hosts 1 to n are "node1" to
// "noden". All hosts share the machine's files and process ids; each has a network, a
// host name and an /etc/hosts of its own.
//
// A function that takes a testing.TB fails that test when it cannot do its work, and must
// be called from the test's goroutine; other functions may be called from any. A host
// that does not exist is a mistake in the test, and panics.
package lab

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// MaxHosts bounds a laboratory, the hub not counted: their addresses are the last
// byte of one network.
const MaxHosts = 200

const hub = 0

// Lab is a hub and its hosts. It ends with the test it was made for.
type Lab struct {
	spaces []space // the hub's, then one of each host
	guard  *guard
	dir    string // everything that the laboratory writes; its path is short
}

// Hosts makes a laboratory of n hosts, each with one cable to the hub's bridge.
// It skips the test, saying why, where namespaces cannot be made.
func Hosts(t testing.TB, n int) *Lab {
	t.Helper()
	if n < 1 || n > MaxHosts {
		t.Fatalf("make a laboratory of %d hosts: from 1 to %d are possible", n, MaxHosts)
	}
	if os.Geteuid() != 0 {
		t.Skip("a laboratory of hosts needs root")
	}
	l := &Lab{}
	t.Cleanup(func() { l.close(t) })
	for host := range n + 1 {
		s, err := newSpace(name(host))
		if refused(err) {
			t.Skipf("a laboratory of hosts needs namespaces: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		l.spaces = append(l.spaces, s)
	}
	// Not t.TempDir, whose paths grow with the test's name: a Unix socket's has
	// at most 107 bytes, and a guard must be able to remove what is left.
	dir, err := os.MkdirTemp("/tmp", "lab-")
	if err != nil {
		t.Fatal(err)
	}
	l.dir = dir
	if err := os.Mkdir(l.Temporary(), 0o700); err != nil {
		t.Fatal(err)
	}
	if l.guard, err = startGuard(dir, l.spaces); err != nil {
		t.Fatal(err)
	}
	if err := l.wire(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.dir, "hosts"), []byte(l.names()), 0o644); err != nil {
		t.Fatal(err)
	}
	return l
}

// close turns every host off and forgets the namespaces.
func (l *Lab) close(t testing.TB) {
	if l.guard != nil {
		if err := l.guard.finish(); err != nil {
			t.Errorf("remove the laboratory: %v", err)
		}
		for host := range l.spaces {
			if left := l.Processes(t, host); len(left) > 0 {
				t.Errorf("remove the laboratory: %s still runs %v", name(host), left)
			}
		}
		if _, err := os.Stat(l.dir); err == nil {
			t.Errorf("remove the laboratory: %s is still there", l.dir)
		}
	} else if l.dir != "" {
		_ = os.RemoveAll(l.dir) // the test has failed already
	}
	for _, s := range l.spaces {
		s.close()
	}
}

// Size returns the number of hosts, the hub not counted.
func (l *Lab) Size() int { return len(l.spaces) - 1 }

// Temporary returns the directory for temporary files of all hosts' programs, so that a
// test can see which files are left. The directory goes with the laboratory.
func (l *Lab) Temporary() string { return filepath.Join(l.dir, "tmp") }

// Name returns a host's name: "ctl" of the hub, else "node1", "node2", …
func (l *Lab) Name(host int) string {
	_ = l.spaces[host]
	return name(host)
}

func name(host int) string {
	if host == hub {
		return "ctl"
	}
	return fmt.Sprintf("node%d", host)
}

// Address returns a host's IPv4 address on the laboratory's one network.
func (l *Lab) Address(host int) string {
	_ = l.spaces[host]
	return address(host).String()
}

func address(host int) netip.Addr {
	if host == hub {
		return netip.AddrFrom4([4]byte{10, 77, 0, 254})
	}
	return netip.AddrFrom4([4]byte{10, 77, 0, byte(host)})
}

// names is what stands in /etc/hosts on every host.
func (l *Lab) names() string {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n")
	for host := range l.spaces {
		fmt.Fprintf(&b, "%v %s\n", address(host), name(host))
	}
	return b.String()
}

// enter runs a command with files of the laboratory in the place of the machine's:
// /etc/hosts, and the configuration of ssh once there is one; and with nothing in
// the place of what the user's shell reads at a login by ssh, so that hosts are
// the same on every machine. It unshares the
// mounts anew for every command: joining a mount namespace would lose the working
// directory, and copying one does not. Each step execs the next, so that the
// command has the id of the process that was started.
const enter = `mount --bind "$0/hosts" /etc/hosts &&
{ [ ! -e "$0/ssh/config" ] || mount --bind "$0/ssh/config" /etc/ssh/ssh_config; } &&
{ [ ! -e ~/.bashrc ] || mount --bind /dev/null ~/.bashrc; } &&
exec "$@"`

// Command prepares argv to run on a host, in the working directory and with the
// environment of the test unless the caller sets others. The caller starts it and
// waits for it; the kernel kills it when the test dies, and the laboratory's end
// kills it and all that came of it.
func (l *Lab) Command(host int, argv ...string) *exec.Cmd {
	s := l.spaces[host]
	cmd := exec.Command("nsenter", append([]string{
		"--net=" + l.guard.path(s.net), "--uts=" + l.guard.path(s.uts), "--",
		"unshare", "--mount", "--", "sh", "-c", enter, l.dir,
	}, argv...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}
