// Package unixsocket names Unix sockets where host:port names one of TCP: unix:/run/x.sock,
// and unix:@name for one in Linux's abstract namespace.
package unixsocket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/quantity"
)

const prefix = "unix:"

// mostPath is the longest path of a socket, in bytes (sockaddr_un holds 108, with the 0
// that ends it).
const mostPath = 107

// Address is the address of a socket by its path.
func Address(path string) string { return prefix + path }

// Path is the path of an address; false where it is host:port.
func Path(address string) (string, bool) { return strings.CutPrefix(address, prefix) }

// Network parts an address into the two arguments of net.Dial.
func Network(address string) (network, to string) {
	if path, is := Path(address); is {
		return "unix", path
	}
	return "tcp", address
}

// Absolute returns the path as every process of a run can use it, whatever its directory.
// The error says why it is no socket's.
func Absolute(path string) (string, error) {
	if path == "" || path == "@" {
		return "", errors.New("found no path of a Unix socket; expected one such as /run/x.sock, or @name")
	}
	if strings.ContainsRune(path, 0) {
		return "", errors.New("the path of a Unix socket holds a byte 0; one in the abstract namespace is written @name")
	}
	if path[0] != '@' {
		var err error
		if path, err = filepath.Abs(path); err != nil {
			return "", err
		}
	}
	if len(path) > mostPath {
		return "", fmt.Errorf("the path of the Unix socket %s has %d bytes; the kernel takes at most %d", quantity.Clip(path, 60), len(path), mostPath)
	}
	return path, nil
}

// Is tells whether a socket lies at a path.
func Is(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// pause is between two attempts to connect.
const pause = time.Millisecond

// Dial connects to a socket. Where the server's queue of waiting connections is full, the
// kernel refuses one at once (EAGAIN) that it would let wait over TCP, so Dial waits in its
// place until ctx or the dialer's time ends.
func Dial(ctx context.Context, d net.Dialer, path string) (net.Conn, error) {
	if d.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.Timeout)
		defer cancel()
	}
	var full error
	for {
		conn, err := d.DialContext(ctx, "unix", path)
		switch {
		case err != nil && full != nil && ctx.Err() != nil: // the time ended within an attempt
			return nil, full
		case !errors.Is(err, syscall.EAGAIN):
			return conn, err
		}
		full = err
		select {
		case <-ctx.Done():
			return nil, full
		case <-time.After(pause):
		}
	}
}

// Explain says why a path could not be connected to, with what lies there.
func Explain(path string, err error) error {
	if path[0] == '@' {
		return fmt.Errorf("nothing listens on the Unix socket %s; start the server first", path)
	}
	info, found := os.Stat(path)
	switch {
	case errors.Is(found, os.ErrNotExist):
		return fmt.Errorf("there is no Unix socket %s; start the server first", path)
	case errors.Is(err, os.ErrPermission) || found != nil:
		return fmt.Errorf("the Unix socket %s cannot be used by this user: %w", path, errors.Join(found, err))
	case info.IsDir():
		return fmt.Errorf("%s is a directory; expected a Unix socket", path)
	case info.Mode()&os.ModeSocket == 0:
		return fmt.Errorf("%s is a file; expected a Unix socket", path)
	case errors.Is(err, syscall.EAGAIN):
		return fmt.Errorf("the Unix socket %s has as many connections waiting as its server lets wait", path)
	}
	return fmt.Errorf("nothing listens on the Unix socket %s; start the server first", path)
}
