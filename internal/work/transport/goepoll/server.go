package goepoll

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/flow"
)

type server struct {
	setup     contract.Setup
	work      *flow.Work
	instances []*instance
	addresses []string
	closing   atomic.Bool
	wait      sync.WaitGroup
}

// instance is one epoll instance and its connections; its thread owns all but the
// counters.
type instance struct {
	loop
	server    *server
	allowed   *wire.Allowed
	listeners map[int]bool // by file descriptor; true for those that it closes
	traffic   flow.Traffic
	asleep    load.Agenda[*conn] // until the work of their exchange is over
	open      atomic.Int64
}

// Server implements load.Transport.
func (Transport) Server(setup contract.Setup) (load.Server, error) {
	allowed, err := wire.AllowedOf(setup)
	if err != nil {
		return nil, err
	}
	work, err := flow.NewWork(setup)
	if err != nil {
		return nil, err
	}
	if err := wire.BuffersOf(setup).Effective(setup.Options); err != nil {
		return nil, err
	}
	water, err := lowWater(setup)
	if err != nil {
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
		i := &instance{server: s, allowed: allowed, listeners: map[int]bool{}}
		i.loop = loop{poller: p, buffer: make([]byte, options.Int(readBuffer)), lost: func(*conn) { i.open.Add(-1) }, lowat: water}
		s.instances = append(s.instances, i)
	}
	if err := s.listen(options.Text("listener") == "reuseport"); err != nil {
		_ = s.Close()
		return nil, err
	}
	for _, i := range s.instances {
		s.wait.Go(i.run)
	}
	return s, nil
}

// listen opens every listening address, in each instance or shared by all.
func (s *server) listen(reuseport bool) error {
	addresses, err := wire.ListenAddresses(s.setup)
	if err != nil {
		return err
	}
	for _, address := range addresses {
		fd := -1
		for n, i := range s.instances {
			own := n == 0 || reuseport
			if own {
				if fd, address, err = listenOn(address, reuseport, wire.BuffersOf(s.setup)); err != nil {
					return wire.ListenFailure(address, err)
				}
			}
			i.listeners[fd] = own
			// Exclusive: one arrival wakes one instance, not all of them.
			if err := i.poller.addSocket(fd, unix.EPOLLIN|unix.EPOLLEXCLUSIVE); err != nil {
				return load.Failure(contract.SetupFailed, err)
			}
		}
		s.addresses = append(s.addresses, address)
	}
	return nil
}

// run serves until the server closes.
func (i *instance) run() {
	runtime.LockOSThread() // never unlocked: the thread ends with it
	if i.server.setup.Work != nil || i.server.setup.Exchange.EveryNs > 0 {
		exactTimers()
	}
	for !i.server.closing.Load() {
		for _, e := range i.poller.wait(i.timeout()) {
			if _, listens := i.listeners[int(e.Fd)]; listens {
				i.accept(int(e.Fd))
			} else {
				i.handle(int(e.Fd), e.Events)
			}
		}
		i.resume()
		i.awake()
	}
	for fd, own := range i.listeners {
		if own {
			_ = unix.Close(fd) // nothing is left to accept
		}
	}
	i.close()
}

// timeout is how long the loop may sleep: until an exchange's work is over.
func (i *instance) timeout() time.Duration {
	if len(i.again) > 0 {
		return 0
	}
	if i.asleep.Len() == 0 {
		return forever
	}
	due, _ := i.asleep.Peek()
	return time.Duration(max(0, due-load.Now()))
}

// awake goes on with the exchanges whose work is over.
func (i *instance) awake() {
	for i.asleep.Len() > 0 {
		due, c := i.asleep.Peek()
		if due > load.Now() {
			return
		}
		i.asleep.Pop()
		c.flow.(*flow.Server).Awake()
		i.serve(c)
	}
}

// accept takes every waiting connection of a listener.
func (i *instance) accept(listener int) {
	for {
		fd, from, err := unix.Accept4(listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return // drained, taken by another instance, or out of descriptors: the client sees its connection fail
		}
		if !i.allowed.Accepts(addressOf(from)) || noDelay(fd) != nil {
			_ = unix.Close(fd)
			continue
		}
		i.open.Add(1)
		f := flow.NewServer(i.server.work, &i.traffic)
		if err := i.addConnection(fd, 0, f); err != nil {
			i.lose(i.conns[fd], err)
			continue
		}
		c := i.conns[fd]
		f.SleepBy(func(due int64) { i.asleep.Push(due, c) })
	}
}

// Ready implements load.Server.
func (s *server) Ready() contract.Ready {
	s.setup.Options["instances"] = len(s.instances)
	return contract.Ready{Threads: len(s.instances), Options: s.setup.Options, Addresses: s.addresses}
}

// Counts implements load.Server.
func (s *server) Counts() contract.Counts {
	var traffic []*flow.Traffic
	connections := int64(0)
	for _, i := range s.instances {
		traffic = append(traffic, &i.traffic)
		connections += i.open.Load()
	}
	counts := s.work.Counts(traffic...)
	counts.Connections, counts.Strangers = connections, s.instances[0].allowed.Strangers()
	return counts
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
