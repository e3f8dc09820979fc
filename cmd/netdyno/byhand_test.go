package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/namespaces"
	"netdyno/internal/run/session"
	"netdyno/test/trials"
)

// terminal is a netdyno listen that a user starts by hand at a host.
type terminal struct {
	t       *testing.T
	command *exec.Cmd
	said    *bufio.Reader // of a server: what it says on stdout
	address string
}

// atHand returns the command of one terminal.
func atHand(t *testing.T, mine family, host rig.Host, args ...string) *exec.Cmd {
	t.Helper()
	line := host.Command(append([]string{filepath.Join(installed(t), "netdyno")}, args...)...)
	c := exec.CommandContext(t.Context(), line[0], line[1:]...)
	c.Env = append(os.Environ(), string(mine))
	return c
}

// listens starts a server at a host and waits until it says where it listens.
func listens(t *testing.T, mine family, host rig.Host, args ...string) *terminal {
	t.Helper()
	args = append([]string{"listen", "bind=" + net.JoinHostPort(host.Address, "0")}, args...)
	l := &terminal{t: t, command: atHand(t, mine, host, args...)}
	out, err := l.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.command.Start(); err != nil {
		t.Fatal(err)
	}
	l.said = bufio.NewReader(out)
	first, err := l.said.ReadString('\n')
	where := regexp.MustCompile(` listens on (\S+), wire `).FindStringSubmatch(first)
	if where == nil {
		t.Fatalf("it began with %q (%v), want where it listens", first, err)
	}
	l.address = where[1]
	return l
}

// ends sends Ctrl-C and returns the rest of what the server said and how it ended.
func (l *terminal) ends() (string, error) {
	l.t.Helper()
	if err := l.command.Process.Signal(syscall.SIGINT); err != nil {
		l.t.Fatal(err)
	}
	rest, _ := io.ReadAll(l.said) // ends with the process
	return string(rest), l.command.Wait()
}

// drives runs a study against a server and returns its directory, its exit
// status and what it said. A run of which a busy machine left no trial is made again.
func drives(t *testing.T, mine family, host rig.Host, at string, levels ...string) (dir session.Directory, status int, said string) {
	t.Helper()
	trials.Repeat(func() bool {
		dir = session.Directory(filepath.Join(t.TempDir(), "run"))
		args := append([]string{"run"}, levels...)
		out, err := atHand(t, mine, host, append(args, "blocks=1", "--rig", "at:"+at, "--out", string(dir))...).CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		status, said = statusOf(exit), string(out)
		return strings.Contains(said, " gave a valid figure") && strings.Contains(said, " invalid") && !lacking.MatchString(said)
	})
	return dir, status, said
}

func statusOf(exit *exec.ExitError) int {
	if exit == nil {
		return 0
	}
	return exit.ExitCode()
}

// reports reads directories anew and returns the findings of the first. A trial that a
// busy machine disturbed does not matter here.
func reports(t *testing.T, of session.Directory, args ...string) (finding.Findings, string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(installed(t), "netdyno"), append([]string{"report"}, args...)...).CombinedOutput()
	if ended := new(exec.ExitError); err != nil && !(errors.As(err, &ended) && finished(ended.ExitCode(), string(out))) {
		t.Fatalf("report %v: %v: %s", args, err, out)
	}
	data, err := os.ReadFile(of.Findings())
	if err != nil {
		t.Fatal(err)
	}
	var f finding.Findings
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f, string(out)
}

func local() rig.Host { return rig.Host{Name: "local", Address: "127.0.0.1"} }

var short = []string{"connections=4", "window=500ms", "warmup=100ms"}

