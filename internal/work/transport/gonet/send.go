package gonet

import (
	"os"
	"syscall"
	"unsafe"

	"netdyno/internal/work/wire"
)

// sendfile is option send=sendfile: the kernel takes the pages of a file that
// holds the block.
type sendfile struct {
	raw     syscall.RawConn
	content *wire.Content
	file    *os.File

	attempt  func(fd uintptr) bool // bound once: a method value allocates
	from     int64
	limit, n int64
	errno    syscall.Errno
}

func newSendfile(raw syscall.RawConn, content *wire.Content, file *os.File) *sendfile {
	s := &sendfile{raw: raw, content: content, file: file}
	s.attempt = s.once
	return s
}

func (s *sendfile) once(fd uintptr) bool {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDFILE, fd, s.file.Fd(), uintptr(unsafe.Pointer(&s.from)), uintptr(s.limit), 0, 0)
	s.n, s.errno = int64(n), errno
	return errno != syscall.EAGAIN && errno != syscall.EINTR
}

func (s *sendfile) send(at, limit int64) (int64, error) {
	s.from = at % int64(len(s.content.Block))
	s.limit = min(int64(len(s.content.Piece(at))), limit)
	if err := s.raw.Write(s.attempt); err != nil {
		return 0, err
	}
	if s.errno != 0 {
		return 0, os.NewSyscallError("sendfile", s.errno)
	}
	return s.n, nil
}
