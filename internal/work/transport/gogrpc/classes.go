package gogrpc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/rpc"
)

// class is how a class's exchanges are called.
type class struct {
	method   string
	deadline time.Duration
	own      bool     // deadline is the class's
	body     *content // the request; nil for the trial's own content

	payload payload
	calls   []grpc.CallOption // that carry payload, where it is the class's own
	stream  contract.Stream
	chunk   int64  // bytes of a stream's messages
	told    string // its number, where the server must know it
}

// tells is the metadata by which a request says of which class it is, and how long its
// reply is to be; nil for none.
func tells(x *codec.Exchange, of *class) (all []string) {
	if of != nil && of.told != "" {
		all = append(all, codec.ClassHeader, of.told)
	}
	if x.Asks() {
		all = append(all, codec.DownHeader, strconv.FormatInt(x.DownBytes, 10))
	}
	return all
}

// classesOf prepares the classes of a load. The error is of kind setup, or unsupported
// where the options cannot carry them.
func (c *client) classesOf() ([]class, error) {
	bodies, err := wire.BodiesOf(c.setup)
	if err != nil {
		return nil, err
	}
	unary, all := c.options.Text("mode") == "unary", make([]class, 0, len(c.setup.Load.Classes))
	for i, of := range c.setup.Load.Classes {
		calls := strings.HasPrefix(of.Method, "/") // else a method of HTTP, which says nothing here
		k := class{method: c.method, deadline: time.Duration(c.options.Int("deadline")), payload: c.payload}
		if err := c.encode(&k, i); err != nil {
			return nil, err
		}
		if (calls || of.DeadlineNs > 0) && !unary {
			return nil, load.Failure(contract.Unsupported, fmt.Errorf("class %s has a method or a deadline: option mode is stream, whose calls outlive an exchange; expected unary", of.Name))
		}
		if of.DeadlineNs > 0 {
			k.deadline, k.own = time.Duration(of.DeadlineNs), true
		}
		if calls {
			m, err := rpc.Parse(of.Method)
			if err != nil {
				return nil, load.Failure(contract.SetupFailed, fmt.Errorf("class %s: method %w", of.Name, err))
			}
			k.method = m.String()
		}
		if bodies != nil && bodies[i] != nil {
			k.body = &content{bytes: bodies[i]}
		}
		all = append(all, k)
	}
	if bodies != nil && c.options.Text("codec") != "raw" {
		return nil, load.Failure(contract.Unsupported, errors.New("option bodies needs codec=raw: they are messages as they are"))
	}
	return all, nil
}

// take makes the next exchange one of the class that was drawn for it.
func (u *unary) take(d load.Draw) {
	u.x.Take(d)
	if len(u.classes) > 0 {
		of := &u.classes[d.Class]
		u.of, u.method, u.deadline, u.payload, u.calls = of, of.method, of.deadline, of.payload, of.calls
	}
}

// request is what the next exchange sends.
func (u *unary) request() any {
	if u.of != nil && u.of.body != nil {
		return u.of.body
	}
	return u.outgoing(u.x.UpBytes)
}

// encode gives a class its codec and its stream. The error is of kind unsupported where it
// cannot have both with what else it says.
func (c *client) encode(k *class, i int) error {
	of, unary := c.setup.Load.Classes[i], c.options.Text("mode") == "unary"
	x := c.x.Class(i)
	if x == nil && of.Stream == "" {
		return nil
	}
	switch {
	case !unary:
		return load.Failure(contract.Unsupported, fmt.Errorf("class %s has a codec or a stream: option mode is stream, whose calls outlive an exchange; expected unary", of.Name))
	case of.Stream != "" && (of.DeadlineNs > 0 || strings.HasPrefix(of.Method, "/")):
		return load.Failure(contract.Unsupported, fmt.Errorf("class %s has a stream, and a deadline or a method: chunks travel by Up, Down and Both alone, without a deadline", of.Name))
	}
	k.told, k.stream, k.chunk = strconv.Itoa(i), of.Stream, rpc.ChunkBytesOf(of)
	if x != nil {
		k.method = rpc.MethodsOf(contract.Exchange{Message: of.Message}).Unary.String()
		k.payload = payloadOf(c.setup, x, c.options, ask{})
		k.calls = []grpc.CallOption{grpc.ForceCodecV2(k.payload.encoding())}
	}
	if k.stream != "" {
		k.method = rpc.Chunked(k.stream).String()
	}
	return nil
}

// several makes the exchanges of one slot of which some classes travel whole and others in
// chunks.
type several struct {
	caller // of the next exchange
	whole  *unary
	chunks []*chunked // by class; nil for one that travels whole
}

func (c *client) several(whole *unary) *several {
	s := &several{caller: whole, whole: whole, chunks: make([]*chunked, len(c.classes))}
	for i := range c.classes {
		if of := &c.classes[i]; of.stream != "" {
			s.chunks[i] = &chunked{
				session: session{ctx: whole.ctx, conn: whole.conn, method: of.method, desc: chunkDesc(of.stream)},
				x:       c.x.Own(), chunkers: c.chunkers, chunk: of.chunk, of: of,
			}
		}
	}
	return s
}

func (s *several) take(d load.Draw) {
	s.caller = s.whole
	if of := s.chunks[d.Class]; of != nil {
		s.caller = of
	}
	s.caller.take(d)
}

func (s *several) end() {
	for _, of := range s.chunks {
		if of != nil {
			of.end()
		}
	}
}
