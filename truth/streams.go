package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/read/stat"
	"netdyno/internal/run/rig"
)

const (
	streamMessages = 4
	streamBytes    = 100 // of each
	streamBlocks   = 4
	streamWindow   = 2 * time.Second
	streamAwake    = 200 * time.Microsecond // before a message is due, because a sleeper wakes late
)

// streamed holds what clients tell of replies that come in parts to a server of this program's
// own that emits them on a schedule: gaps to when its kernel says that each message left, first
// events to what a client of this program's own sees beside it, which takes a request's way there
// and, asleep, the time in which a CPU wakes up. Beside other processes it needs a higher priority.
func streamed(ctx context.Context, p *pipeline) ([]answer, error) {
	const mostAsleep, mostPolling = 100.0, 5.0 // µs
	var answers []answer
	for _, of := range []streaming{
		{"go-http1", "", 5 * time.Millisecond, 5 * time.Millisecond},
		{"go-http1", "", 25 * time.Millisecond, 5 * time.Millisecond},
		{"http1-uring", "event", 5 * time.Millisecond, 5 * time.Millisecond},
		{"http1-uring", "event", 25 * time.Millisecond, 5 * time.Millisecond},
		{"http1-uring", "poll", 2 * time.Millisecond, time.Millisecond}, // a histogram's step there is 1 µs
	} {
		off, err := streamErrors(ctx, p, of)
		if err != nil {
			return answers, err
		}
		most, manner := mostAsleep, "sleeps"
		if of.spins() {
			most, manner = mostPolling, "spins"
		}
		for _, each := range []struct {
			name  string
			off   []float64
			asked bool
		}{
			{": gap, less the kernel's", off.gap, true},
			{": first event, less that of a bare client that " + manner, off.first, true},
			{":   that of a bare client, less the kernel's", off.way, false},
		} {
			median := stat.Median(each.off)
			a := answer{of.String() + each.name, fmt.Sprintf("%+.1f µs (%+.1f to %+.1f)", median, slices.Min(each.off), slices.Max(each.off)), "–", true}
			if each.asked {
				a.asked, a.met = fmt.Sprintf("within %.0f µs", most), math.Abs(median) <= most
			}
			answers = append(answers, a)
		}
	}
	return answers, nil
}

// streaming is a client and the schedule that it is served by.
type streaming struct {
	client, wait string        // "" where a client has no such option
	held, every  time.Duration // from a request to its first message, and between messages
}

func (s streaming) spins() bool { return s.wait == "poll" }

func (s streaming) String() string {
	text := s.client
	if s.wait != "" {
		text += " wait=" + s.wait
	}
	return fmt.Sprintf("%s, %v + %v", text, s.held, s.every)
}

// streamOff is by how much medians are off, in µs, by block.
type streamOff struct {
	gap   []float64 // the client's, from the kernel's
	first []float64 // the client's first event, from that of a bare client
	way   []float64 // the bare client's first event, from the kernel's
}

// streamErrors makes trials against a server that emits, and exchanges of a bare client after each.
func streamErrors(ctx context.Context, p *pipeline, of streaming) (streamOff, error) {
	var off streamOff
	e, err := newEmitting(of)
	if err != nil {
		return off, err
	}
	defer e.close()
	external, err := rig.NewExternal(ctx, []string{e.listen.Addr().String()}, "")
	if err != nil {
		return off, err
	}
	apart := p.on(external)
	apart.bench.Hosts = external.Hosts() // the last CPU is the client's, as the first is the server's
	apart.bench.Hosts[0].CPUs = []int{runtime.NumCPU() - 1}
	for range streamBlocks {
		e.take()
		first, gap, err := apart.streamMedians(ctx, of)
		if err != nil {
			return off, err
		}
		known := e.take()
		bare, err := e.ask()
		if err != nil {
			return off, err
		}
		way := stat.Median(bare.first) - stat.Median(e.take().first)
		off.gap = append(off.gap, gap-stat.Median(known.gaps))
		off.first = append(off.first, first-stat.Median(known.first)-way)
		off.way = append(off.way, way)
	}
	return off, nil
}

