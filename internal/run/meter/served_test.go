package meter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
)

// spent is the CPU time that a serving actor uses for every request.
const spent = 20 * time.Millisecond

func init() { actors["serves"] = serves }

// serves is a server, or one process of a server. Its arguments are a way of serving,
// then what that way needs. It prints its address when it listens. A request is one byte;
// the answer is the serving process's id in 8 bytes.
//
//	alone ADDRESS          one process
//	shares ADDRESS         one of several processes that share a port by SO_REUSEPORT
//	forks N                a parent that does not serve; N children hold its listening socket and serve
//	worker                 such a child
//	passes PATH            accepts, and hands every connection to whoever takes it at the socket PATH
//	takes PATH             serves the connections that are handed over at PATH
//	leaves N               stops listening after N connections
//	takes-from-parent      serves at a socket that a parent hands over as file descriptor 3
//	selected ADDRESS N     one of several that share a port, whose connections a BPF program all gives to process N
//	transparent ADDRESS    serves connections to other addresses too (IP_TRANSPARENT)
//	forks-each ADDRESS     a process for each connection, for whose end it waits
//	abandons-each ADDRESS  the same, and ignores the end of its children
//	one                    such a process
//	unix-front PATH BACKEND  passes what comes to a Unix socket on to another server
//	asks BACKEND           asks another server, on one connection for every connection of a client
//	asks-anew BACKEND      asks another server, on a new connection for every request
func serves(args []string) {
	way, rest := args[0], args[1:]
	switch way {
	case "alone":
		serveAll(listenAt(rest[0], false), answerSelf)
	case "shares":
		serveAll(listenAt(rest[0], true), answerSelf)
	case "forks":
		forkWorkers(rest[0])
	case "worker":
		l, err := net.FileListener(os.NewFile(3, "listener"))
		panicOn(err)
		for {
			c, err := l.Accept()
			panicOn(err)
			answerSelf(c)
		}
	case "passes":
		passOn(rest[0])
	case "takes":
		takeOver(rest[0])
	case "leaves":
		n, err := strconv.Atoi(rest[0])
		panicOn(err)
		l := listenAt("127.0.0.1:0", false)
		for range n {
			c, err := l.Accept()
			panicOn(err)
			go answerSelf(c)
		}
		_ = l.Close()
		untilKilled()
	case "takes-from-parent":
		l, err := net.FileListener(os.NewFile(3, "listener"))
		panicOn(err)
		serveAll(l, answerSelf)
	case "selected":
		serveAll(listenSelected(rest[0], rest[1]), answerSelf)
	case "transparent":
		serveAll(listenWith(rest[0], func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_TRANSPARENT, 1) }), answerSelf)
	case "forks-each", "abandons-each":
		forkEach(rest[0], way == "forks-each")
	case "one":
		c, err := net.FileConn(os.NewFile(3, "connection"))
		panicOn(err)
		answerSelf(c)
	case "unix-front":
		l, err := net.Listen("unix", rest[0])
		panicOn(err)
		fmt.Println(l.Addr())
		serveAll(l, passTo(rest[1]))
	case "asks":
		serveAll(listenAt("127.0.0.1:0", false), passTo(rest[0]))
	case "asks-anew":
		serveAll(listenAt("127.0.0.1:0", false), func(c net.Conn) {
			for one := make([]byte, 1); ; {
				if _, err := io.ReadFull(c, one); err != nil {
					return
				}
				backend, err := net.Dial("tcp", rest[0])
				panicOn(err)
				_, _ = backend.Write(one)
				_, _ = io.CopyN(c, backend, 8)
				_ = backend.Close()
			}
		})
	}
}

func panicOn(err error) {
	if err != nil {
		panic(err)
	}
}

// passTo forwards a connection to another server.
func passTo(backend string) func(net.Conn) {
	return func(c net.Conn) {
		to, err := net.Dial("tcp", backend)
		panicOn(err)
		go func() { _, _ = io.Copy(to, c) }()
		_, _ = io.Copy(c, to)
	}
}

// listenAt listens and says where.
func listenAt(address string, shared bool) net.Listener {
	return listenWith(address, func(fd int) error {
		if !shared {
			return nil
		}
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
}

// listenSelected shares a port; a classic BPF program gives every connection to process N
// of those that share it, in the order in which they began to listen.
func listenSelected(address, n string) net.Listener {
	number, err := strconv.ParseUint(n, 10, 8)
	panicOn(err)
	return listenWith(address, func(fd int) error {
		program := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: uint32(number)}}
		return errors.Join(
			unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
			unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF, &unix.SockFprog{Len: 1, Filter: &program[0]}))
	})
}

// listenWith listens at a socket that is set up first, and says where.
func listenWith(address string, set func(fd int) error) net.Listener {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		_ = c.Control(func(fd uintptr) { err = set(int(fd)) })
		return err
	}}
	l, err := config.Listen(context.Background(), "tcp", address)
	panicOn(err)
	fmt.Println(l.Addr())
	return l
}

func serveAll(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		panicOn(err)
		go serve(c)
	}
}

