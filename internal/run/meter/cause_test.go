package meter

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
)

func init() {
	actors["waits"], actors["nurse"], actors["greedy"] = waits, nurse, greedy
}

// waits connects to its peer as often as its first argument says, the second, and
// waits for what never comes.
func waits(args []string) {
	connections, err := strconv.Atoi(args[0])
	if err != nil {
		panic(err)
	}
	for range connections {
		c, err := net.Dial("tcp", args[1])
		if err != nil {
			panic(err)
		}
		defer c.Close()
	}
	fmt.Println(`{"hello":{"contract":1}}`)
	time.Sleep(time.Hour) // select {} would be a deadlock to the runtime, now and then
}

// nurse starts a child, tells its pid and answers marks, the first of which is 1.
func nurse([]string) {
	child := again("sleeper")
	child.Stdout = nil
	if err := child.Start(); err != nil {
		panic(err)
	}
	fmt.Printf(`{"error":{"kind":"bug","text":"%d"}}`+"\n", child.Process.Pid)
	id := 0
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		id++
		fmt.Printf(answer, id, strings.Contains(in.Text(), "true"))
	}
}

// worker returns the process id of the meter's worker.
func (m *metered) worker() int {
	m.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", m.cmd.Process.Pid))
	for tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", m.cmd.Process.Pid)); len(strings.Fields(string(text))) == 0 && len(tasks) > 0; tasks = tasks[1:] {
		text, err = os.ReadFile(tasks[0])
	}
	fields := strings.Fields(string(text))
	if err != nil || len(fields) != 1 {
		m.t.Fatalf("the meter's children are %q, %v; want one", text, err)
	}
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		m.t.Fatal(err)
	}
	return pid
}

func TestAStoppedWorkerIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	m := run(t, bounds{}, "sleeper")
	m.next()
	pid := m.worker()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	got, line := m.next()
	if got.Error == nil || got.Error.Kind != contract.Timeout || !got.Error.Fatal {
		t.Fatalf("got %q, want a fatal error of kind timeout", line)
	}
	for _, want := range []string{"is stopped (SIGSTOP)", fmt.Sprintf("process %d", pid)} {
		if !strings.Contains(got.Error.Text, want) {
			t.Errorf("the error says %q, want in it %q", got.Error.Text, want)
		}
	}
}

// A process that the worker started has the worker as its parent, so the kernel does not
// tell the meter when that process is stopped.
func TestExamineFindsAStoppedDescendant(t *testing.T) {
	t.Parallel()
	m := run(t, bounds{}, "orphans", "stay")
	told, _ := m.next()
	m.next() // ready
	pid, err := strconv.Atoi(told.Error.Text)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var x contract.Examined
	for len(x.Stopped) == 0 { // the signal may be under way; run bounds it
		x = m.examine()
	}
	if len(x.Stopped) != 1 || x.Stopped[0].PID != pid || x.Stopped[0].Traced {
		t.Errorf("got %+v, want process %d as stopped", x, pid)
	}
}

// A worker answers while a process that it has started is stopped. Until the window
// opens, the worker may be the one who stopped it.
func TestAStoppedChildIsReportedWithAReading(t *testing.T) {
	t.Parallel()
	m := run(t, bounds{}, "nurse")
	told, _ := m.next()
	pid, err := strconv.Atoi(told.Error.Text)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for len(m.examine().Stopped) == 0 {
	}
	m.send(`{"mark":{"id":1}}`)
	got, line := m.next()
	if got.Mark == nil {
		t.Errorf("got %q before the window, want the mark's answer alone", line)
	}
	m.send(`{"mark":{"id":2,"reset":true}}`)
	got, line = m.next()
	if got.Error == nil || got.Error.Kind != contract.Timeout || !got.Error.Fatal || !strings.Contains(got.Error.Text, fmt.Sprintf("process %d", pid)) {
		t.Errorf("got %q, want an error about process %d", line, pid)
	}
	if got, line = m.next(); got.Mark == nil {
		t.Errorf("got %q after it, want the mark's answer", line)
	}
}

