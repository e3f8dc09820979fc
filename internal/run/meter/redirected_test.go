package meter

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// published is what a container's published port is: address translation into another
// network namespace, where the server listens.
const published = `table ip t {
	chain out {
		type nat hook output priority -100
		ip daddr 10.99.0.1 tcp dport 8080 dnat to 10.99.0.2:9090
	}
	chain back {
		type nat hook postrouting priority 100
		ip daddr 10.99.0.2 masquerade
	}
}
`

const translated = `table ip t {
	chain out {
		type nat hook output priority -100
		tcp dport 8080 dnat to 127.0.0.1:9090
	}
}
`

// transparently leads connections to a transparent proxy, which takes them at the address
// to which they were made.
const transparently = `table ip t {
	chain in {
		type filter hook prerouting priority mangle
		tcp dport 8080 tproxy to 127.0.0.1:9090 accept
	}
}
`

// way is one way in which connections to an address come to whom they do not name.
type way struct {
	name  string
	rules string                                    // nft's, in a network namespace of the test's own; "" for none
	start func(t *testing.T) (at string, bys []int) // who listens but does not serve
}

// ways are the redirections. Whatever way a connection takes, whoever answers is in the
// account, and nobody who does not; or there is no account, with the reason.
var ways = []way{
	{"nft dnat", translated, besideBystander("127.0.0.1:8080")},
	{"nft redirect", redirect, besideBystander("127.0.0.1:8080")},
	{"nft tproxy", transparently, func(t *testing.T) (string, []int) {
		_, bystander := startServing(t, "alone", "127.0.0.1:8080")
		startServing(t, "transparent", "127.0.0.1:9090")
		return "127.0.0.1:8080", []int{bystander}
	}},
	{"socat", "", func(t *testing.T) (string, []int) {
		needs(t, "socat")
		backend, _ := startServing(t, "alone", "127.0.0.1:0")
		return startCommand(t, "socat", "TCP-LISTEN:{port},bind=127.0.0.1,fork", "TCP:"+backend), nil
	}},
	{"a forwarder", "", func(t *testing.T) (string, []int) {
		backend, _ := startServing(t, "alone", "127.0.0.1:0")
		at, _ := startServing(t, "asks", backend)
		return at, nil
	}},
	{"a socket handed over by a parent", "", func(t *testing.T) (string, []int) {
		needs(t, "systemd-socket-activate")
		return startCommand(t, "systemd-socket-activate", "-l", "127.0.0.1:{port}", os.Args[0], "worker", "serves", "takes-from-parent"), nil
	}},
	{"an IPv6 socket", "", func(t *testing.T) (string, []int) {
		at, _ := startServing(t, "alone", "[::]:0")
		_, port, _ := net.SplitHostPort(at)
		return "127.0.0.1:" + port, nil
	}},
	{"a BPF program among processes that share a port", "", func(t *testing.T) (string, []int) {
		at, _ := startServing(t, "selected", "127.0.0.1:0", "1")
		startServing(t, "shares", at)
		return at, nil
	}},
	{"a published port", published, func(t *testing.T) (string, []int) {
		elsewhere := exec.Command("unshare", "--net", "sleep", "infinity")
		elsewhere.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := elsewhere.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = elsewhere.Process.Kill(); _ = elsewhere.Wait() })
		there := strconv.Itoa(elsewhere.Process.Pid)
		until(t, "its namespace is another", func() bool {
			a, _ := os.Readlink("/proc/thread-self/ns/net")
			b, _ := os.Readlink("/proc/" + there + "/ns/net")
			return a != b
		})
		command(t, "ip", "link", "add", "redirect0", "type", "veth", "peer", "name", "redirect1", "netns", there)
		command(t, "ip", "addr", "add", "10.99.0.1/24", "dev", "redirect0")
		command(t, "ip", "link", "set", "redirect0", "up")
		command(t, "nsenter", "--net", "--target", there, "ip", "addr", "add", "10.99.0.2/24", "dev", "redirect1")
		command(t, "nsenter", "--net", "--target", there, "ip", "link", "set", "redirect1", "up")
		_, bystander := startServing(t, "alone", "10.99.0.1:8080")
		startCommandAt(t, "10.99.0.2:9090", "nsenter", "--net", "--target", there, os.Args[0], "worker", "serves", "alone", "10.99.0.2:9090")
		return "10.99.0.1:8080", []int{bystander}
	}},
}