// answerSelf works for every request and says who did.
func answerSelf(c net.Conn) {
	defer c.Close()
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(c, one); err != nil {
			return
		}
		burn(spent)
		fmt.Fprintf(c, "%08d", os.Getpid())
	}
}

func forkWorkers(number string) {
	n, err := strconv.Atoi(number)
	panicOn(err)
	l := listenAt("127.0.0.1:0", false)
	socket, err := l.(*net.TCPListener).File()
	panicOn(err)
	for range n {
		c := again("serves", "worker")
		c.Stdout, c.ExtraFiles = nil, []*os.File{socket}
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		panicOn(c.Start())
	}
	untilKilled()
}

// forkEach starts a process for every connection.
func forkEach(address string, waits bool) {
	l := listenAt(address, false)
	if !waits {
		signal.Ignore(unix.SIGCHLD)
	}
	serveAll(l, func(c net.Conn) {
		socket, err := c.(*net.TCPConn).File()
		panicOn(err)
		child := again("serves", "one")
		child.Stdout, child.ExtraFiles = nil, []*os.File{socket}
		child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		runtime.LockOSThread() // whose end would be the child's
		panicOn(child.Start())
		_, _ = socket.Close(), c.Close()
		_ = child.Wait() // of ignored ones until none is left
	})
}

// untilKilled waits. A select of nothing would not: where nothing else waits, the runtime
// takes it for a deadlock.
func untilKilled() {
	for {
		time.Sleep(time.Hour)
	}
}

func passOn(path string) {
	l := listenAt("127.0.0.1:0", false)
	for {
		c, err := l.Accept()
		panicOn(err)
		f, err := c.(*net.TCPConn).File()
		panicOn(err)
		to, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path})
		panicOn(err)
		_, _, err = to.WriteMsgUnix([]byte{0}, unix.UnixRights(int(f.Fd())), nil)
		panicOn(err)
		_, _ = to.Read(make([]byte, 1)) // it is taken
		_, _, _ = to.Close(), f.Close(), c.Close()
	}
}

func takeOver(path string) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	panicOn(err)
	fmt.Println(path)
	for {
		from, err := l.AcceptUnix()
		panicOn(err)
		control := make([]byte, 64)
		_, n, _, _, err := from.ReadMsgUnix(make([]byte, 1), control)
		panicOn(err)
		messages, err := unix.ParseSocketControlMessage(control[:n])
		panicOn(err)
		fds, err := unix.ParseUnixRights(&messages[0])
		panicOn(err)
		taken := os.NewFile(uintptr(fds[0]), "connection")
		c, err := net.FileConn(taken)
		panicOn(err)
		_ = taken.Close()
		go answerSelf(c)
		_ = from.Close()
	}
}

// startServing starts a serving actor and returns its address and process.
func startServing(t *testing.T, args ...string) (at string, pid int) {
	t.Helper()
	c := again(append([]string{"serves"}, args...)...)
	c.Stdout = nil
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), c.Process.Pid
}

// dialAll opens connections and asks once on each: whoever answers has accepted it.
func dialAll(t *testing.T, at string, n int) []net.Conn {
	t.Helper()
	var all []net.Conn
	for range n {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		all = append(all, c)
	}
	ask(t, all)
	return all
}

// ask makes a request on every connection and returns who answered.
func ask(t *testing.T, all []net.Conn) (pids []int) {
	t.Helper()
	for _, c := range all {
		answer := make([]byte, 8)
		_ = c.SetDeadline(time.Now().Add(timeout))
		if _, err := c.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, answer); err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(string(answer))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// whoServed holds the account against who answered, over a window with a request on
// every connection.
func whoServed(t *testing.T, m *metered, all []net.Conn) (to *contract.Meter, served []int) {
	t.Helper()
	idle := m.markAttached(false)
	served = ask(t, all)
	if idle.Attached.Why != "" {
		t.Fatalf("before the window: %s", idle.Attached.Why)
	}
	for _, pid := range served {
		if !slices.Contains(idle.Attached.PIDs, pid) {
			t.Errorf("process %d served, and of %v it is none", pid, idle.Attached.PIDs)
		}
	}
	from := m.markAttached(true)
	ask(t, all)
	to = m.markAttached(false)
	if to.Attached.Why != "" {
		t.Fatalf("after the window: %s", to.Attached.Why)
	}
	grew(t, from, to, int64(len(all))*int64(spent))
	return to, served
}

// apart gives the test a network namespace of its own, with whatever it starts.
func apart(t *testing.T, rules string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root makes network namespaces")
	}
	needs(t, "nft")
	runtime.LockOSThread() // for good: the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"ip", "link", "set", "lo", "up"}, {"nft", "-f", "-"}} {
		c := exec.Command(argv[0], argv[1:]...)
		c.Stdin = strings.NewReader(rules)
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", argv, err, said)
		}
	}
}

// redirect leads what is sent to one port of the loopback to another one.
const redirect = `table ip t {
	chain out {
		type nat hook output priority -100
		tcp dport 8080 redirect to :9090
	}
}
`

