package netpoll

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/cloudwego/netpoll"
	"golang.org/x/sys/unix"
)

// port is a listening socket that the library serves.
type port struct{ netpoll.Listener }

// newPort gives the library a copy of a listening socket, because it needs the
// descriptor, which net.Listener hides. The caller still closes its own listener.
func newPort(l net.Listener) (port, error) {
	filer, ok := l.(interface{ File() (*os.File, error) })
	if !ok {
		return port{}, errors.New("take over a listener: it has no file")
	}
	file, err := filer.File()
	if err != nil {
		return port{}, fmt.Errorf("take over a listener: %w", err)
	}
	defer file.Close()
	copied, err := net.FileListener(file)
	if err != nil {
		return port{}, fmt.Errorf("take over a listener: %w", err)
	}
	defer func() { _ = copied.Close() }() // the library has its own copy by then
	converted, err := netpoll.ConvertListener(copied)
	if err != nil {
		return port{}, fmt.Errorf("take over a listener: %w", err)
	}
	return port{converted}, nil
}

// Close stops listening. The library's own Close closes the descriptor by its number
// and then again by its file; in between, another thread may have been given the
// number. So Close shuts the socket down, which refuses clients at once, and leaves
// the file to the garbage collector.
func (p port) Close() error { return unix.Shutdown(p.Fd(), unix.SHUT_RDWR) }
