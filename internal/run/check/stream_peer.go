package check

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"netdyno/internal/contract"
)

// streamServer plays the server of wire stream against a worker's client. It
// compares every byte that comes up, not only the first exchange's.
type streamServer struct {
	bulk     bulk
	answer   func(connection, exchange int, down []byte) []byte // what to send in place of down; nil closes after half of it
	listener net.Listener
	all      sync.WaitGroup

	mu        sync.Mutex
	open      []net.Conn
	exchanges int64
	complaint error
}

// answers is how an honest server answers.
func answers(_, _ int, down []byte) []byte { return down }

func serveStream(b bulk, answer func(connection, exchange int, down []byte) []byte) (*streamServer, error) {
	l, err := net.Listen("tcp", loopback)
	if err != nil {
		return nil, skipError{err.Error()}
	}
	p := &streamServer{bulk: b, answer: answer, listener: l}
	p.all.Go(p.accept)
	return p, nil
}

func (p *streamServer) accept() {
	for number := 0; ; number++ {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.open = append(p.open, conn)
		p.mu.Unlock()
		p.all.Go(func() {
			defer func() { _ = conn.Close() }() // everything was written, or nobody hears it
			up := make([]byte, len(p.bulk.up))
			for exchange := 0; p.exchange(conn, up, number, exchange); exchange++ {
			}
		})
	}
}

// exchange serves one exchange and reports whether another may follow.
func (p *streamServer) exchange(conn net.Conn, up []byte, connection, exchange int) bool {
	down := p.answer(connection, exchange, p.bulk.down)
	if _, err := io.ReadFull(conn, up[:1]); err != nil {
		return false // between exchanges a client may go
	}
	early := make(chan error, 1)
	before := min(p.bulk.owed(min(1, len(up)-1)), len(down))
	go func() { _, err := conn.Write(down[:before]); early <- err }()
	_, err := io.ReadFull(conn, up[1:])
	if err == nil {
		if wrong := differs("what came up", up, p.bulk.up); wrong != nil {
			p.complain(fmt.Errorf("exchange %d of a connection: %w", exchange, wrong))
			_ = conn.Close() // ends the early writing, too
		}
	}
	if err := errors.Join(err, <-early); err != nil {
		return false
	}
	if down == nil {
		_, _ = conn.Write(p.bulk.down[before:max(before, len(p.bulk.down)/2)]) // and the end, in the middle of the answer
		return false
	}
	if _, err := conn.Write(down[before:]); err != nil {
		return false
	}
	p.mu.Lock()
	p.exchanges++
	p.mu.Unlock()
	return true
}

func (p *streamServer) complain(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.complaint == nil {
		p.complaint = err
	}
}

// close ends the server and returns how many exchanges it served, and what was
// wrong with what came up.
func (p *streamServer) close() (int64, error) {
	_ = p.listener.Close()
	p.mu.Lock()
	for _, conn := range p.open {
		_ = conn.Close() // its goroutine ends with it
	}
	p.mu.Unlock()
	p.all.Wait()
	return p.exchanges, p.complaint
}

func (p *streamServer) address() string { return p.listener.Addr().String() }

// streamClient plays a client of wire stream against a worker's server.
type streamClient struct {
	bulk bulk
	conn net.Conn
}

func (s *subject) dialStream(b bulk, address string) (*streamClient, error) {
	conn, err := net.DialTimeout("tcp", address, s.patient(prompt))
	if err != nil {
		return nil, fmt.Errorf("connect to the address of ready: %w", err)
	}
	if err := conn.SetDeadline(time.Now().Add(s.patient(setupTakes))); err != nil {
		return nil, skipError{err.Error()}
	}
	return &streamClient{b, conn}, nil
}

