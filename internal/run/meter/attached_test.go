package meter

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
)

func init() {
	actors["stands"] = stands
	actors["starts"] = starts
	actors["listener"] = listener
	actors["attachable"] = func(args []string) {
		found, err := Attachable(netip.MustParseAddrPort(args[0]))
		fmt.Println(found.PIDs, err)
	}
}

// starts is a worker that starts a server of the user's, and says where it listens.
func starts(args []string) {
	c := again(append([]string{"serves"}, args...)...)
	c.Stdout = nil
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := c.StdoutPipe()
	panicOn(err)
	panicOn(c.Start())
	at, err := bufio.NewReader(out).ReadString('\n')
	panicOn(err)
	answerAs(fmt.Sprintf(`{"ready":{"addresses":[%q],"foreign":true}}`, strings.TrimSpace(at)))
}

// stands is a worker that stands for the server at an address.
func stands(args []string) {
	answerAs(fmt.Sprintf(`{"ready":{"addresses":[%q],"foreign":true,"elsewhere":true}}`, args[0]))
}

// answerAs answers a setup by a line, and every mark.
func answerAs(ready string) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		line := in.Text()
		switch {
		case strings.HasPrefix(line, `{"setup"`):
			fmt.Println(ready)
		case strings.HasPrefix(line, `{"mark"`):
			fmt.Println(strings.TrimSuffix(line, "}}") + `,"reading":{"at_ns":1,"cpu_ns":2,"counts":{}}}}`)
		}
	}
}

// listener is a server that no process of the test has started. It prints its address,
// carries out the commands that it reads, and prints after each the CPU time that the
// command took, in ns.
//
//	burn        works itself
//	child       works in a child and waits for the child
//	fork        starts a child that holds the socket too and works
//	kill        ends that child and waits for it
//	abandon     starts a child and does not wait for its end
//	quit        ends, and leaves the abandoned child
func listener(args []string) {
	if args[0] == "works" {
		burn(200 * time.Millisecond)
		fmt.Println(usedCPU())
		if len(args) > 1 {
			_, _ = bufio.NewReader(os.Stdin).ReadBytes(0)
		}
		return
	}
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		panic(err)
	}
	socket, err := l.File()
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	var child *exec.Cmd
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		before := usedCPU()
		switch in.Text() {
		case "burn":
			burn(200 * time.Millisecond)
			fmt.Println(usedCPU() - before)
		case "child":
			c := again("listener", "works")
			c.Stdout = nil
			if err := c.Run(); err != nil {
				panic(err)
			}
			fmt.Println(int64(c.ProcessState.UserTime()+c.ProcessState.SystemTime()) + usedCPU() - before)
		case "abandon":
			signal.Ignore(unix.SIGCHLD)
			fallthrough
		case "fork":
			child = again("listener", "works", "on")
			child.ExtraFiles = []*os.File{socket}
			if _, err := child.StdinPipe(); err != nil {
				panic(err)
			}
			if err := child.Start(); err != nil { // it prints what it used
				panic(err)
			}
		case "kill":
			_ = child.Process.Kill()
			_ = child.Wait() // of an abandoned one nobody hears
			for unix.Kill(child.Process.Pid, 0) == nil {
				time.Sleep(time.Millisecond)
			}
			fmt.Println(usedCPU() - before)
		case "quit":
			return
		}
	}
}

// outsider is a listener's process as the test drives it.
type outsider struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Reader
	at  string
}

func startListener(t *testing.T) *outsider {
	t.Helper()
	o := &outsider{t: t, cmd: again("listener", "serve")}
	o.cmd.Stdout = nil
	in, err := o.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = o.cmd.Process.Kill()
		_ = o.cmd.Wait()
	})
	o.in, o.out = in, bufio.NewReader(out)
	o.at = o.line()
	return o
}

