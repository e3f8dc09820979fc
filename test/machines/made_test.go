package machines

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"netdyno/internal/run/cpuset"
)

// machine is one row of the table: an environment, and how it is made.
type machine struct {
	name  string
	env   []string                             // NAME=VALUE that is set, NAME that is absent; WORK stands for the directory of the test
	enter func(t *testing.T, w where) []string // the command that makes it and runs what follows; it skips the test where that may not be
	run   []string                             // what netdyno runs there, when the usual is not enough
}

// where is what a machine may use: programs, and a directory of its own that everybody may
// write to.
type where struct{ bin, work string }

// machines are the rows of docs/machines.md, in its order.
var machines = []machine{
	{name: "as it is"},
	{name: "one CPU, by `taskset`", enter: func(t *testing.T, _ where) []string {
		return []string{tool(t, "taskset"), "-c", strconv.Itoa(cpuset.Of(0)[0])}
	}},
	{name: "one CPU, by a cpuset", enter: func(t *testing.T, _ where) []string {
		return inGroup(t, "cpuset", map[string]string{"cpuset.cpus": strconv.Itoa(cpuset.Of(0)[0]), "cpuset.mems": "0"})
	}},
	{name: "a fifth of a CPU, by a quota", enter: func(t *testing.T, _ where) []string {
		return inGroup(t, "cpu", map[string]string{"cpu.max": "20000 100000", "cpu.cfs_quota_us": "20000"})
	}, run: []string{"run", "transport=go-net", "connections=4", "window=500ms", "warmup=100ms", "blocks=1"}},
	{name: "64 MiB of memory", enter: func(t *testing.T, _ where) []string {
		return inGroup(t, "memory", map[string]string{"memory.max": "67108864", "memory.limit_in_bytes": "67108864"})
	}},
	{name: "20 processes and threads, by `pids.max`", enter: func(t *testing.T, _ where) []string {
		return inGroup(t, "pids", map[string]string{"pids.max": "20"})
	}},
	{name: "20 processes and threads, by `ulimit -u`", enter: func(t *testing.T, _ where) []string {
		return append(nobody(t, strconv.Itoa(strangest)), tool(t, "prlimit"), "--nproc=20")
	}},
	{name: "another user, without root", env: []string{"HOME=/nonexistent"}, enter: func(t *testing.T, _ where) []string { return nobody(t, "65534") }},
	{name: "root without capabilities", enter: func(t *testing.T, _ where) []string {
		return []string{root(t, "setpriv"), "--bounding-set", "-all", "--inh-caps", "-all", "--no-new-privs"}
	}},
	{name: "no `HOME`", env: []string{"HOME", "XDG_CACHE_HOME", "GOCACHE", "GOMODCACHE", "GOPATH"}},
	{name: "`HOME` empty", env: []string{"HOME=", "XDG_CACHE_HOME"}},
	{name: "`HOME` nowhere", env: []string{"HOME=/dev/null/nowhere", "XDG_CACHE_HOME"}},
	{name: "`HOME` read-only", env: []string{"HOME=WORK/home", "XDG_CACHE_HOME"}, enter: func(t *testing.T, w where) []string {
		return mounts(t, "mount -t tmpfs -o ro tmpfs "+dir(t, w, "home"))
	}},
	{name: "`XDG_CACHE_HOME` and `XDG_RUNTIME_DIR` relative", env: []string{"XDG_CACHE_HOME=here", "XDG_RUNTIME_DIR=there"}},
	{name: "programs may not run in `TMPDIR` (noexec)", env: []string{"TMPDIR=WORK/tmp"}, enter: func(t *testing.T, w where) []string {
		return mounts(t, "mount -t tmpfs -o noexec tmpfs "+dir(t, w, "tmp"))
	}},
	{name: "the same, and `GOTMPDIR` elsewhere", env: []string{"TMPDIR=WORK/tmp", "GOTMPDIR=WORK"}, enter: func(t *testing.T, w where) []string {
		return mounts(t, "mount -t tmpfs -o noexec tmpfs "+dir(t, w, "tmp"))
	}},
	{name: "`TMPDIR` full", env: []string{"TMPDIR=WORK/tmp"}, enter: func(t *testing.T, w where) []string {
		return mounts(t, fmt.Sprintf("mount -t tmpfs -o size=64k tmpfs %s; cat /dev/zero >%[1]s/full 2>/dev/null || :", dir(t, w, "tmp")))
	}},
	{name: "no `HOME`, and `TMPDIR` and `/dev/shm` full", env: []string{"TMPDIR=WORK/tmp", "HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}, enter: func(t *testing.T, w where) []string {
		return mounts(t, fmt.Sprintf("for d in %s /dev/shm; do mount -t tmpfs -o size=64k tmpfs $d; cat /dev/zero >$d/full 2>/dev/null || :; done", dir(t, w, "tmp")))
	}},
	{name: "a path with letters that are not ASCII"},
	{name: "a path with a space"},
	{name: "a checkout of another owner"},
	{name: "io_uring forbidden by a filter (`EPERM`)", enter: func(t *testing.T, _ where) []string {
		return without(t, 1, "io_uring_setup,io_uring_enter,io_uring_register")
	}, run: rings},
	{name: "io_uring unknown to the sandbox (`ENOSYS`)", enter: func(t *testing.T, _ where) []string {
		return without(t, 38, "io_uring_setup,io_uring_enter,io_uring_register")
	}, run: rings},
	{name: "io_uring forbidden but for its first call", enter: func(t *testing.T, _ where) []string {
		return without(t, 1, "io_uring_enter,io_uring_register")
	}, run: rings},
	{name: "perf forbidden by a filter", enter: func(t *testing.T, _ where) []string { return without(t, 1, "perf_event_open") }},
	{name: "perf forbidden by its sysctl", enter: func(t *testing.T, _ where) []string {
		if text, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid"); err != nil || strings.TrimSpace(string(text)) < "2" {
			t.Skip("kernel.perf_event_paranoid is below 2 or absent here")
		}
		return nobody(t, "65534")
	}},
	{name: "no IPv6", enter: func(t *testing.T, _ where) []string {
		return append([]string{root(t, "unshare"), "--net", "--mount", "--"}, script("ip link set lo up && echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6")...)
	}},
	{name: "other users' processes hidden (hidepid)", env: []string{"HOME=/nonexistent"}, enter: func(t *testing.T, _ where) []string {
		return append(mounts(t, "mount -t proc -o hidepid=2 proc /proc"), nobody(t, "65534")...)
	}},
	{name: "no `/sys`", enter: func(t *testing.T, _ where) []string { return mounts(t, "mount -t tmpfs tmpfs /sys") }},
	{name: "`/proc/sys` read-only", enter: func(t *testing.T, _ where) []string {
		return mounts(t, "mount --bind /proc/sys /proc/sys; mount -o remount,ro,bind /proc/sys")
	}},
	{name: "no `/proc`", enter: func(t *testing.T, _ where) []string { return mounts(t, "mount -t tmpfs tmpfs /proc") }},
	{name: "`/dev/shm` absent", enter: func(t *testing.T, _ where) []string {
		return mounts(t, "mount -t tmpfs tmpfs /dev/shm; mount -o remount,ro /dev/shm")
	}},
	{name: "the whole system read-only, but for a directory", enter: func(t *testing.T, w where) []string {
		return []string{root(t, "bwrap"), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", w.work, w.work, "--chdir", w.work}
	}},
	{name: "an empty root with `/proc`", enter: bare},
	{name: "60 columns, `LANG=C`, `TERM=dumb`", env: []string{"COLUMNS=60", "LANG=C", "LC_ALL=C", "TERM=dumb"}},
	{name: "stdin and stdout closed", enter: func(*testing.T, where) []string { return []string{"sh", "-c", `exec "$@" <&- >&-`, "sh"} }},
	{name: "`umask 077`", enter: func(*testing.T, where) []string { return script("umask 077") }},
}