// receive reads n bytes that follow the first at of an answer, and compares them.
func (c *streamClient) receive(at, n int) error {
	got := make([]byte, n)
	if come, err := io.ReadFull(c.conn, got); err != nil {
		return fmt.Errorf("after %d of %d bytes of the answer: %w", at+come, len(c.bulk.down), err)
	}
	return differs("what came down", got, c.bulk.down[at:at+n])
}

// silent fails when anything comes within a moment.
func (c *streamClient) silent(s *subject) error {
	const moment = 30 * time.Millisecond
	if err := c.conn.SetReadDeadline(time.Now().Add(moment)); err != nil {
		return skipError{err.Error()}
	}
	n, err := c.conn.Read(make([]byte, 1))
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%d bytes came (%w) before all of the message had gone up", n, err)
	}
	return c.conn.SetDeadline(time.Now().Add(s.patient(setupTakes)))
}

// exchanges makes n exchanges, all their messages sent without waiting.
func (c *streamClient) exchanges(n int) error {
	sent := make(chan error, 1)
	go func() {
		for range n {
			if _, err := c.conn.Write(c.bulk.up); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	var failed error
	for i := 0; i < n && failed == nil; i++ {
		if failed = c.receive(0, len(c.bulk.down)); failed != nil {
			_ = c.conn.Close() // ends the sending
		}
	}
	if err := <-sent; failed == nil {
		failed = err
	}
	return failed
}

// bulk is the exchange of one case on wire stream, both its messages in full: no case
// moves more than a few MiB. bulk is written from CONTRACT.md alone, and shares no code
// with the workers that it checks.
type bulk struct {
	exchange contract.Exchange
	up, down []byte
}

// The states from which CONTRACT.md, section Wires, draws the directions.
const (
	upward   = 1
	downward = 2
)

func newBulk(x contract.Exchange) bulk {
	return bulk{x, drawn(x.UpBytes, x.ChunkBytes, upward), drawn(x.DownBytes, x.ChunkBytes, downward)}
}

// drawn returns a message: a block of splitmix64's outputs, little-endian, that
// repeats.
func drawn(bytes, chunk int64, state uint64) []byte {
	if chunk == 0 {
		chunk = 65536
	}
	length := min(bytes, chunk)
	var block []byte
	for int64(len(block)) < length {
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		block = binary.LittleEndian.AppendUint64(block, z^z>>31)
	}
	return slices.Repeat(block[:length], int(bytes/length)+1)[:bytes]
}

// owed returns how many bytes of the answer may come when at bytes of a message
// have gone up.
func (b bulk) owed(at int) int {
	switch {
	case at == len(b.up):
		return len(b.down)
	case at > 0 && b.exchange.Stream == contract.StreamBoth:
		return len(b.down) - 1
	}
	return 0
}

// differs says where received bytes are not the message that was expected.
func differs(what string, got, want []byte) error {
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("byte %d of %d of %s is %#02x, expected %#02x", i, len(want), what, got[i], want[i])
		}
	}
	return nil
}

// shape is what a stream's cases vary.
type shape struct {
	bytes, chunk int64 // of a direction that streams
	inFlight     int
}

// shapes go from a single byte to what no socket buffer holds; chunks that do
// not divide the message, and one larger than it.
var shapes = []shape{{1, 0, 1}, {13, 8, 4}, {1000, 64, 2}, {70_000, 65_536, 1}, {100_000, 1 << 20, 3}, {1 << 20, 4096, 2}}

// exchange returns a shape's exchange in a direction; what does not stream is a
// few bytes.
func (f shape) exchange(direction contract.Stream) contract.Exchange {
	const few = 10
	x := contract.Exchange{Stream: direction, UpBytes: f.bytes, DownBytes: f.bytes, ChunkBytes: f.chunk}
	switch direction {
	case contract.StreamUp:
		x.DownBytes = few
	case contract.StreamDown:
		x.UpBytes = few
	}
	return x
}

func (f shape) String() string {
	return fmt.Sprintf("%d bytes in chunks of %d, %d in flight", f.bytes, f.chunk, f.inFlight)
}