// streamMedians are of a trial against the rig's server, in µs.
func (p *pipeline) streamMedians(ctx context.Context, of streaming) (first, gap float64, err error) {
	words := []string{
		"server=go-http1", "client=" + of.client, "connections=1", "request=0", "stream=down", "events=yes",
		fmt.Sprintf("chunk=%dB", streamBytes), fmt.Sprintf("response=%dB", streamMessages*streamBytes),
		"blocks=1", "warmup=100ms", "window=" + streamWindow.String(), "opt.client.verify=length",
	}
	if of.wait != "" {
		words = append(words, "opt.client.wait="+of.wait)
	}
	if of.spins() {
		words = append(words, "opt.client.spin=100ms")
	}
	_, _, records, err := p.records(ctx, words...)
	if err != nil {
		return 0, 0, err
	}
	for _, w := range records[0].Workers {
		if w.Role == contract.Client && w.Result != nil && w.Result.Events != nil {
			first, err := medianUs(w.Result.Events.First)
			gap, failed := medianUs(w.Result.Events.Gaps)
			return first, gap, errors.Join(err, failed)
		}
	}
	return 0, 0, fmt.Errorf("the trial told no events: %+v", records[0].Failure)
}

// emitting is a server of HTTP in this process whose replies come in messages on a schedule. It
// keeps when, by its kernel, each request came and each message left: over loopback that is when
// the message is there for its client. It sleeps in between, or spins on the first CPU.
type emitting struct {
	of     streaming
	listen *net.TCPListener
	served sync.WaitGroup

	mu sync.Mutex
	is partTimes
}

func newEmitting(of streaming) (*emitting, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	raw, err := l.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	var refused error
	err = raw.Control(func(fd uintptr) { refused = askStamps(int(fd), 0) }) // before there are connections: the kernel begins late
	if err := errors.Join(err, refused); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	e := &emitting{of: of, listen: l}
	e.served.Go(func() {
		for {
			c, err := l.AcceptTCP()
			if err != nil {
				return // it is closed
			}
			e.served.Go(func() {
				if err := e.serve(c); err != nil {
					fmt.Fprintln(os.Stderr, "  the server that emits:", err)
				}
			})
		}
	})
	return e, nil
}

// close awaits the end of its connections.
func (e *emitting) close() {
	_ = e.listen.Close()
	e.served.Wait()
}

// take returns what was kept, and forgets it.
func (e *emitting) take() partTimes {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() { e.is = partTimes{} }()
	return e.is
}

// serve answers a connection's requests until it ends.
func (e *emitting) serve(c *net.TCPConn) error {
	fd, err := own(c)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // its client is gone
	if err := askStamps(fd, unix.SOF_TIMESTAMPING_TX_SOFTWARE|unix.SOF_TIMESTAMPING_OPT_TSONLY|unix.SOF_TIMESTAMPING_OPT_ID); err != nil {
		return err
	}
	if e.of.spins() {
		onCPU(0)
	}
	s := stamped{awaited: awaited{fd, e.of.spins()}}
	for {
		came, err := s.request()
		if err == nil && !came.IsZero() {
			err = e.emit(&s, came)
		}
		if err != nil || came.IsZero() {
			return err
		}
	}
}

// own takes a connection from Go's runtime, of which a thread would wake for all that happens on it,
// perhaps on the CPU of the other end.
func own(c net.Conn) (fd int, err error) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err == nil {
		err = raw.Control(func(of uintptr) { fd, err = unix.FcntlInt(of, unix.F_DUPFD_CLOEXEC, 3) })
	}
	return fd, errors.Join(err, c.Close()) // the copy stays open
}

// emit replies to a request that came at a time.
func (e *emitting) emit(s *stamped, came time.Time) error {
	last := came
	for k, text := range streamReply {
		at := came.Add(e.of.held + time.Duration(k)*e.of.every)
		if !e.of.spins() { // Go's own timers are late by up to 1 ms
			nap := unix.NsecToTimespec(max(0, int64(time.Until(at)-streamAwake)))
			_ = unix.Nanosleep(&nap, nil)
		}
		for time.Now().Before(at) {
		}
		left, err := s.write(text)
		if err != nil {
			return err
		}
		e.mu.Lock()
		e.is.add(k, left.Sub(last))
		e.mu.Unlock()
		last = left
	}
	return nil
}

// streamReply is what one has, message by message.
var streamReply = func() [][]byte {
	message := bytes.Repeat([]byte("x"), streamBytes)
	all := slices.Repeat([][]byte{message}, streamMessages)
	all[0] = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", streamMessages*streamBytes, message)
	return all
}()

// partTimes are when parts of replies come, in µs.
type partTimes struct{ first, gaps []float64 }

func (p *partTimes) add(k int, after time.Duration) {
	us := float64(after) / 1e3
	if k == 0 {
		p.first = append(p.first, us)
	} else {
		p.gaps = append(p.gaps, us)
	}
}

// awaited is a connection on which bytes are awaited, asleep or spinning.
type awaited struct {
	fd    int
	spins bool
}