func TestExamineFindsExhaustedDescriptors(t *testing.T) {
	t.Parallel()
	m := run(t, bounds{}, "greedy")
	told, _ := m.next()
	want := contract.Exhausted{PID: m.worker(), Descriptors: 64}
	var got []contract.Exhausted
	for len(got) == 0 { // the runtime may have closed one of its own; run bounds it
		got = m.examine().Exhausted
	}
	if len(got) != 1 || got[0].PID != want.PID || got[0].Descriptors != want.Descriptors || got[0].Name == "" {
		t.Errorf("got %+v, want %+v; the worker says %+v", got, want, told.Error)
	}
}

// greedy opens all the files that it may.
func greedy([]string) {
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64}); err != nil {
		panic(err)
	}
	for said := false; ; {
		if _, err := unix.Open("/dev/null", unix.O_RDONLY, 0); err == nil {
			continue
		}
		if !said {
			fmt.Println(`{"error":{"kind":"setup","text":"no more"}}`)
		}
		said = true
		// And take what the runtime closes meanwhile. time.Sleep needs a descriptor.
		_ = unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
	}
}

// examine asks the meter what it sees.
func (m *metered) examine() contract.Examined {
	m.t.Helper()
	m.send(`{"examine":{}}`)
	answer, line := m.next()
	if answer.Examined == nil {
		m.t.Fatalf("got %q, want what was examined", line)
	}
	return *answer.Examined
}

func TestExamineCountsSilentConnections(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for said := false; ; said = true { // something on the first connection
			c, err := listener.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			if !said {
				_, _ = c.Write([]byte("half a rep"))
			}
		}
	}()
	m := run(t, bounds{}, "waits", "3", listener.Addr().String())
	m.next()
	m.send(fmt.Sprintf(`{"setup":{"role":"client","peers":[%q],"load":{"connections":3}}}`, listener.Addr()))
	var got contract.Reached
	for got.ReceivedBytes < 10 { // the setup and what was written may be under way; run bounds it
		if r := m.examine().Reached; r != nil {
			got = *r
		}
	}
	if want := (contract.Reached{Connections: 3, Silent: 2, ReceivedBytes: 10}); got != want {
		t.Errorf("reached %+v, want %+v", got, want)
	}
}

// memoryGroup makes a memory cgroup of 64 MiB and returns its directory.
func memoryGroup(t *testing.T) string {
	t.Helper()
	base, limit := "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
	if _, err := os.Stat(base); err != nil {
		base, limit = "/sys/fs/cgroup", "memory.max"
	}
	group := filepath.Join(base, fmt.Sprintf("netdyno-meter-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("no memory cgroup can be made here: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(group, limit), []byte("67108864"), 0o600); err != nil {
		t.Skipf("the memory of a cgroup cannot be limited here: %v", err)
	}
	return group
}

func TestTheKernelsKillForLackOfMemoryIsKnown(t *testing.T) {
	t.Parallel()
	group := memoryGroup(t)
	enter := []string{"sh", "-c", `echo $$ > ` + group + `/cgroup.procs && exec "$@"`, "enter"}
	var out strings.Builder
	argv := append(enter, os.Args[0], "meter", "20s", "0", "", os.Args[0], "worker", "hog")
	c := exec.Command(argv[0], argv[1:]...)
	in, err := c.StdinPipe() // open until its end
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	c.Stdout = &out
	_ = c.Run() // its status is the worker's
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	m, err := contract.Parse([]byte(lines[len(lines)-1]))
	if err != nil || m.Exit == nil {
		t.Fatalf("the meter's last line is %q, %v; want exit", lines[len(lines)-1], err)
	}
	if m.Exit.Signal != "SIGKILL" || m.Exit.Reason != "" {
		t.Skipf("the worker ended otherwise: %+v", *m.Exit)
	}
	if !strings.Contains(m.Exit.OutOfMemory, "of memory cgroup /netdyno-meter-test") {
		t.Errorf("the exit says of memory %q, want its cgroup", m.Exit.OutOfMemory)
	}
}

func TestAKillByAnotherIsNoLackOfMemory(t *testing.T) {
	t.Parallel()
	m := run(t, bounds{}, "suicide")
	if _, exit, _ := m.rest(); exit.Signal != "SIGKILL" || strings.Contains(exit.OutOfMemory, "cgroup") {
		t.Errorf("exit %+v, want a kill that the worker's memory cgroup does not count", exit)
	}
}
