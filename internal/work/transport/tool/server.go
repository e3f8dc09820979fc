package tool

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/child"
	"netdyno/internal/work/load"
)

// maxListeners bounds the processes of a server: the kernel is asked for their
// ports one by one.
const maxListeners = 64

// listenTimeout is how long a server may take to listen.
const listenTimeout = 10 * time.Second

// server is one process for each port: a program that takes one test at a
// time, as iperf3 does, serves several clients that way.
type server struct {
	programs []*child.Process
	ready    contract.Ready
	counters trafficCounter
	oneShot  bool // its programs end with their clients
	exited   chan error
	once     sync.Once
}

// Server implements load.Transport.
func (t Transport) Server(setup contract.Setup) (load.Server, error) {
	path, args, err := t.prepare(setup)
	if err != nil {
		return nil, err
	}
	listeners := max(1, setup.Listeners)
	if listeners > maxListeners {
		err := fmt.Errorf("%s takes a process for each of %d listeners, expected at most %d", t.tool.name, listeners, maxListeners)
		return nil, load.Failure(contract.Unsupported, err)
	}
	s := &server{exited: make(chan error, listeners), oneShot: t.tool.once}
	if s.ready, err = t.ready(setup, path, listeners); err != nil {
		return nil, err
	}
	var ports []uint16
	for i := range listeners {
		host, port, err := listenAddress(setup.Listen, i)
		if err == nil {
			err = s.launch(slices.Concat(t.tool.command(path), t.tool.serve(setup, host, port), args), port)
		}
		if err != nil {
			_ = s.Close()
			return nil, load.Failure(contract.SetupFailed, err)
		}
		number, _ := strconv.ParseUint(port, 10, 16) // a listener had it
		ports = append(ports, uint16(number))
		s.ready.Addresses = append(s.ready.Addresses, net.JoinHostPort(host, port))
	}
	if s.counters, err = t.counter(setup, ports); err != nil {
		_ = s.Close()
		return nil, err
	}
	s.counters.readCounters()
	if err := s.counters.err(); err != nil {
		_ = s.Close()
		return nil, load.Failure(contract.Unsupported, fmt.Errorf("the kernel does not count for %s: %w", t.tool.name, err))
	}
	return s, nil
}

// listenAddress chooses the address of listener i. Ports after a given one follow
// it.
func listenAddress(listen string, i int) (host, port string, err error) {
	_, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", "", fmt.Errorf("setup.listen: %w", err)
	}
	given, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return "", "", fmt.Errorf("setup.listen: port %q: expected a number", text)
	}
	if given != 0 {
		given += int64(i)
	}
	return child.ListenAddress(listen, given)
}

func (s *server) launch(argv []string, port string) error {
	p, err := child.Launch(argv, nil)
	if err != nil {
		return err
	}
	s.programs = append(s.programs, p)
	if err := p.AwaitListening(port, listenTimeout); err != nil {
		return err
	}
	if !s.oneShot { // else the client tells, whose program loses its peer
		go p.ReportExit(port, s.exited)
	}
	return nil
}

// Ready implements load.Server.
func (s *server) Ready() contract.Ready { return s.ready }

// Counts implements load.Server.
func (s *server) Counts() contract.Counts { return s.counters.readCounters() }

// Exited implements load.Exiter.
func (s *server) Exited() <-chan error { return s.exited }

// Close implements load.Server.
func (s *server) Close() error {
	s.once.Do(func() {
		var wait sync.WaitGroup
		for _, p := range s.programs {
			wait.Go(p.End)
		}
		wait.Wait()
	})
	return nil
}
