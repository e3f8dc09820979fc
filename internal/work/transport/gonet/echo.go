package gonet

import "syscall"

// echo sends back whatever comes, through a buffer.
func (s *server) echo(c *connection) {
	for {
		n, err := c.Read(c.into)
		c.received.Add(int64(n))
		if err != nil {
			return
		}
		n, err = c.Write(c.into[:n])
		c.sent.Add(int64(n))
		if err != nil {
			return
		}
	}
}

// echoSpliced sends back whatever comes, through a pipe in the kernel.
func (s *server) echoSpliced(c *connection) {
	pipe, err := newPipe(s.buffer)
	if err != nil {
		return // out of descriptors: the client sees its connection fail
	}
	defer pipe.release()
	raw, err := c.Conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return
	}
	fill := newStepping(raw, &filling{pipe}, nil)
	emptied, failed := int64(0), syscall.Errno(0)
	empty := func(fd uintptr) bool {
		emptied, failed = pipe.empty(int(fd))
		return failed != syscall.EAGAIN && failed != syscall.EINTR
	}
	for {
		n, err := fill.receive(s.buffer)
		c.received.Add(n)
		if err != nil {
			return
		}
		for pipe.holds > 0 {
			if err := raw.Write(empty); err != nil || failed != 0 {
				return
			}
			c.sent.Add(emptied)
		}
	}
}

// filling is the step that moves bytes from a socket into a pipe.
type filling struct{ *pipe }

func (f *filling) try(fd int, limit int64) (int64, syscall.Errno) { return f.fill(fd, limit) }
