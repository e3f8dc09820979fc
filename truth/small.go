package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/read/stat"
	"netdyno/internal/run/floor"
	"netdyno/internal/run/rig"
)

const (
	smallWork   = 100 * time.Microsecond // that the server computes for each request
	smallBlocks = 6
	smallWindow = 300 * time.Millisecond
)

// smallTimes holds what netdyno shows of a server that computes for exactly 100 µs to a client
// of this program's own that spins, and to what the measurement of a path says of it.
func smallTimes(ctx context.Context, p *pipeline) ([]answer, error) {
	const mostPolling, mostExplained = 5.0, 20.0 // µs
	polling, err := smallErrors(ctx, p, true)
	if err != nil {
		return nil, err
	}
	sleeping, err := smallErrors(ctx, p, false)
	if err != nil {
		return nil, err
	}
	off, unexplained := stat.Median(polling), stat.Median(sleeping)
	return []answer{
		{
			fmt.Sprintf("of %v, http1-uring wait=poll beside a client that spins, median of %d blocks", smallWork, smallBlocks),
			fmt.Sprintf("%+.1f µs (%+.1f to %+.1f)", off, slices.Min(polling), slices.Max(polling)), "within 5 µs", math.Abs(off) <= mostPolling,
		},
		{
			fmt.Sprintf("of %v, http1-uring asleep: the time above it, less the path's floor", smallWork),
			fmt.Sprintf("%+.1f µs (%+.1f to %+.1f)", unexplained, slices.Min(sleeping), slices.Max(sleeping)), "within 20 µs", math.Abs(unexplained) <= mostExplained,
		},
	}, nil
}

// smallErrors returns, by block in µs, by how much netdyno's median is off: with both ends
// spinning from that of a client that spins on the same server, and with both asleep from the
// work and the floor of the path.
func smallErrors(ctx context.Context, p *pipeline, spins bool) ([]float64, error) {
	s, err := newSmallServer(spins)
	if err != nil {
		return nil, err
	}
	defer s.close()
	external, err := rig.NewExternal(ctx, []string{s.address}, "")
	if err != nil {
		return nil, err
	}
	apart := p.on(external)
	apart.bench.Hosts = external.Hosts() // the last CPU is the client's, as the first is the server's
	apart.bench.Hosts[0].CPUs = []int{runtime.NumCPU() - 1}
	wait := "event"
	if spins {
		wait = "poll"
	}
	var errs []float64
	for range smallBlocks {
		shown, err := apart.smallMedian(ctx, wait)
		if err != nil {
			return nil, err
		}
		known, err := s.ask()
		if !spins {
			known, err = smallFloor(ctx, p)
		}
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "  wait=%s: %.1f µs, known beside it %.1f µs\n", wait, shown, known)
		errs = append(errs, shown-known)
	}
	return errs, nil
}

// smallMedian is the median service time, in µs, of a trial against the rig's server.
func (p *pipeline) smallMedian(ctx context.Context, wait string) (float64, error) {
	_, _, records, err := p.records(ctx, "server=http1-uring", "client=http1-uring", "connections=1", "request=0", "response=1", "blocks=1",
		"warmup=100ms", "window="+smallWindow.String(), "opt.client.verify=length", "opt.client.wait="+wait)
	if err != nil {
		return 0, err
	}
	for _, w := range records[0].Workers {
		if w.Role == contract.Client && w.Result != nil {
			return medianUs(w.Result.Service)
		}
	}
	return 0, fmt.Errorf("the trial left no times: %+v", records[0].Failure)
}

// smallFloor is what an exchange takes, in µs, on a path of this host with the same work, which
// is one of a floor's steps.
func smallFloor(ctx context.Context, p *pipeline) (float64, error) {
	here := rig.Host{Name: "local", Address: "127.0.0.1"}
	path := floor.Path{Server: rig.Seat{Host: here, CPUs: []int{0}}, Client: rig.Seat{Host: here, CPUs: []int{runtime.NumCPU() - 1}}}
	f, err := floor.Measure(ctx, filepath.Join(p.bin, "netdyno-host"), path)
	if err != nil {
		return 0, err
	}
	for _, step := range f.Steps {
		if step.WorkNs == int64(smallWork) {
			return medianUs(step.Times)
		}
	}
	return 0, fmt.Errorf("no step of %v among %d", smallWork, len(f.Steps))
}

func medianUs(histogram string) (float64, error) {
	h, err := hist.Decode(histogram)
	if err != nil {
		return 0, err
	}
	median, ok := h.Percentile(0.5)
	if !ok {
		return 0, errors.New("too few times for a median")
	}
	return float64(median) / 1e3, nil
}

