package serving

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/unixsocket"
)

// Socket returns the process that began to listen at a Unix socket, as the kernel tells
// a connection of the caller's own (SO_PEERCRED, unix(7)). What that process started
// serves as a rule, and is read with it. The error says in a clause why it cannot be told.
func Socket(file string) (contract.Attached, error) {
	ctx, cancel := context.WithTimeout(context.Background(), knock)
	defer cancel()
	dialled, err := unixsocket.Dial(ctx, net.Dialer{}, file)
	if err != nil {
		return contract.Attached{}, unixsocket.Explain(file, err)
	}
	conn, is := dialled.(*net.UnixConn)
	if !is {
		return contract.Attached{}, fmt.Errorf("%s is no Unix socket", file)
	}
	defer func() { _ = conn.Close() }() // nothing was written
	raw, err := conn.SyscallConn()
	if err != nil {
		return contract.Attached{}, err
	}
	var of *unix.Ucred
	var unknown error
	err = raw.Control(func(fd uintptr) { of, unknown = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, unknown); err != nil {
		return contract.Attached{}, fmt.Errorf("who listens on %s is not told: %w", unixsocket.Address(file), err)
	}
	if _, err := os.Stat("/proc/" + strconv.Itoa(int(of.Pid))); of.Pid <= 0 || err != nil {
		return contract.Attached{}, fmt.Errorf("the process that began to listen on %s has ended, or is not to be seen from here, as one in a container is not", unixsocket.Address(file))
	}
	return named([]int{int(of.Pid)}, unixsocket.Address(file))
}
