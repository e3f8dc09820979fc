package pin

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"netdyno/internal/run/cpuset"
)

// TestMain lets this test binary play a server of several threads, and what guards one.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "server":
		serve()
	case len(os.Args) > 3 && os.Args[1] == "guard":
		cpu, _ := strconv.Atoi(os.Args[2])
		pid, _ := strconv.Atoi(os.Args[3])
		if err := Guard([]int{pid}, []int{cpu}, os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
	default:
		os.Exit(m.Run())
	}
}

// serve carries out what it reads, and answers each by a line: "thread" starts a thread,
// "child" a process like this one.
func serve() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println() {
		switch in.Text() {
		case "thread":
			started := make(chan bool)
			go func() {
				runtime.LockOSThread()
				started <- true
				select {}
			}()
			<-started
		case "child":
			c := exec.Command(os.Args[0], "server")
			if _, err := c.StdinPipe(); err != nil {
				panic(err)
			}
			c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			if err := c.Start(); err != nil {
				panic(err)
			}
		}
	}
}

// played is a process that this binary plays.
type played struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func play(t *testing.T, c *exec.Cmd) played {
	t.Helper()
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
	})
	return played{c, in, bufio.NewReader(out)}
}

func (p played) line(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (p played) do(t *testing.T, order string) {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, order); err != nil {
		t.Fatal(err)
	}
	p.line(t)
}

// threads are those of the server and of what it started, with the CPUs of each.
func (p played) threads(t *testing.T) map[int][]int {
	t.Helper()
	s, err := Meet([]int{p.Process.Pid})
	if err != nil {
		t.Fatal(err)
	}
	return s.Had
}

// own are the threads of the server's own process.
func (p played) own(t *testing.T) map[int][]int {
	t.Helper()
	own := map[int][]int{}
	for thread, cpus := range p.threads(t) {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", p.Process.Pid, thread)); err == nil {
			own[thread] = cpus
		}
	}
	return own
}

// server starts one with a process that it started; one of its threads may use the last CPU alone.
func server(t *testing.T) (s played, all []int) {
	t.Helper()
	if all = cpuset.Of(0); len(all) < 2 {
		t.Skip("one CPU")
	}
	s = play(t, exec.Command(os.Args[0], "server"))
	for _, order := range []string{"thread", "thread", "child"} {
		s.do(t, order)
	}
	thread := slices.Max(slices.Collect(maps.Keys(s.own(t))))
	if err := cpuset.Pin(thread, all[len(all)-1:]); err != nil {
		t.Fatal(err)
	}
	return s, all
}

// holds demands that threads have these CPUs, and those that are not among them others.
func holds(t *testing.T, when string, got, want map[int][]int, others []int) {
	t.Helper()
	for thread, cpus := range got {
		expected, known := want[thread]
		if !known {
			expected = others
		}
		if !slices.Equal(cpus, expected) {
			t.Errorf("%s: thread %d may use %v, want %v", when, thread, cpus, expected)
		}
	}
}

// Every thread is held, and gets back exactly what it had; what was started meanwhile gets
// what its process had.
func TestThreadsAreHeldAndGetTheirCPUsBack(t *testing.T) {
	s, all := server(t)
	before := s.threads(t)
	if sets := slices.Collect(maps.Values(before)); len(before) < 5 || !slices.ContainsFunc(sets, func(cpus []int) bool { return len(cpus) == 1 }) {
		t.Fatalf("threads %v, want several, one of them on a CPU of its own", before)
	}
	servers, err := Meet([]int{s.Process.Pid})
	if err == nil {
		err = servers.Pin(all[:1])
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []string{"thread", "child"} {
		s.do(t, order)
	}
	during := s.threads(t)
	if len(during) <= len(before) { // a thread that was idle may serve again
		t.Errorf("%d threads, then %d", len(before), len(during))
	}
	holds(t, "held", during, nil, all[:1])
	if err := servers.Restore(); err != nil {
		t.Fatal(err)
	}
	holds(t, "restored", s.threads(t), before, all)
}

// The guard gives the CPUs back when its stdin ends, as it does when the run is killed.
func TestTheGuardGivesBackWhenItsInputEnds(t *testing.T) {
	s, all := server(t)
	before := s.threads(t)
	guard := play(t, exec.Command(os.Args[0], "guard", strconv.Itoa(all[0]), strconv.Itoa(s.Process.Pid)))
	if line := guard.line(t); line != Held {
		t.Fatal(line)
	}
	holds(t, "held", s.threads(t), nil, all[:1])
	_ = guard.in.Close()
	if err := guard.Wait(); err != nil {
		t.Fatal(err)
	}
	holds(t, "restored", s.threads(t), before, all)
}

// CPUs that cannot be had are refused, and nothing is changed.
func TestWhatCannotBeHad(t *testing.T) {
	s, all := server(t)
	before := s.threads(t)
	const absent = 1000
	for _, cpus := range [][]int{{absent}, {all[0], absent}} {
		servers, err := Meet([]int{s.Process.Pid})
		if err == nil {
			err = servers.Pin(cpus)
		}
		if err == nil || !strings.Contains(err.Error(), "on CPU "+cpuset.Format(cpus)+": ") {
			t.Errorf("%v: %v", cpus, err)
		}
		holds(t, "refused", s.threads(t), before, all)
	}
}

// Another user's processes are refused.
func TestAnotherUsersServer(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("other users cannot be played without root")
	}
	s, all := server(t)
	before := s.threads(t)
	directory, err := os.MkdirTemp("", "pin")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	program := filepath.Join(directory, "pin.test")
	text, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(program, text, 0o755)
	}
	if err == nil {
		err = os.Chmod(directory, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "guard", strconv.Itoa(all[0]), strconv.Itoa(s.Process.Pid))
	c.Dir, c.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	guard := play(t, c)
	if line := guard.line(t); !strings.Contains(line, "operation not permitted") || !strings.Contains(line, "its user or root may") {
		t.Error(line)
	}
	holds(t, "refused", s.threads(t), before, all)
}

// A thread that is started while others are held is met too.
func TestThreadsThatAppearAreMet(t *testing.T) {
	s := play(t, exec.Command(os.Args[0], "server"))
	servers, err := Meet([]int{s.Process.Pid})
	if err != nil {
		t.Fatal(err)
	}
	met := map[int]bool{}
	err = servers.each(func(_, thread int) (bool, error) {
		if met[thread] = true; len(met) > 1 {
			return false, nil
		}
		s.do(t, "thread")
		return true, nil
	})
	if now := s.threads(t); err != nil || len(met) < len(now) || len(now) <= len(servers.Had) {
		t.Errorf("met %v, there are %v, %v", met, now, err)
	}
}

// Servers that have ended need nothing back.
func TestServersThatEnd(t *testing.T) {
	s := play(t, exec.Command(os.Args[0], "server"))
	servers, err := Meet([]int{s.Process.Pid})
	if err == nil {
		err = servers.Pin(cpuset.Of(0)[:1])
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Process.Kill()
	_ = s.Wait()
	if err := servers.Restore(); err != nil {
		t.Error(err)
	}
}
