package gonet

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"netdyno/internal/work/wire/flow"
)

// newFile returns a file in memory that holds a content's block, for sendfile.
func newFile(content *flow.Content) (*os.File, error) {
	fd, err := unix.MemfdCreate("block", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory for sendfile: %w", err)
	}
	file := os.NewFile(uintptr(fd), "block")
	if _, err := file.Write(content.Block); err != nil {
		return nil, fmt.Errorf("fill the file for sendfile: %w", err)
	}
	return file, nil
}

// sendfile is option send=sendfile: the kernel takes the pages of a file that
// holds the block. One goroutine uses it.
type sendfile struct {
	raw   syscall.RawConn
	file  *os.File
	block []byte

	attempt func(fd uintptr) bool // bound once: a method value allocates
	from    int64
	left, n int
	errno   syscall.Errno
}

func newSendfile(raw syscall.RawConn, content *flow.Content, file *os.File) *sendfile {
	s := &sendfile{raw: raw, file: file, block: content.Block}
	s.attempt = s.once
	return s
}

func (s *sendfile) once(fd uintptr) bool {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDFILE, fd, s.file.Fd(), uintptr(unsafe.Pointer(&s.from)), uintptr(s.left), 0, 0)
	s.n, s.errno = int(n), errno
	return errno != syscall.EAGAIN && errno != syscall.EINTR
}

// writePiece sends a piece of the block. Its capacity tells where in the block it is.
func (s *sendfile) writePiece(piece []byte) (int, error) {
	s.from = int64(cap(s.block) - cap(piece))
	for s.left = len(piece); s.left > 0; s.left -= s.n {
		if err := s.raw.Write(s.attempt); err != nil {
			return len(piece) - s.left, err
		}
		if s.errno != 0 {
			return len(piece) - s.left, os.NewSyscallError("sendfile", s.errno)
		}
	}
	return len(piece), nil
}
