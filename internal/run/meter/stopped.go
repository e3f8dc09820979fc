package meter

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
)

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