// rings runs both an arm that needs io_uring and one that does not.
var rings = []string{"run", "transport=go-net,uring", "connections=1", "amount=20", "blocks=1"}

// strangest is a user who has no processes on any machine.
const strangest = 4_100_000_017

// script is a shell that does something, then becomes what follows.
func script(text string) []string { return []string{"sh", "-ec", text + `; exec "$@"`, "sh"} }

// mounts is a script in a mount namespace of its own.
func mounts(t *testing.T, text string) []string {
	return append([]string{root(t, "unshare"), "--mount", "--propagation", "private", "--"}, script(text)...)
}

func nobody(t *testing.T, user string) []string {
	return []string{root(t, "setpriv"), "--reuid", user, "--regid", "65534", "--clear-groups"}
}

// without is this program as what forbids system calls.
func without(t *testing.T, errno int, names string) []string {
	return []string{self(t), forbid, strconv.Itoa(errno), names}
}

// tool finds a program, or skips the test.
func tool(t *testing.T, name string) string {
	t.Helper()
	at, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return at
}

// root finds a program that only root can use as it is used here.
func root(t *testing.T, name string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("this machine can be made by root alone")
	}
	return tool(t, name)
}

// self is this program, where every user may run it.
func self(t *testing.T) string {
	t.Helper()
	at, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return copied(t, at, filepath.Join(dir(t, where{work: open(t)}, "self"), "machines.test"))
}