// Two terminals, on one host and across a link between two namespaces: what the
// client cannot see is absent, and the server sums up what it did.
func TestByHand(t *testing.T) {
	t.Parallel()
	t.Run("loopback", func(t *testing.T) { byHand(t, local(), local()) })
	t.Run("namespaces", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("namespaces need root")
		}
		link, err := namespaces.Build(namespaces.Options{Hosts: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := link.Close(); err != nil {
				t.Error(err)
			}
		}()
		byHand(t, link.Hosts()[0], link.Hosts()[1])
	})
}

func byHand(t *testing.T, there, here rig.Host) {
	mine := newFamily(t)
	server := listens(t, mine, there, "transport=go-http1")
	run, code, said := drives(t, mine, here, server.address, append(short, "transport=go-http1")...)
	if !finished(code, said) {
		t.Fatalf("the run ended with status %d: %s", code, said)
	}
	rest, err := server.ends()
	if err != nil || !strings.Contains(rest, " exchanges, ") || !strings.Contains(rest, " per exchange") {
		t.Errorf("the server ended with %v and said %q, want status 0, what it did and spent", err, rest)
	}

	alone, _ := reports(t, run, string(run))
	for _, m := range alone.Cells[0].Arms[0].Metrics {
		if strings.HasPrefix(m.Metric, "server.") || m.Metric == "host.cpu_us_per_exchange" {
			t.Errorf("the client alone knows %s", m.Metric)
		}
	}
	if !warned(alone, "the server on "+server.address+" was not metered") {
		t.Errorf("no warning that the server was not metered: %v", alone.Warnings)
	}
	mine.mustEnd(t)
}

func warned(f finding.Findings, text string) bool {
	for _, w := range f.Warnings {
		if w.About == finding.AboutServer && strings.Contains(w.Text, text) {
			return true
		}
	}
	return false
}

// Clients certain of a server's certificate drive it encrypted.
func TestByHandEncrypted(t *testing.T) {
	t.Parallel()
	mine := newFamily(t)
	certificate := filepath.Join(t.TempDir(), "certificate.pem")
	server := listens(t, mine, local(), "transport=go-http1", "tls=yes", "--certificate", certificate)
	levels := append(short, "transport=go-http1", "tls=yes")
	if _, code, said := drives(t, mine, local(), server.address, levels...); code != statusRefused || !strings.Contains(said, "?ca=certificate.pem") {
		t.Errorf("without the certificate: status %d, %s; want a refusal that says how to give it", code, said)
	}
	if _, code, said := drives(t, mine, local(), server.address+"?ca="+certificate, levels...); !finished(code, said) {
		t.Errorf("with the certificate: status %d: %s", code, said)
	}
	if _, err := server.ends(); err != nil {
		t.Error(err)
	}
	mine.mustEnd(t)
}

// A server that dies in the middle of a trial fails that trial and the next, and both
// failures name the server's address.
func TestByHandServerKilled(t *testing.T) {
	t.Parallel()
	mine := newFamily(t)
	server := listens(t, mine, local(), "transport=go-net")
	killed := make(chan error, 1)
	go func() {
		time.Sleep(100 * time.Millisecond)
		killed <- killWorker(mine, server)
	}()
	run, code, said := drives(t, mine, local(), server.address, "transport=go-net", "connections=4", "window=60s")
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	if code != statusUnmet {
		t.Errorf("the run ended with status %d, want %d, as no trial is valid: %s", code, statusUnmet, said)
	}
	contents, err := record.Read(run.Records())
	if err != nil || len(contents.Records) != 2 {
		t.Fatalf("%d records (%v), want 2", len(contents.Records), err)
	}
	for _, r := range contents.Records {
		if r.Outcome != record.Failed || r.Failure.Kind != contract.Peer || !strings.Contains(r.Failure.Text, server.address) {
			t.Errorf("trial %s is %s: %+v; want a failure of the peer that names %s", r.Trial.ID, r.Outcome, r.Failure, server.address)
		}
	}
	rest, err := io.ReadAll(server.said)
	if err := errors.Join(err, server.command.Wait()); err == nil {
		t.Errorf("the server's netdyno ended well: %s", rest)
	}
	mine.mustEnd(t)
}

