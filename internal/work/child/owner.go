package child

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"netdyno/internal/procstat"
	"netdyno/internal/tcpinfo"
)

// TakenError says that another program listens at the address that was chosen for ours.
type TakenError struct{ Address, By string }

// Error implements error.
func (e *TakenError) Error() string {
	return fmt.Sprintf("%s took %s between its choice and its use", e.By, e.Address)
}

// Owns reports whether what listens at an address is the program: itself, a
// descendant, or a daemon that it has left to our parent. The error is a
// *TakenError for any other process; nil also where the kernel does not show whose
// a socket is, as for another user's.
func (p *Process) Owns(address string) error {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return fmt.Errorf("whose %s is: %w", address, err)
	}
	listeners, err := tcpinfo.Listeners(at.AddrPort())
	if err != nil {
		return fmt.Errorf("whose %s is: %w", address, err)
	}
	for _, l := range listeners {
		socket := []tcpinfo.Listener{l}
		if tcpinfo.Holds(p.PID(), socket) {
			continue
		}
		owners, err := tcpinfo.Owners(socket)
		if err != nil {
			return fmt.Errorf("whose %s is: %w", address, err)
		}
		if stranger := p.stranger(owners); stranger != 0 {
			return &TakenError{address, describe(stranger)}
		}
	}
	return nil
}

// stranger returns the first of the processes when none of them is the program's;
// 0 when one is, or there are none.
func (p *Process) stranger(owners []int) int {
	for _, pid := range owners {
		if p.begot(pid) {
			return 0
		}
	}
	if len(owners) == 0 {
		return 0
	}
	return owners[0]
}

// begot tells whether a process is the program or descends from it. A daemon
// descends from our parent and not from us: the meter adopts it.
func (p *Process) begot(pid int) bool {
	const deepest = 1000 // processes may change while they are followed
	for range deepest {
		switch pid {
		case p.PID():
			return true
		case os.Getpid(), 0:
			return false
		case os.Getppid():
			return true
		}
		pid = int(procstat.Of(pid).Number(procstat.Parent)) // 0 of one that has ended
	}
	return false
}

// describe names a process.
func describe(pid int) string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return fmt.Sprintf("%s (process %d)", filepath.Base(path), pid)
}
