package udpinfo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// ErrMany says that the namespace has more sockets than were asked for.
var ErrMany = errors.New("there are more UDP sockets than are looked at")

// Socket is one UDP socket of this network namespace.
type Socket struct {
	Inode        uint32 // as in /proc/PID/fd
	SendQueue    int64  // bytes of memory that wait to be sent
	ReceiveQueue int64  // bytes of memory that wait to be read
	Drops        int64  // datagrams that found its receive buffer full, since it was opened
}

// Sockets returns the sockets of this network namespace, at most most; ErrMany when
// there are more. It costs a microsecond or two for each. Any goroutine may call it.
// Source: proc(5), /proc/net/udp.
func Sockets(most int) ([]Socket, error) {
	var all []Socket
	for _, table := range []string{"/proc/net/udp", "/proc/net/udp6"} {
		err := openTable(table, func(from io.Reader) (err error) {
			all, err = appendSockets(all, most, from)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a kernel without IPv6
			return nil, err
		}
	}
	return all, nil
}

func appendSockets(all []Socket, most int, from io.Reader) ([]Socket, error) {
	lines := bufio.NewScanner(from)
	for heading := true; lines.Scan(); heading = false {
		if heading {
			continue
		}
		if len(all) == most {
			return nil, ErrMany
		}
		s, err := parse(lines.Text())
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, lines.Err()
}

// parse reads one line. Columns: sl, local address, remote address, state, queues,
// timer, retransmits, uid, timeout, inode, references, pointer, drops.
func parse(line string) (Socket, error) {
	columns := strings.Fields(line)
	if len(columns) < 13 {
		return Socket{}, fmt.Errorf("a line has %d columns, expected 13", len(columns))
	}
	send, receive, _ := strings.Cut(columns[4], ":")
	sent, notSent := strconv.ParseInt(send, 16, 64)
	received, notReceived := strconv.ParseInt(receive, 16, 64)
	inode, notInode := strconv.ParseUint(columns[9], 10, 32)
	drops, notDrops := strconv.ParseInt(columns[12], 10, 64)
	if err := errors.Join(notSent, notReceived, notInode, notDrops); err != nil {
		return Socket{}, err
	}
	return Socket{Inode: uint32(inode), SendQueue: sent, ReceiveQueue: received, Drops: drops}, nil
}
