// Package foreign lets any client of the same wire drive a server that knows
// nothing of netdyno. Transport exec starts a program of the user's from its
// command line and waits until the port listens; the meter sees it as part of
// this worker's process tree. Transport address finds one that runs already,
// of which nothing can be metered. Neither moves a byte or counts one: that the
// server answers rightly is for the client's verification to say.
package foreign

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Transport is exec: a server program that is started for the trial.
type Transport struct{}

// Describe implements load.Transport. Its wire is empty: option wire declares it.
func (Transport) Describe() contract.Transport {
	zero, most := 0.0, 65535.0
	return contract.Transport{
		Name:     "exec",
		Doc:      "a server program of yours, started from its command line",
		Roles:    []contract.Role{contract.Server},
		Delivery: contract.DeliveryChunks,
		Options: []contract.Option{
			{Name: "command", Type: contract.TypeText, Default: "", Doc: "command line; {host} and {port} are filled in, no shell is involved"},
			{Name: "port", Type: contract.TypeInt, Default: 0, Min: &zero, Max: &most, Doc: "port it listens on; 0 lets netdyno choose one"},
			wireOption(),
			{Name: "wait", Type: contract.TypeDuration, Unit: "ns", Default: int64(10 * time.Second), Min: &zero, Doc: "how long it may take to listen"},
		},
	}
}

// Client implements load.Transport; the role is not declared, so it is never
// reached.
func (Transport) Client(contract.Setup) (load.Client, error) { panic("exec has no client") }

type server struct {
	command *exec.Cmd
	address string
	options map[string]any
	output  tail
	exited  chan struct{}
	once    sync.Once
}

// Server implements load.Transport.
func (Transport) Server(setup contract.Setup) (load.Server, error) {
	o := load.Options(setup.Options)
	host, port, err := place(setup.Listen, o.Int("port"))
	if err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	argv, err := split(o.Text("command"), host, port)
	if err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	s := &server{address: net.JoinHostPort(host, port), options: setup.Options, exited: make(chan struct{})}
	s.options["port"] = port
	s.command = exec.Command(argv[0], argv[1:]...)
	// Both streams are the program's own talk; stdout must not reach ours,
	// which is for the contract.
	s.command.Stdout, s.command.Stderr = &s.output, &s.output
	if err := s.command.Start(); err != nil {
		return nil, load.Failure(contract.SetupFailed, fmt.Errorf("start %q: %w", argv[0], err))
	}
	go func() {
		_ = s.command.Wait() // how it ended is in ProcessState
		close(s.exited)
	}()
	if err := s.awaitListening(time.Duration(o.Int("wait"))); err != nil {
		_ = s.Close()
		return nil, load.Failure(contract.SetupFailed, err)
	}
	return s, nil
}

// place chooses where the program shall listen.
func place(listen string, port int64) (string, string, error) {
	host, given, err := net.SplitHostPort(listen)
	if err != nil {
		return "", "", fmt.Errorf("setup.listen: %w", err)
	}
	if port != 0 {
		given = strconv.FormatInt(port, 10)
	}
	// A port that already answers would let another program be measured.
	probe, err := net.Listen("tcp", net.JoinHostPort(host, given))
	if err != nil {
		return "", "", fmt.Errorf("port %s of %s is in use by another program, which would be measured instead: %w", given, host, err)
	}
	_, given, _ = net.SplitHostPort(probe.Addr().String()) // a listener's own address splits
	return host, given, probe.Close()
}

// awaitListening returns when the port accepts a connection.
func (s *server) awaitListening(patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		conn, err := net.DialTimeout("tcp", s.address, time.Second)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-s.exited:
			return fmt.Errorf("%s ended before it listened on %s: %s; it said: %s",
				s.command.Path, s.address, s.command.ProcessState, s.output.text())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s does not listen on %s after %v (does its command line name {port}?): %w; it said: %s",
				s.command.Path, s.address, patience, err, s.output.text())
		}
	}
}

// Ready implements load.Server.
func (s *server) Ready() contract.Ready {
	return contract.Ready{Addresses: []string{s.address}, Options: s.options, Foreign: true}
}

// Counts implements load.Server. Ready says that it knows nothing.
func (s *server) Counts() contract.Counts { return contract.Counts{} }

// Close implements load.Server: it asks the program to end and then makes it.
func (s *server) Close() error {
	s.once.Do(func() {
		_ = s.command.Process.Signal(os.Interrupt) // gone already is as good
		select {
		case <-s.exited:
		case <-time.After(500 * time.Millisecond):
			_ = s.command.Process.Kill() // the meter kills the rest of its tree
			<-s.exited
		}
	})
	return nil
}

// tail keeps the last bytes of a program's talk. Any goroutine may use it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailBytes = 2048

// Write implements io.Writer and never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b[max(0, len(b)-tailBytes):]...)
	t.last = t.last[max(0, len(t.last)-tailBytes):]
	return len(b), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := bytes.TrimSpace(t.last); len(text) > 0 {
		return strconv.Quote(string(text))
	}
	return "nothing"
}