// besideBystander starts who listens at an address and, elsewhere, who serves there.
func besideBystander(at string) func(*testing.T) (string, []int) {
	return func(t *testing.T) (string, []int) {
		_, bystander := startServing(t, "alone", at)
		startServing(t, "alone", "127.0.0.1:9090")
		return at, []int{bystander}
	}
}

func TestNoWayYieldsAnAccountOfWhoDidNotServe(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			apart(t, w.rules)
			at, bystanders := w.start(t)
			m, _ := attachedTo(t, at)
			all := dialAll(t, at, 3)
			idle := m.markAttached(false)
			served := ask(t, all)
			from := m.markAttached(true)
			ask(t, all)
			to := m.markAttached(false)
			t.Logf("process %v answered; the account is of %v (%v), onward %+v, why not: %q", served, to.Attached.PIDs, to.Attached.Names, to.Attached.Onward, to.Attached.Why)
			if idle.Attached.Why != "" {
				if to.Attached.Why == "" || len(to.Attached.PIDs) > 0 {
					t.Errorf("first %q, then an account of %v", idle.Attached.Why, to.Attached.PIDs)
				}
				return
			}
			for _, pid := range bystanders {
				if slices.Contains(to.Attached.PIDs, pid) {
					t.Errorf("process %d only listens there, and is in the account of %v", pid, to.Attached.PIDs)
				}
			}
			for _, pid := range served {
				if !slices.Contains(to.Attached.PIDs, pid) && to.Attached.Onward == nil {
					t.Errorf("process %d served, and the account is of %v", pid, to.Attached.PIDs)
				}
			}
			if to.Attached.Onward == nil {
				grew(t, from, to, int64(len(all))*int64(spent))
			}
		})
	}
}

// nginx's workers accept; which of them answers, it says itself.
func TestAPreForkingServerIsMetered(t *testing.T) {
	needs(t, "nginx")
	dir := t.TempDir()
	at := startCommand(t, "nginx", "-p", dir, "-c", write(t, dir, `daemon off; pid nginx.pid; error_log stderr; worker_processes 2;
events {} http { access_log off; server { listen 127.0.0.1:{port} reuseport; return 200 $pid; } }`))
	m, _ := attachedTo(t, at)
	m.markAttached(true)
	served := map[string]bool{}
	for range 20 {
		c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := c.Get("http://" + at)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		served[string(body)] = true
	}
	to := m.markAttached(false)
	for pid := range served {
		if n, _ := strconv.Atoi(pid); !slices.Contains(to.Attached.PIDs, n) {
			t.Errorf("process %s served, and the account is of %v", pid, to.Attached.PIDs)
		}
	}
	if to.Process.Processes != 3 || to.Attached.Why != "" {
		t.Errorf("%+v, %+v; want nginx with its two workers", to.Process, to.Attached)
	}
}

// A process for each connection: what those have used that have ended counts where their
// parent waited for them, and is said to be missing where nobody did.
func TestAProcessForEachConnection(t *testing.T) {
	const connections = 10
	for way, waited := range map[string]bool{"forks-each": true, "abandons-each": false} {
		t.Run(way, func(t *testing.T) {
			at, pid := startServing(t, way, "127.0.0.1:0")
			m, _ := attachedTo(t, at)
			m.markAttached(false)
			children := func() string {
				text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
				return string(text)
			}
			from := m.markAttached(true)
			for range connections {
				c, err := net.Dial("tcp", at)
				if err != nil {
					t.Fatal(err)
				}
				ask(t, []net.Conn{c})
				_ = c.Close()
			}
			until(t, "its children have ended", func() bool { return strings.TrimSpace(children()) == "" })
			to := m.markAttached(false)
			if got := to.Process.CPUNs - from.Process.CPUNs; waited && got < connections*int64(spent) {
				t.Errorf("the account grew by %d ms, and the children used more than %d ms", got/1e6, connections*int64(spent)/1e6)
			}
			if lost := to.Attached.Lost > from.Attached.Lost; lost == waited {
				t.Errorf("lost %d, then %d", from.Attached.Lost, to.Attached.Lost)
			}
		})
	}
}