func (a awaited) wait() error {
	timeout := -1
	if a.spins {
		timeout = 0
	}
	fds := []unix.PollFd{{Fd: int32(a.fd), Events: unix.POLLIN}}
	for {
		switch n, err := unix.Poll(fds, timeout); {
		case errors.Is(err, unix.EINTR):
		case err != nil || n > 0:
			return err
		}
	}
}

// ask makes exchanges for a window, on the last CPU, by no more than system calls.
func (e *emitting) ask() (partTimes, error) {
	var times partTimes
	c, err := net.Dial("tcp", e.listen.Addr().String())
	if err != nil {
		return times, err
	}
	fd, err := own(c)
	if err != nil {
		return times, err
	}
	defer func() { _ = unix.Close(fd) }() // nothing is left to be sent
	ended := make(chan error)
	go func() { // its thread ends with it
		onCPU(runtime.NumCPU() - 1)
		var failed error
		for begun := time.Now(); failed == nil && time.Since(begun) < streamWindow; {
			failed = times.exchange(awaited{fd, e.of.spins()})
		}
		ended <- failed
	}()
	err = <-ended
	return times, err
}

// exchange makes one.
func (p *partTimes) exchange(a awaited) error {
	buffer, last := make([]byte, 4096), time.Now()
	if _, err := unix.Write(a.fd, smallRequest); err != nil {
		return err
	}
	for k, came := 0, 0; k < streamMessages; {
		if err := a.wait(); err != nil {
			return err
		}
		n, err := unix.Read(a.fd, buffer)
		at := time.Now()
		if err != nil || n == 0 {
			return fmt.Errorf("read after %d bytes: %w", came, cmp.Or(err, io.ErrUnexpectedEOF))
		}
		for came += n; k < streamMessages && came >= len(streamReply[0])+k*streamBytes; k++ {
			p.add(k, at.Sub(last))
			last = at
		}
	}
	return nil
}

// stamped is a connection whose kernel says when bytes came and left.
type stamped struct {
	awaited
	sent    uint32 // bytes
	control [512]byte
	buffer  [4096]byte
}

// askStamps asks for the time at which bytes come, and for more.
func askStamps(fd, more int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, unix.SOF_TIMESTAMPING_SOFTWARE|unix.SOF_TIMESTAMPING_RX_SOFTWARE|more)
}

// request awaits one and returns when it came; zero when the client is gone, or tries another
// protocol.
func (s *stamped) request() (came time.Time, err error) {
	for {
		if err := s.wait(); err != nil {
			return came, err
		}
		n, control, _, _, err := unix.Recvmsg(s.fd, s.buffer[:], s.control[:], 0)
		switch {
		case errors.Is(err, unix.EAGAIN): // a time anew woke it, of what went out twice
			_, _, _, _, _ = unix.Recvmsg(s.fd, nil, s.control[:], unix.MSG_ERRQUEUE)
		case errors.Is(err, unix.ECONNRESET):
			return came, nil
		case err != nil || !bytes.HasPrefix(s.buffer[:n], []byte("GET ")):
			return came, err
		default:
			came, _, err = stampIn(s.control[:control])
			return came, err
		}
	}
}

// write sends a text and returns when it left.
func (s *stamped) write(text []byte) (time.Time, error) {
	if _, err := unix.Write(s.fd, text); err != nil {
		return time.Time{}, err
	}
	s.sent += uint32(len(text))
	for begun := time.Now(); time.Since(begun) < time.Second; {
		_, control, _, _, err := unix.Recvmsg(s.fd, nil, s.control[:], unix.MSG_ERRQUEUE)
		if err != nil {
			continue // it has not left
		}
		left, last, err := stampIn(s.control[:control])
		if err != nil || last == s.sent-1 { // else of an earlier one, which went out twice
			return left, err
		}
	}
	return time.Time{}, errors.New("the kernel did not say within a second when a message left")
}

// stampIn returns the kernel's time in what came beside bytes, and of those that left the number
// of the last one.
func stampIn(control []byte) (at time.Time, last uint32, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return at, 0, err
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPING && len(m.Data) >= 16:
			at = time.Unix(int64(binary.NativeEndian.Uint64(m.Data)), int64(binary.NativeEndian.Uint64(m.Data[8:])))
		case m.Header.Level == unix.SOL_IP && m.Header.Type == unix.IP_RECVERR && len(m.Data) >= 16:
			last = binary.NativeEndian.Uint32(m.Data[12:]) // ee_data of a sock_extended_err
		}
	}
	if at.IsZero() {
		return at, 0, errors.New("the kernel gave no time")
	}
	return at, last, nil
}
