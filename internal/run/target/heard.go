package target

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
)

// mostHeard bounds what is kept of a reply, in bytes.
const mostHeard = 64 << 10

// heard is a connection that keeps the head of the last reply as it came: a client may
// refuse what the library that asks forgives.
type heard struct {
	net.Conn
	mu    sync.Mutex
	reply []byte
	stray bool          // bytes followed a reply that has no body
	begun chan struct{} // closed with the first request, or with the connection
	begin func()
}

// hear dials as a http.Transport does by itself, to where the target leads.
func (t Target) hear(ctx context.Context, network, address string) (net.Conn, error) {
	if t.Socket != "" {
		network, address = "unix", t.Socket
	} else {
		address = t.places(address)[0]
	}
	dialer := t.dialer(address)
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	h := &heard{Conn: conn, begun: make(chan struct{})}
	h.begin = sync.OnceFunc(func() { close(h.begun) })
	return h, nil
}

// Write implements net.Conn: a request.
func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	h.reply = h.reply[:0]
	h.mu.Unlock()
	h.begin()
	return h.Conn.Write(b)
}

// Close implements net.Conn.
func (h *heard) Close() error {
	h.begin()
	return h.Conn.Close()
}

// Read implements net.Conn. Nothing is read before the first request: the library would
// print what a server says first, and not tell that this is no HTTP. What follows a reply that has no body is left out: the
// library would print it, and end the connection.
func (h *heard) Read(b []byte) (int, error) {
	<-h.begun
	for {
		n, err := h.Conn.Read(b)
		h.mu.Lock()
		before, whole := len(h.reply), bodiless(h.reply) > 0
		h.reply = append(h.reply, b[:min(n, mostHeard-before)]...)
		end := bodiless(h.reply)
		h.stray = h.stray || end > 0 && (whole && n > 0 || n > end-before)
		h.mu.Unlock()
		switch {
		case whole && err != nil:
			return 0, err
		case end == 0:
			return n, err
		case !whole && end > before:
			return min(n, end-before), err
		}
	}
}

// bodiless is how long the head of a reply is that has no body (RFC 9112, section 6.3);
// 0 of any other, and before it is whole.
func bodiless(reply []byte) int {
	if !bytes.HasPrefix(reply, []byte("HTTP/1.1 204")) && !bytes.HasPrefix(reply, []byte("HTTP/1.1 304")) {
		return 0
	}
	head, _, whole := bytes.Cut(reply, []byte("\r\n\r\n"))
	if !whole {
		return 0
	}
	return len(head) + len("\r\n\r\n")
}

// strays tells whether bytes followed a reply that has no body.
func (h *heard) strays() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stray
}

// odd says what of the reply a client on another library than net/http may refuse; ""
// for nothing, and of a connection that could not be listened to.
func (h *heard) odd() string {
	if h == nil {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	head, lengths := string(h.reply), 0
	if end := strings.Index(head, "\r\n\r\n"); end >= 0 {
		head = head[:end]
	} else if end := strings.Index(head, "\n\n"); end >= 0 {
		return "lines end without a carriage return"
	}
	for line := range strings.SplitSeq(head, "\n") {
		name, _, _ := strings.Cut(line, ":")
		if strings.EqualFold(name, "Content-Length") {
			lengths++
		}
	}
	if lengths > 1 {
		return "the length is given twice"
	}
	return ""
}
