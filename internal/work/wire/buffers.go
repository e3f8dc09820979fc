package wire

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Names of the options that every transport over TCP may have.
const (
	sendBuffer    = "send_buffer"
	receiveBuffer = "receive_buffer"
)

// SocketOptions declare what Buffers reads.
func SocketOptions() []contract.Option {
	zero, most := 0.0, float64(1<<30)
	option := func(name, socket, sysctl, doc string) contract.Option {
		as := "setsockopt(" + socket + ", {value}), sysctl " + sysctl + "={value} or more"
		return contract.Option{
			Name: name, Type: contract.TypeBytes, Unit: "B", Default: 0, Min: &zero, Max: &most, Doc: doc,
			Grid: []string{"256KiB", "4MiB"}, As: map[contract.Role]string{contract.Server: as, contract.Client: as},
		}
	}
	return []contract.Option{
		option(sendBuffer, "SO_SNDBUF", "net.core.wmem_max", "SO_SNDBUF of each connection; 0 leaves it to the kernel's tuning, and net.core.wmem_max bounds it"),
		option(receiveBuffer, "SO_RCVBUF", "net.core.rmem_max", "SO_RCVBUF of each connection; 0 leaves it to the kernel's tuning, and net.core.rmem_max bounds it"),
	}
}

// Buffers are the sizes of a connection's socket buffers in bytes; 0 leaves one
// to the kernel.
type Buffers struct{ Send, Receive int64 }

// BuffersOf reads the options of SocketOptions; a transport without them has the
// kernel's buffers.
func BuffersOf(setup contract.Setup) Buffers {
	var b Buffers
	b.Send, _ = setup.Options[sendBuffer].(int64)
	b.Receive, _ = setup.Options[receiveBuffer].(int64)
	return b
}

// setting is one of the buffers as the kernel names it.
type setting struct {
	name   string
	option int
	size   int64
}

func (b Buffers) settings() [2]setting {
	return [2]setting{{sendBuffer, unix.SO_SNDBUF, b.Send}, {receiveBuffer, unix.SO_RCVBUF, b.Receive}}
}

// Apply sets the buffers of a socket before it listens or connects: the handshake
// fixes the window's scale, and accepted sockets inherit from the listening one.
func (b Buffers) Apply(fd int) error {
	for _, s := range b.settings() {
		if s.size == 0 {
			continue
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, s.option, int(s.size)); err != nil {
			return fmt.Errorf("set %s to %d: %w", s.name, s.size, err)
		}
	}
	return nil
}

// control applies the buffers to a socket that package net is making.
func (b Buffers) control(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) { failed = b.Apply(int(fd)) })
	return errors.Join(err, failed)
}

// Effective replaces the sizes in options by those that the kernel grants, which
// may be smaller. 0 stays 0. The error is of kind setup.
func (b Buffers) Effective(options map[string]any) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return load.Failure(contract.SetupFailed, fmt.Errorf("open a socket: %w", err))
	}
	defer func() { _ = unix.Close(fd) }() // it was never used
	if err := b.Apply(fd); err != nil {
		return load.Failure(contract.SetupFailed, err)
	}
	for _, s := range b.settings() {
		if s.size == 0 {
			continue
		}
		twice, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, s.option)
		if err != nil {
			return load.Failure(contract.SetupFailed, fmt.Errorf("read %s: %w", s.name, err))
		}
		options[s.name] = int64(twice / 2) // the kernel doubles it for its own bookkeeping (socket(7))
	}
	return nil
}
