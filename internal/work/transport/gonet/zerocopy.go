package gonet

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"netdyno/internal/work/wire"
)

// outstanding bounds the sends whose completion has not been read: their pages
// are pinned, and their notes take option memory (net.core.optmem_max).
const outstanding = 64

// zerocopy is option send=zerocopy: the kernel takes the block's own pages and
// tells on the socket's error queue when it has let go of them. The block never
// changes, so nothing waits for that but the bound above.
//
// A socket with an entry in its error queue reports EPOLLERR, which the runtime's
// poller takes for a descriptor that cannot be polled and fails every Read with;
// so whoever reads from such a connection waits in poll(2) (wait). Writers are
// woken by it, which is what they need.
//
// One goroutine sends, one waits.
type zerocopy struct {
	raw     syscall.RawConn
	content *wire.Content
	closing int
	until   time.Time // of wait; zero is without bound

	attempt func(fd uintptr) bool // bound once: a method value allocates
	piece   []byte
	n       int
	errno   syscall.Errno

	looking func(fd uintptr) // bound once, too
	what    func(fd uintptr) bool
	done    bool
	lost    error
	fds     [2]unix.PollFd

	sends uint32 // so far, by the sender

	mu     sync.Mutex // held from taking a note to counting it: who finds the queue empty must find the counts complete
	let    uint32     // sends that the kernel has let go of
	copied uint32     // of them, those that it copied all the same
	note   [16]uint64 // one note of the error queue, aligned
}

func newZerocopy(raw syscall.RawConn, content *wire.Content, closing int) (*zerocopy, error) {
	z := &zerocopy{raw: raw, content: content, closing: closing}
	z.attempt, z.looking = z.once, z.look
	var failed error
	if err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1)
	}); err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, fmt.Errorf("set SO_ZEROCOPY: %w", failed)
	}
	return z, nil
}

func (z *zerocopy) send(at, limit int64) (int64, error) {
	piece := z.content.Piece(at)
	z.piece = piece[:min(int64(len(piece)), limit)]
	if err := z.raw.Write(z.attempt); err != nil {
		return 0, err
	}
	if z.errno != 0 {
		return 0, os.NewSyscallError("send", z.errno)
	}
	return int64(z.n), nil
}

// once tries to send; false waits for room or for a note.
func (z *zerocopy) once(fd uintptr) bool {
	flags := uintptr(syscall.MSG_NOSIGNAL | unix.MSG_ZEROCOPY)
	if z.pending(fd, outstanding-1) >= outstanding {
		return false
	}
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(z.piece))),
			uintptr(len(z.piece)), flags, 0, 0)
		switch {
		case errno == syscall.EAGAIN || errno == syscall.EINTR:
			return false
		case errno == syscall.ENOBUFS && flags&unix.MSG_ZEROCOPY != 0:
			// No memory for another note: one that comes frees some. Where none
			// is due, this once without.
			if z.pending(fd, 0) > 0 {
				return false
			}
			flags &^= unix.MSG_ZEROCOPY
			continue
		}
		if z.n, z.errno = int(n), errno; errno == 0 && flags&unix.MSG_ZEROCOPY != 0 {
			z.sends++
		}
		return true
	}
}

// pending returns how many sends the kernel has not let go of; above most, it
// reads the notes that have come first. The sender calls it.
func (z *zerocopy) pending(fd uintptr, most uint32) uint32 {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.sends-z.let > most {
		z.reap(int(fd))
	}
	return z.sends - z.let
}

// reap reads every note of the error queue; z.mu is held.
func (z *zerocopy) reap(fd int) {
	for {
		header := unix.Msghdr{Control: (*byte)(unsafe.Pointer(&z.note))}
		header.SetControllen(len(z.note) * 8)
		_, _, errno := syscall.RawSyscall(syscall.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&header)), unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
		if errno != 0 {
			return
		}
		if int(header.Controllen) < unix.CmsgSpace(int(unsafe.Sizeof(unix.SockExtendedErr{}))) {
			continue
		}
		said := (*unix.SockExtendedErr)(unsafe.Pointer(&z.note[unix.CmsgLen(0)/8]))
		if said.Origin != unix.SO_EE_ORIGIN_ZEROCOPY || said.Errno != 0 {
			continue
		}
		sends := said.Data - said.Info + 1 // numbers of sends, both included (msg_zerocopy.rst)
		z.let += sends
		if said.Code&unix.SO_EE_CODE_ZEROCOPY_COPIED != 0 {
			z.copied += sends
		}
	}
}

// wait repeats an attempt until it says that it is done.
func (z *zerocopy) wait(attempt func(fd uintptr) bool) error {
	z.what, z.done, z.lost = attempt, false, nil
	for !z.done && z.lost == nil {
		if err := z.raw.Control(z.looking); err != nil {
			return err
		}
	}
	return z.lost
}

// look tries once and then waits for something to change.
func (z *zerocopy) look(fd uintptr) {
	if z.done = z.what(fd); z.done {
		return
	}
	timeout := -1
	if !z.until.IsZero() {
		timeout = max(0, int(time.Until(z.until).Milliseconds()))
	}
	z.fds = [2]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(z.closing), Events: unix.POLLIN}}
	n, err := unix.Poll(z.fds[:], timeout)
	switch {
	case err != nil && !errors.Is(err, unix.EINTR):
		z.lost = os.NewSyscallError("poll", err)
	case z.fds[1].Revents != 0:
		z.lost = net.ErrClosed
	case n == 0 && err == nil:
		z.lost = os.ErrDeadlineExceeded
	case z.fds[0].Revents&unix.POLLERR != 0:
		z.mu.Lock()
		z.reap(int(fd))
		z.mu.Unlock()
	}
}

// account returns how many sends there were and how many of those that the
// kernel has let go of it copied. Nobody sends meanwhile.
func (z *zerocopy) account() (sends, copied uint32) {
	_ = z.raw.Control(func(fd uintptr) { z.pending(fd, 0) }) // closed, it stays as it was
	return z.sends, z.copied
}