// A program that the worker started is metered by its own processes, unless others answer
// in its place: then there is no account, with who it was.
func TestAProgramInWhosePlaceOthersServe(t *testing.T) {
	nobody := func(*testing.T, string) {}
	for name, c := range map[string]struct {
		way    string
		load   string
		beside func(t *testing.T, at string) // who is there besides
		why    string
	}{
		"its own process":                 {"shares", `{}`, nobody, ""},
		"its process for each connection": {"forks-each", `{}`, nobody, ""},
		"its process for each exchange":   {"forks-each", `{"fresh":true}`, nobody, ""},
		"one that nobody waits for":       {"abandons-each", `{"fresh":true}`, nobody, ""},
		"a process that shares its port":  {"shares", `{}`, func(t *testing.T, at string) { startServing(t, "shares", at) }, "answers on"},
	} {
		t.Run(name, func(t *testing.T) {
			m := run(t, bounds{}, "starts", c.way, "127.0.0.1:0")
			m.send(`{"setup":{"role":"server","load":` + c.load + `}}`)
			ready, line := m.next()
			if ready.Ready == nil || ready.Meter == nil || ready.Meter.Attached != nil {
				t.Fatalf("got %q, want ready with a reading of its own", line)
			}
			at := ready.Ready.Addresses[0]
			c.beside(t, at)
			dialAll(t, at, 4)
			m.send(`{"mark":{"id":1,"reset":false}}`)
			answer, line := m.next()
			if answer.Meter == nil {
				t.Fatalf("got %q, want a reading", line)
			}
			why := ""
			if a := answer.Meter.Attached; a != nil { // of ended children it may say that they are lost
				why = a.Why
			}
			if (c.why == "") != (why == "") || why != "" && (!strings.Contains(why, c.why) || !strings.Contains(why, "which the server's command has not started")) {
				t.Errorf("why not: %q, want %q", why, c.why)
			}
		})
	}
}

// What a server behind a Unix socket asks of others is told, as of any other.
func TestAFrontAtAUnixSocketIsTold(t *testing.T) {
	backend, _ := startServing(t, "alone", "127.0.0.1:0")
	path := filepath.Join(t.TempDir(), "x.sock")
	_, front := startServing(t, "unix-front", path, backend)
	m, ready := attachedTo(t, "unix:"+path)
	if !slices.Equal(ready.Attached.PIDs, []int{front}) {
		t.Errorf("attached to %+v, want process %d", ready.Attached, front)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ask(t, []net.Conn{c})
	m.markAttached(false)
	m.markAttached(true)
	ask(t, []net.Conn{c})
	if o := m.markAttached(false).Attached.Onward; o == nil || !slices.Equal(o.To, []string{backend}) {
		t.Errorf("it asked %+v, want %s", o, backend)
	}
}

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(program + " is not installed")
	}
}

func command(t *testing.T, argv ...string) {
	t.Helper()
	if said, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Skipf("%v: %v: %s", argv, err, said)
	}
}

func write(t *testing.T, dir, text string) string {
	t.Helper()
	file := filepath.Join(dir, "configuration")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// startCommand starts a program that listens on a free port, which stands for {port} in
// its arguments and in the file that the last one names, and returns the address.
func startCommand(t *testing.T, argv ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	if last := argv[len(argv)-1]; filepath.Base(last) == "configuration" {
		text, err := os.ReadFile(last)
		if err == nil {
			err = os.WriteFile(last, []byte(strings.ReplaceAll(string(text), "{port}", port)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "{port}", port)
	}
	at := "127.0.0.1:" + port
	startCommandAt(t, at, argv...)
	return at
}

// startCommandAt starts a program and waits until connections to the address are taken.
func startCommandAt(t *testing.T, at string, argv ...string) {
	t.Helper()
	c := exec.Command(argv[0], argv[1:]...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
	})
	until(t, argv[0]+" listens", func() bool {
		conn, err := net.Dial("tcp", at)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > timeout {
			t.Fatalf("not within %v: %s", timeout, what)
		}
	}
}
