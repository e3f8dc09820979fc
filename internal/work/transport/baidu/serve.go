package baidu

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/baidustd"
	"netdyno/internal/work/wire/rpc"
	"netdyno/internal/work/wire/tlswire"
)

// server answers a trial's requests.
type server struct {
	*tlswire.Server
	x       *codec.Exchange
	options load.Options // effective
	content *content
	names   []rpc.Method
	wait    sync.WaitGroup // for the goroutines of connections

	mu   sync.Mutex
	open map[*counters]struct{}
	gone sums // of connections that have ended
}

// counters are the counters of one connection; only the connection's own goroutine writes
// them.
type counters struct{ exchanges, received, invalid atomic.Int64 }

// sums are the counters of several connections.
type sums struct{ exchanges, received, invalid int64 }

func (s *sums) addCounters(c *counters) {
	s.exchanges += c.exchanges.Load()
	s.received += c.received.Load()
	s.invalid += c.invalid.Load()
}

// serve answers one connection's requests in their order on this goroutine, because
// starting another costs more than an exchange. Replies to requests that came
// together are written together.
func (s *server) serve(conn net.Conn, c *counters) {
	defer func() { _ = conn.Close() }() // nothing is left to write
	if s.TLS != nil {
		conn = tls.Server(conn, s.TLS)
	}
	frames := baidustd.NewReader(conn, int(s.options.Int("read_buffer")), s.options.Int("max_body"))
	gathered := int(s.options.Int("write_buffer"))
	out := &outbox{copied: gathered}
	for {
		f, err := frames.Next()
		if err != nil {
			if errors.Is(err, baidustd.ErrMalformed) || errors.Is(err, io.ErrUnexpectedEOF) {
				c.invalid.Add(1)
			}
			_ = out.flush(conn) // the client may still read replies to what came before
			return
		}
		if err := s.answer(f, out, c); err != nil {
			c.invalid.Add(1)
			return
		}
		if frames.Whole() && out.size() < gathered && !s.x.Works() {
			continue // another request waits; its reply may go with this one
		}
		if err := out.flush(conn); err != nil {
			return // the client counts its own failure
		}
	}
}

// answer adds the reply to a request. An exchange counts before its reply is
// sent, so that no client counts one that is missing here.
func (s *server) answer(f baidustd.Frame, out *outbox, c *counters) error {
	id := f.Meta.CorrelationID
	if code, why := s.find(f.Meta); code != 0 {
		c.invalid.Add(1)
		return out.refuse(id, code, why)
	}
	received, err := s.content.accept(f)
	if err != nil {
		c.invalid.Add(1)
		return out.refuse(id, baidustd.BadRequest, err.Error())
	}
	s.x.Work()
	c.exchanges.Add(1)
	c.received.Add(received)
	reply := baidustd.Meta{CorrelationID: id}
	return out.addFrame(&reply, s.content)
}

// find looks a request's method up. A code other than 0 refuses it, as brpc does.
func (s *server) find(m baidustd.Meta) (code int32, why string) {
	code = baidustd.NoService
	for _, n := range s.names {
		if !means(m.Service, n) {
			continue
		}
		if n.Name == string(m.Method) {
			return 0, ""
		}
		code = baidustd.NoMethod
	}
	known := make([]string, len(s.names))
	for i, n := range s.names {
		known[i] = n.String()
	}
	return code, fmt.Sprintf("no method /%s/%s serves this trial, expected %s", clipped(m.Service), clipped(m.Method), strings.Join(slices.Compact(known), " or "))
}

// clipped shortens a name whose length a client chose.
func clipped(text []byte) []byte { return text[:min(len(text), 200)] }
