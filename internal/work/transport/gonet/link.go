package gonet

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/work/wire"
)

// sender sends one direction's messages. One goroutine uses it.
type sender interface {
	// send hands over what follows the first at bytes of a message, no more than
	// limit bytes and one turn of the block, and returns how many the kernel
	// took: at least one without an error.
	send(at, limit int64) (int64, error)
}

// receiver takes bytes off a connection. One goroutine uses it.
type receiver interface {
	// receive waits for bytes, takes up to limit of them, and drops them.
	receive(limit int64) (int64, error)
	// release lets go of what it holds beside the connection.
	release()
}

// link is one connection with the trial's means of sending and receiving.
type link struct {
	net.Conn
	sender
	receiver
	first receiver  // for the verified exchange, which is always read
	into  []byte    // where first puts it
	zero  *zerocopy // option send=zerocopy
}

// open makes what all links of an end share.
func (p *plan) open(outgoing *wire.Content) error {
	switch p.options.Text(optionSend) {
	case sendFile:
		fd, err := unix.MemfdCreate("block", unix.MFD_CLOEXEC)
		if err != nil {
			return fmt.Errorf("make a file in memory for sendfile: %w", err)
		}
		p.file = os.NewFile(uintptr(fd), "block")
		if _, err := p.file.Write(outgoing.Block); err != nil {
			return fmt.Errorf("fill the file for sendfile: %w", err)
		}
	case sendZerocopy:
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			return fmt.Errorf("eventfd: %w", err)
		}
		p.closing = fd // stays open: a late poll(2) on its number must find it
	}
	if p.options.Text(optionReceive) == receiveSplice {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("open what is spliced into: %w", err)
		}
		p.null = null
	}
	return nil
}

// close wakes those who wait in poll(2); their connections are closed next.
func (p *plan) close() {
	if p.closing >= 0 {
		one := [8]byte{1}
		_, _ = unix.Write(p.closing, one[:]) // full means it is readable already
	}
}

// link equips a connection to send outgoing.
func (p *plan) link(conn net.Conn, outgoing *wire.Content) (*link, error) {
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("reach the socket: %w", err)
	}
	l := &link{Conn: conn, sender: &writing{conn, outgoing}, into: make([]byte, p.buffer)}
	switch p.options.Text(optionSend) {
	case sendFile:
		l.sender = newSendfile(raw, outgoing, p.file)
	case sendZerocopy:
		if l.zero, err = newZerocopy(raw, outgoing, p.closing); err != nil {
			return nil, err
		}
		l.sender = l.zero
	}
	l.first = &reading{conn, l.into}
	if l.zero != nil {
		l.first = newStepping(raw, &take{l.into, 0}, l.zero)
	}
	switch p.options.Text(optionReceive) {
	case receiveTruncate:
		l.receiver = newStepping(raw, &take{l.into, unix.MSG_TRUNC}, l.zero)
	case receiveSplice:
		pipe, err := newPipe(p.buffer)
		if err != nil {
			return nil, err
		}
		l.receiver = newStepping(raw, &discard{pipe, p.null}, l.zero)
	default:
		l.receiver = l.first
	}
	return l, nil
}

// sendAll sends one whole message.
func (l *link) sendAll(content *wire.Content) error {
	for at := int64(0); at < content.Bytes; {
		n, err := l.send(at, content.Bytes-at)
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// writing is option send=write.
type writing struct {
	conn    net.Conn
	content *wire.Content
}

func (w *writing) send(at, limit int64) (int64, error) {
	piece := w.content.Piece(at)
	n, err := w.conn.Write(piece[:min(int64(len(piece)), limit)])
	return int64(n), err
}

// reading is option receive=read.
type reading struct {
	conn net.Conn
	into []byte
}

func (r *reading) receive(limit int64) (int64, error) {
	n, err := r.conn.Read(r.into[:min(limit, int64(len(r.into)))])
	return int64(n), err
}

func (*reading) release() {}

// verify takes the first message off the link and checks it as it comes.
func (l *link) verify(trial *wire.Trial) error {
	for trial.Left() > 0 {
		n, err := l.first.receive(trial.Left())
		if err != nil {
			return err
		}
		trial.Add(l.into[:n])
	}
	return nil
}

// patience bounds the waiting of what is read from now on; a zero until is
// without bound.
func (l *link) patience(until time.Time) error {
	if l.zero != nil {
		l.zero.until = until
	}
	return l.SetReadDeadline(until)
}
