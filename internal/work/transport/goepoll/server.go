package goepoll

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

type server struct {
	setup     contract.Setup
	work      *wire.Work
	instances []*instance
	addresses []netip.AddrPort
	shared    []int // listening sockets that every instance watches
	closing   atomic.Bool
	wait      sync.WaitGroup
}

// instance is one epoll instance and its connections; its thread owns all but
// the counters.
type instance struct {
	server    *server
	poller    *poller
	allowed   wire.Allowed
	listeners map[int]bool // by file descriptor; true for those that it closes
	conns     []*served    // by file descriptor
	buf       []byte
	again     []*served // stopped for fairness, not because they were drained
	resumed   []*served // those of the last round; its memory is the next one's

	received, sent, exchanges, open atomic.Int64
}

// served is one accepted connection.
type served struct {
	fd      int
	pending []byte  // wire echo: received and not yet echoed
	stream  *stream // wire stream
	hangup  bool
	again   bool // in the instance's list of that name
}

// Server implements load.Transport.
func (Transport) Server(setup contract.Setup) (load.Server, error) {
	allowed, err := wire.AllowedOf(setup)
	if err != nil {
		return nil, err
	}
	work, err := wire.NewWork(setup)
	if err != nil {
		return nil, err
	}
	if err := wire.BuffersOf(setup).Effective(setup.Options); err != nil {
		return nil, err
	}
	options := load.Options(setup.Options)
	s := &server{setup: setup, work: work}
	for range loops(threads(setup, "instances")) {
		p, err := newPoller()
		if err != nil {
			_ = s.Close()
			return nil, load.Failure(contract.SetupFailed, err)
		}
		s.instances = append(s.instances, &instance{
			server: s, poller: p, allowed: allowed, listeners: map[int]bool{},
			buf: make([]byte, options.Int(readBuffer)),
		})
	}
	if err := s.listen(setup.Listen, options.Text("listener") == "reuseport"); err != nil {
		_ = s.Close()
		return nil, err
	}
	for _, i := range s.instances {
		s.wait.Add(1)
		go i.run()
	}
	return s, nil
}

// listen opens every listening address, in each instance or shared by all.
func (s *server) listen(address string, reuseport bool) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return load.Failure(contract.SetupFailed, fmt.Errorf("setup.listen: %w", err))
	}
	for range max(1, s.setup.Listeners) {
		bound := at
		for n, i := range s.instances {
			var fd int
			if n == 0 || reuseport {
				if fd, bound, err = listenOn(bound, reuseport, wire.BuffersOf(s.setup)); err != nil {
					return wire.ListenFailure(bound.String(), err)
				}
				if !reuseport {
					s.shared = append(s.shared, fd)
				}
			} else {
				fd = s.shared[len(s.shared)-1]
			}
			i.listeners[fd] = n == 0 || reuseport
			// Exclusive: one arrival wakes one instance, not all of them.
			if err := i.poller.add(fd, unix.EPOLLIN|unix.EPOLLEXCLUSIVE); err != nil {
				return load.Failure(contract.SetupFailed, err)
			}
		}
		s.addresses = append(s.addresses, bound)
		if at.Port() != 0 {
			at = netip.AddrPortFrom(at.Addr(), at.Port()+1) // those after a given port follow it
		}
	}
	return nil
}

// run serves until the server closes.
func (i *instance) run() {
	defer i.server.wait.Done()
	runtime.LockOSThread()
	for !i.server.closing.Load() {
		timeout := forever
		if len(i.again) > 0 {
			timeout = 0
		}
		for _, e := range i.poller.wait(timeout) {
			i.handle(int(e.Fd), e.Events)
		}
		i.again, i.resumed = i.resumed[:0], i.again
		for _, c := range i.resumed {
			if c.again = false; i.conns[c.fd] == c { // not dropped while it waited
				i.serve(c)
			}
		}
	}
	for _, c := range i.conns {
		if c != nil {
			i.drop(c)
		}
	}
	for fd, own := range i.listeners {
		if own {
			_ = unix.Close(fd) // nothing is left to accept
		}
	}
	i.poller.close()
}

func (i *instance) handle(fd int, events uint32) {
	_, listens := i.listeners[fd]
	switch {
	case listens:
		i.accept(fd)
	case fd < len(i.conns) && i.conns[fd] != nil:
		c := i.conns[fd]
		c.hangup = c.hangup || events&broken != 0
		if c.stream != nil {
			c.stream.full = c.stream.full && events&unix.EPOLLOUT == 0
			c.stream.drained = c.stream.drained && events&(unix.EPOLLIN|broken) == 0
		}
		i.serve(c)
	}
}

func (i *instance) serve(c *served) {
	if c.stream != nil {
		i.stream(c)
	} else {
		i.echo(c)
	}
}

// resume sees to it that a connection has another turn.
func (i *instance) resume(c *served) {
	if !c.again {
		c.again = true
		i.again = append(i.again, c)
	}
}

// accept takes every waiting connection of a listener.
func (i *instance) accept(listener int) {
	for {
		fd, from, err := unix.Accept4(listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return // drained, taken by another instance, or out of descriptors: the client sees its connection fail
		}
		if !i.allowed.Accepts(addressOf(from)) || noDelay(fd) != nil || i.poller.add(fd, interest) != nil {
			_ = unix.Close(fd)
			continue
		}
		for len(i.conns) <= fd {
			i.conns = append(i.conns, make([]*served, len(i.conns)+64)...)
		}
		c := &served{fd: fd}
		if i.server.work.Streams() {
			c.stream = newStream(i.server.work)
		}
		i.conns[fd] = c
		i.open.Add(1)
	}
}

func (i *instance) drop(c *served) {
	i.conns[c.fd] = nil
	_ = unix.Close(c.fd) // leaves the epoll instance with it
	i.open.Add(-1)
}

// Ready implements load.Server.
func (s *server) Ready() contract.Ready {
	ready := contract.Ready{Threads: len(s.instances), Options: s.setup.Options}
	ready.Options["instances"] = len(s.instances)
	for _, a := range s.addresses {
		ready.Addresses = append(ready.Addresses, a.String())
	}
	return ready
}

// Counts implements load.Server.
func (s *server) Counts() contract.Counts {
	var c contract.Counts
	for _, i := range s.instances {
		c.ReceivedBytes += i.received.Load()
		c.SentBytes += i.sent.Load()
		c.Connections += i.open.Load()
		c.Exchanges += i.exchanges.Load()
	}
	if !s.work.Streams() {
		c.Exchanges = s.work.Exchanges(c.ReceivedBytes, c.SentBytes)
	}
	return c
}

// Close implements load.Server.
func (s *server) Close() error {
	s.closing.Store(true)
	for _, i := range s.instances {
		i.poller.wake()
	}
	s.wait.Wait()
	return nil
}
