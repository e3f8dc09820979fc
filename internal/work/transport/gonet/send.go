package gonet

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"netdyno/internal/work/wire"
)

// sendfile is option send=sendfile: the kernel takes the pages of a file that
// holds the block.
type sendfile struct {
	raw     syscall.RawConn
	content *wire.Content
	file    *os.File

	attempt func(fd uintptr) bool // bound once: a method value allocates
	from    int64
	most, n int
	err     error
}

func newSendfile(raw syscall.RawConn, content *wire.Content, file *os.File) *sendfile {
	s := &sendfile{raw: raw, content: content, file: file}
	s.attempt = s.once
	return s
}

func (s *sendfile) once(fd uintptr) bool {
	offset := s.from
	s.n, s.err = unix.Sendfile(int(fd), int(s.file.Fd()), &offset, s.most)
	return s.err != unix.EAGAIN && s.err != unix.EINTR
}

func (s *sendfile) send(at, most int64) (int64, error) {
	s.from = at % int64(len(s.content.Block))
	s.most = int(min(int64(len(s.content.Piece(at))), most))
	if err := s.raw.Write(s.attempt); err != nil {
		return 0, err
	}
	return int64(max(0, s.n)), os.NewSyscallError("sendfile", s.err)
}
