package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// space is what makes a host: a network and a host name of its own. It lives as
// long as somebody holds these files or runs in it.
type space struct {
	net, uts *os.File
}

// newSpace makes a host's namespaces without entering them.
func newSpace(hostname string) (s space, err error) {
	fail := func(what string, err error) error {
		return fmt.Errorf("make a namespace for %s: %s: %w", hostname, what, err)
	}
	err = apart(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWUTS); err != nil {
			return fail("unshare", err)
		}
		if err := unix.Sethostname([]byte(hostname)); err != nil {
			return fail("set its host name", err)
		}
		n, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			return fail("hold it", err)
		}
		u, err := os.Open("/proc/thread-self/ns/uts")
		if err != nil {
			return fail("hold it", errors.Join(err, n.Close()))
		}
		s = space{net: n, uts: u}
		return nil
	})
	return s, err
}

func (s space) close() {
	_ = s.net.Close() // nothing was written
	_ = s.uts.Close()
}

// refused tells a machine that does not allow namespaces from a broken one.
func refused(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL)
}

// apart calls f on a thread whose namespaces f may change, and puts them back.
func apart(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		var home []*os.File
		for _, kind := range []string{"net", "uts"} {
			file, err := os.Open("/proc/thread-self/ns/" + kind)
			if err != nil {
				done <- err
				return
			}
			defer file.Close()
			home = append(home, file)
		}
		err := f()
		for _, file := range home {
			// A thread that cannot go home stays locked, and ends with its goroutine.
			back := unix.Setns(int(file.Fd()), 0)
			if back == nil {
				continue
			}
			if err == nil { // else f was not allowed to leave home
				err = fmt.Errorf("leave a namespace: %w", back)
			}
			done <- err
			return
		}
		runtime.UnlockOSThread()
		done <- err
	}()
	return <-done
}

// inside calls f on a thread that is on the host's network. Sockets made there
// stay there.
func (l *Lab) inside(host int, f func() error) error {
	return apart(func() error {
		if err := unix.Setns(int(l.spaces[host].net.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter %s: %w", name(host), err)
		}
		return f()
	})
}

// Dial connects from a host, within the timeout, to a TCP address "10.77.0.2:80",
// whose host must not be a name.
func (l *Lab) Dial(host int, address string, timeout time.Duration) (conn net.Conn, err error) {
	err = l.inside(host, func() error {
		conn, err = net.DialTimeout("tcp4", address, timeout)
		return err
	})
	return conn, err
}

// Listen listens on a host's own address at a free TCP port until the test ends.
func (l *Lab) Listen(t testing.TB, host int) net.Listener {
	t.Helper()
	var listener net.Listener
	err := l.inside(host, func() (err error) {
		listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp4", l.Address(host)+":0")
		return err
	})
	if err != nil {
		t.Fatalf("listen on %s: %v", name(host), err)
	}
	t.Cleanup(func() { _ = listener.Close() }) // it may be closed already
	return listener
}
