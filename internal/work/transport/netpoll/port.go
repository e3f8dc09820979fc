package netpoll

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/cloudwego/netpoll"
	"golang.org/x/sys/unix"
)

// port is a listening socket in the library's hands.
type port struct{ netpoll.Listener }

// newPort gives the library a socket of its own, as it asks for the descriptor,
// which net.Listener does not show. The listener stays the caller's to close.
func newPort(l net.Listener) (port, error) {
	filer, ok := l.(interface{ File() (*os.File, error) })
	if !ok {
		return port{}, errors.New("take over a listener: it shows no file")
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
	defer func() { _ = copied.Close() }() // the library has its own by then
	converted, err := netpoll.ConvertListener(copied)
	if err != nil {
		return port{}, fmt.Errorf("take over a listener: %w", err)
	}
	return port{converted}, nil
}

// Close ends the listening. The library's own Close closes the descriptor's
// number and then once more the file that it belongs to; in between, another
// thread may have been given the number. So the socket is shut down, which
// refuses clients at once, and the file is closed when it is collected.
func (p port) Close() error { return unix.Shutdown(p.Fd(), unix.SHUT_RDWR) }