// Address translation leads connections to another process than the one that listens at
// their address. The process that answers is metered.
func TestWhoAnswersIsMetered(t *testing.T) {
	apart(t, redirect)
	_, bystander := startServing(t, "alone", "127.0.0.1:8080")
	_, server := startServing(t, "alone", "127.0.0.1:9090")
	m, ready := attachedTo(t, "127.0.0.1:8080")
	if !slices.Equal(ready.Attached.PIDs, []int{server}) {
		t.Errorf("when it is ready: %+v; process %d serves, %d listens there", ready.Attached, server, bystander)
	}
	to, _ := whoServed(t, m, dialAll(t, "127.0.0.1:8080", 3))
	if !slices.Equal(to.Attached.PIDs, []int{server}) || to.Process.Processes != 1 {
		t.Errorf("read %+v; process %d served, %d only listened there", to.Attached, server, bystander)
	}
}

// Where address translation hides the server's end of a connection, there is no account
// but a reason.
func TestWhoCannotBeToldIsNotMetered(t *testing.T) {
	apart(t, strings.TrimSuffix(redirect, "}\n")+`	chain back {
		type nat hook postrouting priority 100
		tcp dport 9090 snat to 127.0.0.9
	}
}
`)
	startServing(t, "alone", "127.0.0.1:8080")
	startServing(t, "alone", "127.0.0.1:9090")
	m, ready := attachedTo(t, "127.0.0.1:8080")
	dialAll(t, "127.0.0.1:8080", 2)
	idle := m.markAttached(false)
	for _, a := range []*contract.Attached{ready.Attached, idle.Attached} {
		if !strings.Contains(a.Why, "who answers on 127.0.0.1:8080 cannot be told") || len(a.PIDs) > 0 {
			t.Errorf("attached %+v, want why not", a)
		}
	}
}

// Whatever way a connection takes to the process that answers on it, that process is
// in the account.
func TestEveryWayToServeIsMetered(t *testing.T) {
	for _, c := range []struct {
		name  string
		start func(*testing.T) string
		least int // processes that the account holds
	}{
		{"one process", func(t *testing.T) string { at, _ := startServing(t, "alone", "127.0.0.1:0"); return at }, 1},
		{"processes that share a port", func(t *testing.T) string {
			at, _ := startServing(t, "shares", "127.0.0.1:0")
			startServing(t, "shares", at)
			startServing(t, "shares", at)
			return at
		}, 3},
		{"workers that inherit the socket", func(t *testing.T) string { at, _ := startServing(t, "forks", "4"); return at }, 5},
		{"a process that is handed its connections", func(t *testing.T) string {
			path := t.TempDir() + "/socket"
			startServing(t, "takes", path)
			at, _ := startServing(t, "passes", path)
			return at
		}, 2},
		{"one that listens no more", func(t *testing.T) string { at, _ := startServing(t, "leaves", "4"); return at }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := c.start(t)
			m, _ := attachedTo(t, at)
			to, _ := whoServed(t, m, dialAll(t, at, 3))
			if to.Process.Processes < c.least || to.Attached.Onward != nil {
				t.Errorf("read %d processes, want at least %d: %+v", to.Process.Processes, c.least, to.Attached)
			}
		})
	}
}

// Of what a server asks others for, the connections and their bytes are told.
func TestWhatAServerAsksOfOthersIsTold(t *testing.T) {
	const rounds = 3
	backend, _ := startServing(t, "alone", "127.0.0.1:0")
	at, _ := startServing(t, "asks", backend)
	m, _ := attachedTo(t, at)
	all := dialAll(t, at, 2)
	if idle := m.markAttached(false); idle.Attached.Onward != nil {
		t.Errorf("before the load: %+v", idle.Attached.Onward)
	}
	from := m.markAttached(true)
	for range rounds {
		ask(t, all)
	}
	to := m.markAttached(false)
	if from.Attached.Onward != nil || to.Attached.Onward == nil {
		t.Fatalf("%+v, then %+v", from.Attached.Onward, to.Attached.Onward)
	}
	if o := to.Attached.Onward; o.Connections != 2 || o.Begun != 0 || o.Bytes != rounds*2*9 || !slices.Equal(o.To, []string{backend}) {
		t.Errorf("%+v, want two connections to %s with %d requests of 1 and replies of 8 bytes", o, backend, rounds)
	}
}

// A server that asks anew for every request is seen while it does.
func TestAServerThatAsksOnNewConnectionsIsTold(t *testing.T) {
	backend, _ := startServing(t, "alone", "127.0.0.1:0")
	at, _ := startServing(t, "asks-anew", backend)
	m, _ := attachedTo(t, at)
	all := dialAll(t, at, 1)
	m.markAttached(false)
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				ask(t, all)
			}
		}
	}()
	defer func() { close(stop); <-done }()
	for begun := time.Now(); ; { // the moment of a mark may be one between two requests
		if o := m.markAttached(true).Attached.Onward; o != nil {
			if o.Begun == 0 || !slices.Equal(o.To, []string{backend}) {
				t.Errorf("%+v, want a connection to %s that had begun", o, backend)
			}
			return
		}
		if time.Since(begun) > timeout {
			t.Fatal("no connection to the other server was seen")
		}
	}
}
