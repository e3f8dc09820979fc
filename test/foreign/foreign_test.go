// Package foreign_test has programs of other people drive our servers, and our
// clients drive theirs: every wire must be the wire that the rest of the world
// speaks. It needs netdyno and its workers, and it skips what a program is
// missing for. Everything happens on loopback, on ports of the
// kernel's choice.
package foreign_test

import (
	"bufio"
	"context"
	"flag"
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
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/bench/benchtest"
	"netdyno/test/programs"
)

// bin holds netdyno and its workers; catalog is what these offer.
var (
	bin     string
	catalog bench.Catalog
)

func TestMain(m *testing.M) {
	code, err := with(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "set up the tests:", err)
		code = 1
	}
	os.Exit(code)
}

func with(m *testing.M) (int, error) {
	if err := flag.Set("test.parallel", "4"); err != nil { // most of it is waiting
		return 0, err
	}
	var err error
	if bin, err = programs.Bin(); err != nil {
		return 0, err
	}
	catalog = bench.Discover(context.Background(), []string{bin})
	return m.Run(), nil
}

// need skips the test unless every program is installed, and says which is not.
// A transport that no worker has is a failure, gin and the native ones apart.
func need(t *testing.T, installed []string, transports ...string) {
	t.Helper()
	for _, p := range installed {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed: `make packages-test` installs it", p)
		}
	}
	for _, name := range transports {
		if name == "gin" || name == "http1-uring" { // which some may not be able to build
			programs.Path(t, bench.WorkerPrefix+name)
		}
		if _, err := catalog.Offer(name, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// standing is a server of ours for clients of theirs: netdyno listen.
type standing struct {
	t       *testing.T
	address string
	command *exec.Cmd
	said    *bufio.Reader
}

// listen stands up a server until end.
func listen(t *testing.T, args ...string) *standing {
	t.Helper()
	s := &standing{t: t, command: exec.CommandContext(t.Context(), filepath.Join(bin, "netdyno"), append([]string{"listen", "--bind", "127.0.0.1:0"}, args...)...)}
	s.command.Stderr = os.Stderr
	s.command.Dir = t.TempDir() // its certificate lands there
	out, err := s.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	s.said = bufio.NewReader(out)
	first, err := s.said.ReadString('\n')
	where := regexp.MustCompile(` listens on (127\.0\.0\.1:\d+), `).FindStringSubmatch(first)
	if where == nil {
		_ = s.command.Wait()
		t.Fatalf("netdyno listen %q began with %q (%v), want where it listens", args, first, err)
	}
	s.address = where[1]
	return s
}

// end ends the server as Ctrl-C does and returns the exchanges that it counted,
// as it prints them.
func (s *standing) end() int {
	s.t.Helper()
	if err := s.command.Process.Signal(syscall.SIGINT); err != nil {
		s.t.Fatal(err)
	}
	rest, _ := io.ReadAll(s.said) // ends with the process
	if err := s.command.Wait(); err != nil {
		s.t.Fatalf("netdyno listen ended with %v: %s", err, rest)
	}
	found := regexp.MustCompile(`: ([\d.]+) ?(k?) exchanges, `).FindStringSubmatch(string(rest))
	if found == nil {
		s.t.Fatalf("netdyno listen summed up no exchanges: %s", rest)
	}
	n, _ := strconv.ParseFloat(found[1], 64) // the pattern is of a number
	if found[2] != "" {
		n *= 1000
	}
	return int(n + 0.5)
}

// counted ends the server and compares its counts with its client's. Our HTTP servers
// count an exchange after they have sent the reply, so the last exchange of each
// connection may be missing, and so may exchanges that the client broke off at its end.
func (s *standing) counted(client, connections int) {
	s.t.Helper()
	slack := connections
	if client > 999 {
		slack += client / 100 // the sum prints three digits
	}
	if got := s.end(); got < client-slack || got > client+slack {
		s.t.Errorf("the server counted %d exchanges, its client %d", got, client)
	}
}

// run runs somebody's program to its end and returns what it printed.
func run(t *testing.T, argv ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	c.Dir = t.TempDir()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

// trial runs one trial of a typed study and returns its record.
func trial(t *testing.T, args ...string) record.Record {
	t.Helper()
	_, trials := benchtest.Plan(t, append([]string{"blocks=1", "placement=free", "connections=2"}, args...)...)
	b := benchtest.In(bin, &catalog)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	return benchtest.Conduct(ctx, t, b, trials[:1])[0]
}

// completed demands that the trial's clients did the whole amount.
func completed(t *testing.T, r record.Record, exchanges int64) {
	t.Helper()
	if r.Outcome != record.OK {
		t.Fatalf("the trial is %s: %v", r.Outcome, r.Failure)
	}
	for _, w := range r.Workers {
		if w.Result != nil && w.Role == contract.Client {
			exchanges -= w.Result.Counts.Exchanges
		}
	}
	if exchanges != 0 {
		t.Errorf("%d exchanges were not completed", exchanges)
	}
}

// freePort returns a port that nobody listens on, for programs that want to be
// told one.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
