package gogrpc

import (
	"context"
	"encoding/binary"
	"net"
	"sync/atomic"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/credentials"

	"netdyno/internal/work/load"
)

// heads counts the requests that go out on the connections of a ClientConn: the library
// sends one again by itself where the server has not looked at it, and may fail before
// it has sent any.
type heads struct {
	wrote atomic.Int64
	told  atomic.Int64 // calls that ended and whose request went out
}

// ended accounts for a call that ended with err, and returns err, as a load.UnsentError
// where no request went out. Of several calls at a time on one connection, one that failed
// counts as sent while requests of unknown calls are out.
func (h *heads) ended(err error) error {
	if err != nil && h.wrote.Load() <= h.told.Load() {
		return load.UnsentError{Err: err}
	}
	h.told.Add(1)
	return err
}

// again is how many requests went out once more, when no call is under way.
func (h *heads) again() int64 { return max(0, h.wrote.Load()-h.told.Load()) }

// settle makes what went out once more no part of the next call's account, and returns it.
// No call may be under way.
func (h *heads) settle() int64 {
	n := h.again()
	h.told.Add(n)
	return n
}

// watching has heads see what is written on the connections that it secures, and tells load how
// long that took, unless load is nil.
type watching struct {
	credentials.TransportCredentials
	heads *heads
	load  *load.Load
}

// ClientHandshake implements credentials.TransportCredentials.
func (w watching) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	begun := load.Now()
	conn, info, err := w.TransportCredentials.ClientHandshake(ctx, authority, conn)
	if err != nil {
		return nil, nil, err
	}
	if with, encrypted := info.(credentials.TLSInfo); encrypted && w.load != nil {
		w.load.Secured(load.Now()-begun, with.State.DidResume)
	}
	return &watched{Conn: conn, heads: w.heads, skip: len(http2.ClientPreface)}, info, nil
}

// Clone implements credentials.TransportCredentials.
func (w watching) Clone() credentials.TransportCredentials {
	return watching{w.TransportCredentials.Clone(), w.heads, w.load}
}

// frameHead is the length of what is before a frame's payload (RFC 9113, section 4.1).
const frameHead = 9

// watched is a connection of HTTP/2 that counts the HEADERS frames written, each of which
// begins a request. One goroutine writes at a time.
type watched struct {
	net.Conn
	heads *heads
	skip  int // bytes that belong to no frame's head
	head  [frameHead]byte
	have  int // bytes of head
}

// Write implements net.Conn. It counts before it writes, as a reply may come meanwhile.
func (w *watched) Write(b []byte) (int, error) {
	w.walk(b)
	return w.Conn.Write(b)
}

func (w *watched) walk(b []byte) {
	for len(b) > 0 {
		if w.skip > 0 {
			n := min(w.skip, len(b))
			w.skip, b = w.skip-n, b[n:]
			continue
		}
		n := copy(w.head[w.have:], b)
		b = b[n:]
		if w.have += n; w.have < frameHead {
			return
		}
		w.have = 0
		w.skip = int(binary.BigEndian.Uint32(w.head[:]) >> 8)
		if http2.FrameType(w.head[3]) == http2.FrameHeaders {
			w.heads.wrote.Add(1)
		}
	}
}