func (o *outsider) line() string {
	o.t.Helper()
	line, err := o.out.ReadString('\n')
	if err != nil {
		o.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// do gives an order and returns the CPU time that it took.
func (o *outsider) do(order string) int64 {
	o.t.Helper()
	if _, err := fmt.Fprintln(o.in, order); err != nil {
		o.t.Fatal(err)
	}
	spent, err := strconv.ParseInt(o.line(), 10, 64)
	if err != nil {
		o.t.Fatal(err)
	}
	return spent
}

// attachedTo runs a meter whose worker stands for a server, up to its ready.
func attachedTo(t *testing.T, at string) (*metered, *contract.Meter) {
	t.Helper()
	m := run(t, bounds{}, "stands", at)
	m.send(`{"setup":{}}`)
	ready, line := m.next()
	if ready.Ready == nil || ready.Meter == nil {
		t.Fatalf("got %q, want ready with a reading", line)
	}
	return m, ready.Meter
}

func (m *metered) markAttached(reset bool) *contract.Meter {
	m.t.Helper()
	m.send(fmt.Sprintf(`{"mark":{"id":1,"reset":%v}}`, reset))
	answer, line := m.next()
	if answer.Mark == nil || answer.Meter == nil || answer.Meter.Attached == nil {
		m.t.Fatalf("got %q, want a reading of a server elsewhere", line)
	}
	return answer.Meter
}

// grew holds the CPU time between two readings against what the server says it
// used: what was waited for is cut to ticks of 10 ms, and idling costs a little.
func grew(t *testing.T, from, to *contract.Meter, spent int64) {
	t.Helper()
	if got := to.Process.CPUNs - from.Process.CPUNs; got < spent-40e6 || got > spent+200e6 || to.Attached.Lost != from.Attached.Lost {
		t.Errorf("the account grew by %d ms, the server used %d ms; lost %d", got/1e6, spent/1e6, to.Attached.Lost)
	}
}

// A server that somebody else started is metered in its worker's place, its forks
// included; children of the server that have ended are in the server's own counters.
func TestAServerOfOthersIsMetered(t *testing.T) {
	s := startListener(t)
	m, ready := attachedTo(t, s.at)
	pid, name := s.cmd.Process.Pid, filepath.Base(os.Args[0])
	if a := ready.Attached; a == nil || !slices.Equal(a.PIDs, []int{pid}) || !slices.Equal(a.Names, []string{name}) || a.Why != "" {
		t.Fatalf("attached to %+v, want process %d, %s", a, pid, name)
	}
	if p := ready.Process; p.Processes != 1 || p.RSSBytes == 0 || p.Threads == 0 {
		t.Errorf("its account is %+v", p)
	}
	from := m.markAttached(true)
	grew(t, from, m.markAttached(false), 0)
	for _, order := range []string{"burn", "child"} {
		from = m.markAttached(true)
		spent := s.do(order)
		grew(t, from, m.markAttached(false), spent)
	}
	from = m.markAttached(true)
	spent := s.do("fork")
	to := m.markAttached(false)
	if to.Process.Processes != 2 {
		t.Errorf("%d processes, want 2", to.Process.Processes)
	}
	grew(t, from, to, spent)
	from = m.markAttached(true)
	spent = s.do("kill")
	grew(t, from, m.markAttached(false), spent)
}

// Whose time is in nobody's account is counted as lost.
func TestLostProcessesAreCounted(t *testing.T) {
	s := startListener(t)
	m, _ := attachedTo(t, s.at)
	s.do("abandon")
	from := m.markAttached(true)
	s.do("kill")
	// The listener ignores its children by now, so that where others of this host begin
	// eight processes meanwhile, one more may have been among them.
	if to := m.markAttached(false); to.Attached.Lost <= from.Attached.Lost || to.Attached.Lost > from.Attached.Lost+2 || to.Attached.Why != "" {
		t.Errorf("attached %+v, then %+v; want one more lost", from.Attached, to.Attached)
	}

	s = startListener(t)
	m, _ = attachedTo(t, s.at)
	s.do("fork")
	from = m.markAttached(true)
	fmt.Fprintln(s.in, "quit")
	_ = s.cmd.Wait()
	if to := m.markAttached(false); to.Attached.Lost != from.Attached.Lost+1 || to.Process.Processes != 1 {
		t.Errorf("attached %+v, then %+v, %+v; want the parent lost", from.Attached, to.Attached, to.Process)
	}

	s = startListener(t)
	m, _ = attachedTo(t, s.at)
	m.markAttached(true)
	fmt.Fprintln(s.in, "quit")
	_ = s.cmd.Wait()
	if to := m.markAttached(false); to.Attached.Why != "its processes have ended" || to.Process.Processes != 1 {
		t.Errorf("attached %+v, want that it ended", to.Attached)
	}
}

// Where there is no server's process to read, the worker's own account stays, and
// the reason is one clause.
func TestServersThatCannotBeMetered(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := closed.Addr().String()
	_ = closed.Close()
	_, ready := attachedTo(t, at)
	if a := ready.Attached; a == nil || !strings.Contains(a.Why, "no connection to "+at+" was made") || ready.Process.Processes != 1 {
		t.Errorf("attached %+v, want why not", ready.Attached)
	}
	if _, ready = attachedTo(t, "192.0.2.1:80"); ready.Attached != nil {
		t.Errorf("attached %+v to another host", ready.Attached)
	}
	if os.Geteuid() != 0 {
		t.Skip("other users cannot be played without root")
	}
	// Another user may not see whose the socket is.
	directory, err := os.MkdirTemp("", "meter")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(directory)
	program := filepath.Join(directory, "meter.test")
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
	s := startListener(t)
	c := exec.Command(program, "worker", "attachable", s.at)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	said, err := c.CombinedOutput()
	if want := "what listens on " + s.at + " belongs to user root; run netdyno as that user or as root"; err != nil || !strings.Contains(string(said), want) {
		t.Errorf("%q, %v; want %q", said, err, want)
	}
}

// A server from which the meter itself descends is metered without its
// descendants, which are not the server's.
func TestAnAncestorIsMeteredAlone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, ready := attachedTo(t, l.Addr().String()); ready.Process.Processes != 1 || !slices.Equal(ready.Attached.PIDs, []int{os.Getpid()}) {
		t.Errorf("%+v, attached %+v", ready.Process, ready.Attached)
	}
}
