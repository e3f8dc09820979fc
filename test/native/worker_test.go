// Package native_test compares workers on native libraries with their Go twins: every
// client of a wire runs against every server of the wire, each a process of its own, with
// a fixed amount of exchanges that both ends must count alike. A library for which no
// worker was built is skipped.
package native_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/run/rig"
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/programs"
)

// timeout bounds every wait for a message.
const timeout = 30 * time.Second

var (
	bin    string // the directory of the Go workers
	native string // and of the native ones
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
	var err error
	if bin, err = programs.Bin(); err != nil {
		return 0, err
	}
	native = cmp.Or(os.Getenv("NETDYNO_BIN"), bin)
	return m.Run(), nil
}

// program returns the path of a transport's worker and skips the test when a
// native one was not built.
func program(t *testing.T, transport string) string {
	t.Helper()
	switch transport {
	case "go-grpc":
		return filepath.Join(bin, "netdyno-worker-grpc")
	case "go-http1", "go-http2":
		return filepath.Join(bin, "netdyno-worker-http")
	case "go-net":
		return filepath.Join(bin, "netdyno-worker-net")
	case "baidu-std", "fasthttp":
		return filepath.Join(bin, "netdyno-worker-"+transport)
	}
	path, err := filepath.Abs(filepath.Join(native, "netdyno-worker-"+transport))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if transport == "brpc" {
			t.Skipf("%v: native/brpc/README.md says how to build brpc and its worker", err)
		}
		t.Skipf("%v: `make native-build` builds it where its library is installed; NETDYNO_BIN says where workers are", err)
	}
	return path
}

// end is one worker, of a server or of a client. The test's goroutine owns it.
type end struct {
	t *testing.T
	*rig.Process
	name   string
	failed bool // it said so, and may end with any status
}

// start starts a transport's worker, which lives until the test ends.
func start(t *testing.T, transport string) *end {
	t.Helper()
	return startProgram(t, transport, program(t, transport))
}

// startProgram starts what stands in front of a transport's worker.
func startProgram(t *testing.T, transport, path string) *end {
	t.Helper()
	p, err := rig.Start([]string{path}, rig.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &end{t: t, Process: p, name: transport}
	t.Cleanup(e.over)
	e.expect("hello")
	return e
}

// over ends the worker, which has 2 s for it (CONTRACT.md, section Life; netdyno check looks at
// that) and more on a busy machine. A sanitizer's report shows in the status.
func (e *end) over() {
	e.CloseInput()
	if exit := e.Wait(timeout); exit.Running || exit.Code != 0 && !e.failed {
		e.Kill()
		e.t.Errorf("%s does not end with status 0: %+v; it said on stderr: %s", e.name, exit, e.Stderr())
	}
}

func (e *end) send(m contract.Message) {
	e.t.Helper()
	if err := e.Send(m); err != nil {
		e.t.Fatalf("%s: %v", e.name, err)
	}
}

// next returns what the worker says next, ticks apart.
func (e *end) next() contract.Message {
	e.t.Helper()
	expired := time.After(timeout)
	for {
		select {
		case r, more := <-e.Messages():
			if !more || r.Err != nil {
				e.t.Fatalf("%s: its messages ended (%v); it said on stderr: %s", e.name, r.Err, e.Stderr())
			}
			if r.Message.Tick == nil {
				return r.Message
			}
		case <-expired:
			e.t.Fatalf("%s says nothing for %v; it said on stderr: %s", e.name, timeout, e.Stderr())
		}
	}
}

func (e *end) expect(name string) contract.Message {
	e.t.Helper()
	m := e.next()
	if m.Name() != name {
		e.t.Fatalf("%s says %s (%+v), want %s; it said on stderr: %s", e.name, m.Name(), m.Error, name, e.Stderr())
	}
	return m
}

func (e *end) setup(s contract.Setup) contract.Ready {
	e.t.Helper()
	s.Transport = e.name
	e.send(contract.Message{Setup: &s})
	return *e.expect("ready").Ready
}

// counted reads a server until it has counted so many exchanges, and at most for the
// timeout.
func (e *end) counted(exchanges int64) contract.Counts {
	e.t.Helper()
	return workertest.Until(timeout, exchanges, func() contract.Counts { return e.mark(2, false).Counts })
}

func (e *end) mark(id int, reset bool) contract.Reading {
	e.t.Helper()
	e.send(contract.Message{Mark: &contract.Mark{ID: id, Reset: reset}})
	return *e.expect("mark").Mark.Reading
}

// fatal expects a fatal error of a kind and returns its text.
func (e *end) fatal(kind contract.ErrorKind) string {
	e.t.Helper()
	m := e.expect("error")
	e.failed = m.Error.Fatal
	if m.Error.Kind != kind || !m.Error.Fatal {
		e.t.Errorf("%s says %+v, want a fatal error of kind %s", e.name, *m.Error, kind)
	}
	return m.Error.Text
}