// killWorker kills the worker of a server once it is driven and its readings,
// five a second, have seen it.
func killWorker(mine family, server *terminal) error {
	const timeout = 60 * time.Second
	for begin := time.Now(); connectionsAt(server.address) < 4; time.Sleep(20 * time.Millisecond) {
		if time.Since(begin) > timeout {
			return errors.New("nobody drove the server")
		}
	}
	time.Sleep(time.Second)
	for _, member := range mine.living(server.t) {
		text, _, _ := strings.Cut(member, " ")
		pid, err := strconv.Atoi(text)
		if err == nil && parent(parent(pid)) == server.command.Process.Pid {
			return syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return errors.New("the server has no worker")
}

// connectionsAt counts the connections that are open to an IPv4 address of this
// host, by the kernel's list: local address and port in hexadecimal, state 01.
func connectionsAt(address string) int {
	list, _ := os.ReadFile("/proc/net/tcp") // none where it cannot be read
	_, port, _ := net.SplitHostPort(address)
	number, _ := strconv.Atoi(port) // it was printed as a number
	return len(regexp.MustCompile(fmt.Sprintf(`(?m)^ *\d+: [0-9A-F]{8}:%04X \S+ 01 `, number)).FindAll(list, -1))
}

// parent returns the process that started another; 0 when it is gone.
func parent(pid int) int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // gone meanwhile
	found := regexp.MustCompile(`(?m)^PPid:\s+(\d+)$`).FindSubmatch(status)
	if found == nil {
		return 0
	}
	number, _ := strconv.Atoi(string(found[1])) // it is one
	return number
}

// answering returns the address of a server that treats every connection so, and
// then closes it, until the test ends.
func answering(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go accept(l, func(c net.Conn) {
		defer c.Close()
		answer(c)
	})
	return l.Addr().String()
}

// accept hands connections out until the listener is closed.
func accept(l net.Listener, connection func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go connection(c)
	}
}

func TestRunAtRefuses(t *testing.T) {
	for _, c := range []struct{ rig, levels, want string }{
		{"at:127.0.0.1:1", "transport=null", "starts both ends itself"},
		{"at:127.0.0.1:1", "transport=go-net opt.server.buffer=4KiB", "opt.server.buffer is for the command that starts the server"},
		{"at:127.0.0.1:1", "transport=go-net servers=2", "servers=2 is for"},
		{"at:127.0.0.1:1", "transport=go-net listeners=2", "listeners=2 is for"},
		{"at:127.0.0.1:1", "transport=go-net,go-epoll", "vary client=go-net,go-epoll instead"},
		{"at:127.0.0.1:1", "transport=go-net link.rate=1Gbit", "cannot shape a link"},
		{"at:127.0.0.1:1", "client=go-neet", `did you mean "go-net"`},
	} {
		args := append([]string{"run", "--rig", c.rig, "--out", filepath.Join(t.TempDir(), "run")}, strings.Fields(c.levels)...)
		t.Run(c.rig+" "+c.levels, func(t *testing.T) {
			t.Parallel()
			out, err := exec.CommandContext(t.Context(), filepath.Join(installed(t), "netdyno"), args...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.want) {
				t.Errorf("run %s --rig %s: %v, %s; want a refusal that says %q", c.levels, c.rig, err, out, c.want)
			}
		})
	}
}

// A server that nobody here names takes any client's name.
func TestRunAtTakesTheClientAlone(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), filepath.Join(installed(t), "netdyno"),
		"run", "client=go-net,go-epoll", "--rig", "at:127.0.0.1:1", "--dry-run").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "the server is what listens on 127.0.0.1:1") || strings.Contains(string(out), "server.cpu") {
		t.Errorf("%v: %s; want a plan of clients that says what the server is, and compares none of its CPU", err, out)
	}
}
