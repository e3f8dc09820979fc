package floor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// works is how long the server computes, in turn. A CPU that idles longer than a
// millisecond sleeps no deeper that matters here.
var works = []time.Duration{0, 30 * time.Microsecond, 100 * time.Microsecond, 300 * time.Microsecond, time.Millisecond}

const (
	// rounds is how often all of works come: what disturbs one is not all of a step.
	rounds = 4
	// Of each round a step takes at least so many exchanges, and so long.
	leastExchanges = 20
	leastTime      = 10 * time.Millisecond

	size    = 4 // of a message: how long to compute, in ns
	maxWork = 10 * time.Millisecond
)

// Serve listens on a port of address, prints where, and serves one client, which must come
// from the address named, until it leaves.
func Serve(address, client string, cpus []int, out io.Writer) error {
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer func() { _ = l.Close() }() // nothing is left to be sent
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return err
	}
	c, err := accept(l.(*net.TCPListener), client)
	if err != nil {
		return err
	}
	return onThread(c, cpus, func(fd uintptr) error {
		var message [size]byte
		for {
			if err := readAll(fd, message[:]); err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
			work := time.Duration(binary.BigEndian.Uint32(message[:]))
			if work > maxWork {
				return fmt.Errorf("asked to compute for %v, expected %v at most", work, maxWork)
			}
			for until := time.Now().Add(work); work > 0 && time.Now().Before(until); {
			}
			if err := writeAll(fd, message[:]); err != nil {
				return err
			}
		}
	})
}

// accept returns the first connection from an address, and closes those of strangers.
func accept(l *net.TCPListener, client string) (*net.TCPConn, error) {
	if err := l.SetDeadline(time.Now().Add(bound)); err != nil {
		return nil, err
	}
	for {
		c, err := l.AcceptTCP()
		if err != nil {
			return nil, fmt.Errorf("accept: %w", err)
		}
		if from, is := c.RemoteAddr().(*net.TCPAddr); is && from.IP.Equal(net.ParseIP(client)) {
			return c, nil
		}
		_ = c.Close() // a stranger's
	}
}

// Ask makes the exchanges of a measurement with a server, from a source address, and returns
// their times by step.
func Ask(server, source string, cpus []int) ([]record.FloorStep, error) {
	from := &net.TCPAddr{IP: net.ParseIP(source)}
	d := net.Dialer{Timeout: timeout, LocalAddr: from}
	c, err := d.Dial("tcp", server)
	if err != nil {
		return nil, err
	}
	times := make([]*hist.Histogram, len(works))
	for i := range times {
		times[i] = hist.New()
	}
	err = onThread(c.(*net.TCPConn), cpus, func(fd uintptr) error {
		for range rounds {
			for i, work := range works {
				if err := step(fd, work, times[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	steps := make([]record.FloorStep, len(works))
	for i, work := range works {
		text, err := times[i].Encode()
		if err != nil {
			return nil, err
		}
		steps[i] = record.FloorStep{WorkNs: int64(work), Times: text}
	}
	return steps, nil
}

func step(fd uintptr, work time.Duration, into *hist.Histogram) error {
	var message [size]byte
	binary.BigEndian.PutUint32(message[:], uint32(work))
	begun := time.Now()
	for done := 0; done < leastExchanges || time.Since(begun) < leastTime; done++ {
		sent := time.Now()
		if err := writeAll(fd, message[:]); err != nil {
			return err
		}
		if err := readAll(fd, message[:]); err != nil {
			return err
		}
		into.Record(int64(time.Since(sent)), 1)
	}
	return nil
}

// onThread calls body with a connection's blocking descriptor, on a thread that has the CPUs.
// It closes the connection.
func onThread(c *net.TCPConn, cpus []int, body func(fd uintptr) error) error {
	defer func() { _ = c.Close() }() // nothing is left to be sent
	f, err := c.File()
	if err != nil {
		return err
	}
	defer f.Close()
	fd := f.Fd() // which makes it blocking
	wait := unix.NsecToTimeval(int64(timeout))
	if err := unix.SetsockoptTimeval(int(fd), unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		return err
	}
	runtime.LockOSThread() // never unlocked: its CPUs are not another goroutine's
	if len(cpus) > 0 {
		var set unix.CPUSet
		for _, cpu := range cpus {
			set.Set(cpu)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return fmt.Errorf("take CPUs %v: %w", cpus, err)
		}
	}
	err = body(fd)
	runtime.KeepAlive(f)
	return err
}

// readAll and write are system calls of which Go's scheduler does not know: it would hand the
// processor to another thread and take it back, which is not the path's time.
func readAll(fd uintptr, b []byte) error {
	for len(b) > 0 {
		n, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return fmt.Errorf("read: %w", errno)
		case n == 0:
			return io.EOF
		default:
			b = b[n:]
		}
	}
	return nil
}

func writeAll(fd uintptr, b []byte) error {
	for len(b) > 0 {
		n, _, errno := unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return fmt.Errorf("write: %w", errno)
		default:
			b = b[n:]
		}
	}
	return nil
}
