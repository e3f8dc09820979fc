package session

import (
	"context"
	"maps"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/run/bench"
)

// onRings are the clients that take the least CPU of this host, by wire, as
// docs/benchmarks.md has it.
var onRings = map[string]string{
	"http/1.1":        "http1-uring",
	"h2c":             "h2-uring",
	"grpc:netdyno.v1": "grpc-nghttp2",
}

// CheapestClient returns the client of a wire that takes the least CPU of this host,
// where it can be told beforehand that it runs here and, if asked to, encrypts; else "".
func CheapestClient(ctx context.Context, wire string, encrypted bool) string {
	name := onRings[wire]
	directories, err := places()
	if name == "" || err != nil || !rings() {
		return ""
	}
	offered, found := bench.Offered(ctx, directories, bench.WorkerPrefix+name, name)
	if !found || encrypted && !slices.Contains(offered.Features, contract.FeatureTLS) {
		return ""
	}
	return name
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

// OnRings tells whether a client is one of those.
func OnRings(client string) bool {
	return slices.Contains(slices.Collect(maps.Values(onRings)), client)
}