// dir makes a directory that everybody may write to.
func dir(t *testing.T, w where, name string) string {
	t.Helper()
	at := filepath.Join(w.work, name)
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(at, 0o777); err != nil {
		t.Fatal(err)
	}
	return at
}

// open makes a directory of the test that other users reach, and whose path needs no quotes.
func open(t *testing.T) string {
	t.Helper()
	at, err := os.MkdirTemp("", "netdyno-machines-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(at); err != nil {
			t.Error(err)
		}
	})
	return dir(t, where{work: at}, "")
}

// copied brings a file to a place, by a link where it can.
func copied(t *testing.T, from, to string) string {
	t.Helper()
	if os.Link(from, to) == nil {
		return to
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// inGroup makes a control group, of either version, with those of the settings that it has.
func inGroup(t *testing.T, controller string, settings map[string]string) []string {
	t.Helper()
	root(t, "sh")
	top := filepath.Join("/sys/fs/cgroup", controller)
	if _, err := os.Stat(filepath.Join(top, "cgroup.procs")); err != nil {
		top = "/sys/fs/cgroup"
		given, err := os.ReadFile(filepath.Join(top, "cgroup.subtree_control"))
		if err != nil || !strings.Contains(" "+string(given), controller) {
			t.Skipf("no control group with %s can be made here", controller)
		}
	}
	at := filepath.Join(top, fmt.Sprintf("netdyno-test-%d-%d", os.Getpid(), len(t.Name())))
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(at); err != nil {
			t.Errorf("processes are left: %v", err)
		}
	})
	made := 0
	for name, value := range settings {
		file := filepath.Join(at, name)
		if _, err := os.Stat(file); err != nil {
			continue // of the other version
		}
		if err := os.WriteFile(file, []byte(value), 0o600); err != nil {
			t.Skipf("no control group with %s can be made here: %v", name, err)
		}
		made++
	}
	if made == 0 {
		t.Skipf("control groups have no %s here", controller)
	}
	return script("echo $$ >" + filepath.Join(at, "cgroup.procs"))
}

// bare is a root directory with netdyno in Go, this program and nothing else.
func bare(t *testing.T, w where) []string {
	t.Helper()
	own := self(t)
	if file, err := elf.Open(own); err != nil || file.Section(".interp") != nil {
		t.Skip("this test is linked with libraries; CGO_ENABLED=0 links it with none")
	}
	top := filepath.Join(w.work, "root")
	for _, name := range []string{"bin", "proc", "dev", "tmp"} {
		dir(t, where{work: top}, name)
	}
	for _, name := range programsInGo {
		copied(t, filepath.Join(w.bin, name), filepath.Join(top, "bin", name))
	}
	copied(t, own, filepath.Join(top, "bin", filepath.Base(own)))
	return append(mounts(t, fmt.Sprintf("mount -t proc proc %s/proc; mount --bind /dev %[1]s/dev", top)), root(t, "chroot"), top)
}
