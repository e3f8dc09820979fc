// Package input opens and reads the files that a user names. A name can lead to
// anything: a terabyte, a device that never ends, a FIFO that nobody writes to.
// Nothing is read before the open descriptor says what it is, nothing is kept
// beyond a bound, and no wait outlasts its context. Errors are *fs.PathError.
package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// writerTimeout is how long a pipe may take to hand over all it has: what
// another program prints for us is there in seconds.
const writerTimeout = 30 * time.Second

// Open opens a regular file for reading. Everything else is refused, by what
// the open descriptor is and not by what the name was a moment before.
func Open(name string) (*os.File, error) {
	return openFile(name, os.O_RDONLY, func(fs.FileMode) bool { return false })
}

// OpenIn opens a regular file of a directory for reading, as Open does. No link
// leads out of the directory.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|withoutWait, 0)
	return checked(f, err, name, func(fs.FileMode) bool { return false })
}

// OpenKept opens a regular file for reading that was kept in its directory: no link leads out of
// that.
func OpenKept(name string) (*os.File, error) { return openKept(name, os.O_RDONLY) }

// OpenToAppend opens a file for reading and writing, as OpenKept does.
func OpenToAppend(name string) (*os.File, error) { return openKept(name, os.O_RDWR) }

func openKept(name string, flags int) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: reason(err)}
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.Base(name), flags|withoutWait, 0)
	if err != nil {
		why := reason(err)
		if to, linked := os.Readlink(name); linked == nil && !errors.Is(err, fs.ErrNotExist) {
			why = fmt.Errorf("it is a link to %s; expected a file of its directory", to)
		}
		err = &fs.PathError{Op: "open", Path: name, Err: why}
	}
	return checked(f, err, name, func(fs.FileMode) bool { return false })
}

// Whole reads a regular file of at most so many bytes.
func Whole(name string, most int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return regular(f, name, most)
}

// Within returns a function that reads a file of at most so many bytes, whole.
// A regular file beyond them is refused before it is read. A pipe, such as
// /dev/stdin or a shell's <(command), is read within the same bound until its
// writers are gone, for at most 30 s and no longer than ctx. Devices, sockets
// and directories are refused.
func Within(ctx context.Context, most int64) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) { return readWhole(ctx, name, most) }
}

// Stream opens a regular file or a pipe to be read once, from its beginning, and no longer
// than ctx.
func Stream(ctx context.Context, name string) (io.ReadCloser, error) {
	f, err := openFile(name, os.O_RDONLY, func(m fs.FileMode) bool { return m&fs.ModeNamedPipe != 0 })
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || info.Mode().IsRegular() {
		return f, err
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	return &stream{pipe{f, ctx}, stop}, nil
}

type stream struct {
	pipe
	stop func() bool
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.stop()
	return s.f.Close()
}

func readWhole(ctx context.Context, name string, most int64) ([]byte, error) {
	f, err := openFile(name, os.O_RDONLY, func(m fs.FileMode) bool { return m&fs.ModeNamedPipe != 0 })
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() {
		return regular(f, name, most)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, writerTimeout, fmt.Errorf("no end of what its writers say within %v", writerTimeout))
	defer cancel()
	// A deadline in the past ends a read that waits.
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	text, err := io.ReadAll(io.LimitReader(&pipe{f, ctx}, most+1))
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	return bounded(text, err, name, most)
}

// regular reads a file, which may grow meanwhile; some of the kernel's say that
// they have no bytes at all.
func regular(f *os.File, name string, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if size := info.Size(); size > most {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("the file has %d bytes; expected at most %d", size, most)}
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	return bounded(text, err, name, most)
}

func bounded(text []byte, err error, name string, most int64) ([]byte, error) {
	switch {
	case err != nil:
		return nil, &fs.PathError{Op: "read", Path: name, Err: reason(err)}
	case int64(len(text)) > most:
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it has more than %d bytes, the most that are expected", most)}
	}
	return text, nil
}

// pipe reads a pipe that nobody may have opened for writing yet, which looks
// like its end.
type pipe struct {
	f   *os.File
	ctx context.Context
}

func (p *pipe) Read(b []byte) (int, error) {
	if err := p.awaitWriter(); err != nil {
		return 0, err
	}
	return p.f.Read(b)
}

// awaitWriter returns when there is something to read or a writer has gone: the
// kernel tells a FIFO that had no writer yet from one that has lost its last.
func (p *pipe) awaitWriter() error {
	const step = 50 // ms; between two looks at the context
	raw, err := p.f.SyscallConn()
	if err != nil {
		return err
	}
	for p.ctx.Err() == nil {
		ready := 0
		var failed error
		if err := raw.Control(func(fd uintptr) {
			ready, failed = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, step)
		}); err != nil {
			return err
		}
		if failed != nil && !errors.Is(failed, syscall.EINTR) {
			return os.NewSyscallError("poll", failed)
		}
		if ready > 0 {
			return nil
		}
	}
	return context.Cause(p.ctx)
}

// openFile never waits: without O_NONBLOCK, opening a FIFO does until somebody
// writes to it.
func openFile(name string, flags int, also func(fs.FileMode) bool) (*os.File, error) {
	f, err := os.OpenFile(name, flags|withoutWait, 0)
	return checked(f, err, name, also)
}

// withoutWait opens a FIFO without waiting for its writer, and takes no terminal.
const withoutWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// checked closes again what is neither a regular file nor allowed besides.
func checked(f *os.File, err error, name string, also func(fs.FileMode) bool) (*os.File, error) {
	if errors.Is(err, syscall.ENXIO) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is a socket, or a device without a driver; expected a file")}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if mode := info.Mode(); !mode.IsRegular() && !also(mode) {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("it is %s; expected a file", kind(mode))}
	}
	return f, nil
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}

// reason is an error without the path that a file's errors begin with.
func reason(err error) error {
	if of := (*fs.PathError)(nil); errors.As(err, &of) {
		return of.Err
	}
	return err
}
