package meter

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/usage"
)

// examiner finds out what an answer that does not come is waiting for. The
// goroutine that receives commands owns it.
type examiner struct {
	worker  int
	orphans *orphans
	tcp     *connections
	waiting func() int64 // bytes of commands that the worker has not read
}

// examine looks at the worker's processes and, for a client, its connections. What
// cannot be read is left out.
func (e *examiner) examine() *contract.Examined {
	var tree usage.Tree
	roots := append([]int{e.worker}, e.orphans.living(&tree)...)
	x := &contract.Examined{UnreadBytes: e.waiting(), Stopped: tree.Stopped(roots), Exhausted: tree.Exhausted(roots), Ended: tree.Ended(e.worker)}
	x.Reached = e.tcp.reached(func() map[uint32]bool {
		r, err := usage.NewReader(e.worker)
		if err != nil {
			return nil
		}
		return r.Sockets(e.orphans.living(&tree))
	})
	return x
}

// reached sums a client's connections to its peers; nil for every other worker, and
// where the kernel does not tell.
func (c *connections) reached(held func() map[uint32]bool) *contract.Reached {
	c.mu.Lock()
	query := c.query
	c.mu.Unlock()
	if len(query.RemotePorts) == 0 {
		return nil
	}
	sockets, err := query.Dump()
	if err != nil {
		return nil
	}
	own, sum := held(), contract.Reached{}
	for i := range sockets {
		if s := &sockets[i]; own[s.Inode] {
			own[s.Inode] = false // a walk may meet one twice
			sum.Connections++
			sum.ReceivedBytes += s.ReceivedBytes
			if s.ReceivedBytes == 0 {
				sum.Silent++
			}
		}
	}
	return &sum
}

// stopSignal returns the signal by which the worker has been stopped since it was
// last asked; 0 when it has not. The worker is not waited for: an exit stays for
// others to collect.
func stopSignal(pid int) unix.Signal {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || info.Signo == 0 {
			return 0
		}
		break
	}
	// Package unix names no field of siginfo_t behind si_code. For SIGCHLD there
	// follow, from byte 16 on, si_pid, si_uid and si_status, of 4 bytes each, on
	// every 64-bit Linux. Source: sigaction(2); include/uapi/asm-generic/siginfo.h.
	const statusAt = 24
	return unix.Signal(*(*int32)(unsafe.Add(unsafe.Pointer(&info), statusAt)))
}

// stoppedError is what the bench hears in the place of a worker that cannot speak.
func stoppedError(name string, pid int, by string) *contract.Error {
	return &contract.Error{Kind: contract.Timeout, Fatal: true,
		Text: fmt.Sprintf("%s is stopped (%s): process %d", name, by, pid)}
}
