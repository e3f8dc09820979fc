package session

import (
	"context"
	"unsafe"

	"golang.org/x/sys/unix"

	"netdyno/internal/run/bench"
)

// onRings is the client of HTTP/1.1 without encryption that takes the least CPU, as
// docs/benchmarks.md has it.
const onRings = "http1-uring"

// CheapestHTTP1 returns the client of HTTP/1.1 without encryption that takes the least
// CPU of this host, where it can be told beforehand that it runs here; else "".
func CheapestHTTP1(ctx context.Context) string {
	directories, err := places()
	if err != nil || !rings() || !bench.Has(ctx, directories, bench.WorkerPrefix+onRings, onRings) {
		return ""
	}
	return onRings
}

// rings tells whether this process may set up an io_uring of Linux 6.0, which knew the
// flag first. A sandbox or a sysctl may forbid it.
func rings() bool {
	const singleIssuer = 1 << 12              // IORING_SETUP_SINGLE_ISSUER
	parameters := [30]uint32{2: singleIssuer} // struct io_uring_params
	fd, _, failed := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&parameters)), 0)
	if failed != 0 {
		return false
	}
	_ = unix.Close(int(fd)) // nothing was submitted to it
	return true
}