// oneThread is a server of HTTP of which one thread serves all connections, spinning or asleep
// in between.
type oneThread struct {
	address string
	epoll   int
	spins   bool
	listen  *net.TCPListener
	ended   chan struct{}

	reply func(fd int) // to a request
	gone  func(fd int) // a client, before its connection is closed
	after func()       // whatever came at once
}

var (
	smallReply   = []byte("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
	smallRequest = []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
)

// newSmallServer serves on the first CPU, and computes for smallWork for each request.
func newSmallServer(spins bool) (*oneThread, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	s, err := newOneThread(l)
	if err != nil {
		return nil, err
	}
	s.spins = spins
	s.reply = func(fd int) {
		for came := time.Now(); time.Since(came) < smallWork; {
		}
		_, _ = unix.Write(fd, smallReply) // a client that is gone is seen by the next read
	}
	go func() {
		onCPU(0)
		s.serve()
	}()
	return s, nil
}

// newOneThread accepts connections, for whoever calls serve.
func newOneThread(l *net.TCPListener) (*oneThread, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s := &oneThread{address: l.Addr().String(), epoll: epoll, listen: l, ended: make(chan struct{}), gone: func(int) {}, after: func() {}}
	go s.accept()
	return s, nil
}

// accept gives the serving thread its connections, until the listener is closed.
func (s *oneThread) accept() {
	defer close(s.ended)
	for {
		c, err := s.listen.AcceptTCP()
		if err != nil {
			return
		}
		raw, err := c.SyscallConn()
		if err != nil {
			continue
		}
		_ = raw.Control(func(fd uintptr) { // a copy of its own, which the serving thread closes
			if own, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3); err == nil {
				_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, own, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(own)})
			}
		})
		_ = c.Close() // the copy stays open
	}
}

// serve serves until the listener is closed.
func (s *oneThread) serve() {
	runtime.LockOSThread()
	timeout := 200 // ms: to see that it has ended
	if s.spins {
		timeout = 0
	}
	events, bytes := make([]unix.EpollEvent, 16), make([]byte, 4096)
	for {
		n, err := unix.EpollWait(s.epoll, events, timeout)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return // closed
		}
		for _, e := range events[:max(n, 0)] {
			s.answer(int(e.Fd), bytes)
		}
		s.after()
		select {
		case <-s.ended:
			_ = unix.Close(s.epoll)
			return
		default:
		}
	}
}

func (s *oneThread) answer(fd int, buffer []byte) {
	n, err := unix.Read(fd, buffer)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
	case err != nil || n == 0:
		s.gone(fd)
		_ = unix.Close(fd)
	case bytes.HasSuffix(buffer[:n], []byte("\r\n\r\n")):
		s.reply(fd)
	}
}

func (s *oneThread) close() {
	_ = s.listen.Close()
	<-s.ended
}

// ask makes exchanges for a window, spinning on the last CPU, and returns their median in µs.
func (s *oneThread) ask() (float64, error) {
	type outcome struct {
		us  float64
		err error
	}
	done := make(chan outcome)
	go func() { // its thread ends with it
		onCPU(runtime.NumCPU() - 1)
		us, err := s.spin()
		done <- outcome{us, err}
	}()
	got := <-done
	return got.us, got.err
}

func (s *oneThread) spin() (float64, error) {
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }() // nothing is left to be sent
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	times, buffer := hist.New(), make([]byte, 4096)
	var failed error
	err = raw.Control(func(fd uintptr) {
		for begun := time.Now(); failed == nil && time.Since(begun) < smallWindow; {
			sent := time.Now()
			if _, failed = unix.Write(int(fd), smallRequest); failed != nil {
				return
			}
			for {
				n, err := unix.Read(int(fd), buffer)
				if err == nil && n == len(smallReply) {
					break
				}
				if err != nil && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) || err == nil {
					failed = fmt.Errorf("read %d bytes: %w", n, err)
					return
				}
			}
			times.Record(int64(time.Since(sent)), 1)
		}
	})
	if err := errors.Join(err, failed); err != nil {
		return 0, err
	}
	text, err := times.Encode()
	if err != nil {
		return 0, err
	}
	return medianUs(text)
}

// onCPU keeps the calling goroutine on one CPU for as long as it lives.
func onCPU(cpu int) {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(cpu)
	_ = unix.SchedSetaffinity(0, &set) // where it is not allowed, times are less quiet
}
