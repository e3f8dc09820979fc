// Package foreign lets programs take part that know nothing of netdyno.
//
// Transport exec starts a server of the user's from its command line and waits
// until the port listens, or a load generator, which measures itself (package tool). The meter sees the server as part of this worker's
// process tree. Transport address uses a server that runs already, whose CPU and
// memory nobody reads. Any client of the same wire drives both. Neither transport
// moves or counts bytes; the client verifies that the server answers correctly.
package foreign

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/child"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/tool"
)

// Transport is exec: a program of the user's that is started for the trial.
type Transport struct{}

// Describe implements load.Transport. Its wire is empty: option wire declares it.
func (Transport) Describe() contract.Transport {
	zero, most := 0.0, 65535.0
	server, wire := []contract.Role{contract.Server}, wireOption()
	wire.Roles = server
	return contract.Transport{
		Name:     "exec",
		Doc:      "a program of yours, started from its command line: a server, or a load generator that measures itself",
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryChunks,
		Options: append([]contract.Option{
			{Name: "command", Type: contract.TypeText, Default: "", Doc: "command line, without a shell; in that of a server {host}, {port} and {threads} are filled in, " + tool.CommandDoc},
			{Name: "port", Type: contract.TypeInt, Default: 0, Min: &zero, Max: &most, Roles: server, Doc: "port it listens on; 0 lets netdyno choose one"},
			wire,
			{Name: "wait", Type: contract.TypeDuration, Unit: "ns", Default: int64(10 * time.Second), Min: &zero, Roles: server, Doc: "how long it may take to listen"},
		}, tool.Program{}.Options()...),
	}
}

// Client implements load.Transport.
func (Transport) Client(setup contract.Setup) (load.Client, error) {
	return tool.Program{}.Client(setup)
}

// Server is a program that was started for a trial and listens.
type Server struct {
	program *child.Process
	address string
	options map[string]any
	exited  chan error
	once    sync.Once
}

// attempts are how often a server is started whose port, chosen by us, another
// program takes before it listens.
const attempts = 5

// Server implements load.Transport.
func (Transport) Server(setup contract.Setup) (load.Server, error) {
	o := load.Options(setup.Options)
	return Start(setup, int(o.Int("port")), time.Duration(o.Int("wait")), func(host, port string) ([]string, error) {
		return Command(setup, o.Text("command"), host, port)
	})
}

// Command is the argv of a program from its command line, for an address to listen at and,
// of a hop, the first of the servers that it passes on to.
func Command(setup contract.Setup, line, host, port string) ([]string, error) {
	argv, err := child.Split("command", line, host, port)
	if err == nil && len(argv) == 0 {
		err = fmt.Errorf("option command is empty, expected the command line of a server, such as %q", "socat TCP-LISTEN:{port},fork EXEC:cat")
	}
	upstream := ""
	if len(setup.Peers) > 0 {
		upstream = setup.Peers[0]
	}
	for i := range argv {
		argv[i] = strings.NewReplacer("{threads}", strconv.Itoa(Threads(setup)), "{upstream}", upstream).Replace(argv[i])
	}
	return argv, err
}

// Start starts a program at a port of the setup's address, a free one where port is 0, and
// waits until it listens there. The argv is asked for again when another program has taken
// the port meanwhile.
func Start(setup contract.Setup, port int, wait time.Duration, argv func(host, port string) ([]string, error)) (*Server, error) {
	for attempt := 1; ; attempt++ {
		s, err := start(setup, port, wait, argv)
		if err == nil {
			return s, nil
		}
		if errors.Is(err, exec.ErrNotFound) { // as of every program that is not there
			return nil, load.Failure(contract.Unsupported, fmt.Errorf("option command: %w", err))
		}
		var taken *child.TakenError
		if !errors.As(err, &taken) || port != 0 || attempt == attempts {
			return nil, load.Failure(contract.SetupFailed, err)
		}
		fmt.Fprintf(os.Stderr, "%v; trying another port\n", err)
	}
}

func start(setup contract.Setup, fixed int, wait time.Duration, command func(host, port string) ([]string, error)) (*Server, error) {
	host, port, err := child.ListenAddress(setup.Listen, int64(fixed))
	if err != nil {
		return nil, err
	}
	argv, err := command(host, port)
	if err != nil {
		return nil, err
	}
	s := &Server{address: net.JoinHostPort(host, port), options: maps.Clone(setup.Options), exited: make(chan error, 1)}
	if _, has := s.options["port"]; has {
		s.options["port"] = port
	}
	if s.program, err = child.Launch(argv, nil); err != nil {
		return nil, err
	}
	if err := s.awaitListening(wait); err != nil {
		_ = s.Close() // its end is on stderr
		return nil, err
	}
	go s.program.ReportExit(port, s.exited)
	return s, nil
}

// Threads is what a command line is told for {threads}: as many as the program may use
// CPUs, unless the trial says.
func Threads(setup contract.Setup) int {
	if setup.Threads > 0 {
		return setup.Threads
	}
	return runtime.NumCPU() // of the worker's affinity, which its program inherits
}

// awaitListening returns when the program's port accepts a connection. The error
// is a *child.TakenError when another program has the port.
func (s *Server) awaitListening(timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		conn, err := net.DialTimeout("tcp", s.address, time.Second)
		if err == nil {
			return errors.Join(conn.Close(), s.program.Owns(s.address))
		}
		select {
		case <-s.program.Exited():
			if conn, err := net.DialTimeout("tcp", s.address, time.Second); err == nil { // a daemon that it has left
				return errors.Join(conn.Close(), s.program.Owns(s.address))
			}
			if !child.Free(s.address) { // a connection has the port, say
				return &child.TakenError{Address: s.address, By: "another program"}
			}
			return fmt.Errorf("%s ended before it listened on %s: %s", s.program.Path(), s.address, s.program.ExitReason())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s does not listen on %s after %v (does its command line name {port}?): %w; it said: %s",
				s.program.Path(), s.address, timeout, err, s.program.Output())
		}
	}
}

// Ready implements load.Server.
func (s *Server) Ready() contract.Ready {
	return contract.Ready{Addresses: []string{s.address}, Options: s.options, Foreign: true}
}

// Counts implements load.Server. Ready says that it knows nothing.
func (s *Server) Counts() contract.Counts { return contract.Counts{} }

// Exited implements load.Exiter.
func (s *Server) Exited() <-chan error { return s.exited }

// Close implements load.Server.
func (s *Server) Close() error {
	s.once.Do(s.program.End)
	return nil
}
