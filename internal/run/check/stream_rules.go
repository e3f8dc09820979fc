package check

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"netdyno/internal/contract"
)

const (
	streamSays = "both ends know the sizes; bytes of one exchange follow those of the one before; content begins with the message's first byte"
	streamFix  = "Draw the block once, count bytes in each direction, and compare with vectors/stream.json"
	firstSays  = "the first exchange is the verified one: the client compares what comes down, and the server what comes up"
	firstFix   = "Compare the first message of each connection by CRC-32C before its exchange counts as done"
)

// streamRules concern the directions of wire stream that a transport of wire
// echo has, each in every shape.
var streamRules = []rule{
	{"streams, the counts agree", "Wires", "an exchange is complete when the last of down_bytes has come; " +
		"a server counts it when it has written the last of them", countFix, eachStream(streamCounts)},
	{"streams, a client's bytes", "Wires", streamSays, streamFix, eachStream(streamingClient)},
	{"streams, a server's bytes", "Wires", "the server answers when it has all of up_bytes; with both it begins with the first byte, but holds back the last",
		streamFix, eachStream(streamingServer)},
	{"streams, wrong content comes down", "Wires", firstSays, firstFix, oneStream(wrongDown)},
	{"streams, wrong content comes up", "Wires", firstSays + "; a server that finds a difference closes the connection", firstFix, oneStream(wrongUp)},
	{"streams, more comes than was asked for", "error", "received content that is not what was sent is an error of kind invalid",
		"Read with room for more than is owed, and fail the connection when it comes", oneStream(surplus)},
	{"streams, the server breaks off", "error", "a lost connection counts an error of kind peer for each exchange in flight on it",
		"Treat end of file in the middle of an answer as the end of the connection", oneStream(breaksOff)},
	{"streams, a client breaks off", "Life", "a server serves from ready on", "Close that connection alone, whatever was under way on it", oneStream(clientBreaksOff)},
	{"streams, impossible sizes", "Wires", "both sizes are at least 1, else setup fails; an end writes at most chunk_bytes at once, 1 to 64 MiB",
		"Check the exchange before anything is allocated for it", impossibleSizes},
}

// directions returns those that the transport has.
func (s *subject) directions() ([]contract.Stream, error) {
	if s.transport.Wire != "echo" {
		return nil, skipError{"wire stream belongs to wire echo, and the transport speaks " + s.transport.Wire}
	}
	var has []contract.Stream
	for _, d := range []struct {
		feature   contract.Feature
		direction contract.Stream
	}{{contract.FeatureStreamUp, contract.StreamUp}, {contract.FeatureStreamDown, contract.StreamDown}, {contract.FeatureStreamBoth, contract.StreamBoth}} {
		if slices.Contains(s.transport.Features, d.feature) {
			has = append(has, d.direction)
		}
	}
	if len(has) == 0 {
		return nil, skipError{"the transport has none of the features stream-up, stream-down, stream-both"}
	}
	return has, nil
}

// eachStream is a case: what it does in every direction and shape.
func eachStream(do func(*subject, bulk, shape) error) func(*subject) error {
	return streamCase(shapes, do)
}

// oneStream is a case for which one shape will do.
func oneStream(do func(*subject, bulk) error) func(*subject) error {
	return streamCase([]shape{{1000, 64, 1}}, func(s *subject, b bulk, _ shape) error { return do(s, b) })
}

func streamCase(of []shape, do func(*subject, bulk, shape) error) func(*subject) error {
	return func(s *subject) error {
		directions, err := s.directions()
		if err != nil {
			return err
		}
		for _, direction := range directions {
			for _, f := range of {
				if err := do(s, newBulk(f.exchange(direction)), f); err != nil {
					return fmt.Errorf("stream %s, %v: %w", direction, f, err)
				}
				s.close()
			}
		}
		return nil
	}
}

// streamCounts lets the worker's ends work with each other and compares, to the
// byte, what they say of it.
func streamCounts(s *subject, b bulk, f shape) error {
	e, err := s.connectOver(contract.Setup{Exchange: b.exchange, Load: contract.Load{InFlight: f.inFlight}})
	if err != nil {
		return err
	}
	a, err := e.measure(s, s.brief(warmUp))
	if err != nil {
		return err
	}
	r := a.result
	if n := r.Counts.Exchanges; r.Counts.SentBytes != n*b.exchange.UpBytes || r.Counts.ReceivedBytes != n*b.exchange.DownBytes {
		return fmt.Errorf("result says %d exchanges of %d bytes up and %d down, %d bytes sent and %d received",
			n, b.exchange.UpBytes, b.exchange.DownBytes, r.Counts.SentBytes, r.Counts.ReceivedBytes)
	}
	if r.Counts.Exchanges+r.Drained == 0 || r.Unfinished > 0 || len(r.Counts.Errors) > 0 {
		return fmt.Errorf("result says %d exchanges, %d drained, %d unfinished, errors %v on a loopback with nothing in its way",
			r.Counts.Exchanges, r.Drained, r.Unfinished, r.Counts.Errors)
	}
	if err := countsAgree(r, false); err != nil {
		return err
	}
	// At the closing mark each slot may be in the middle of counting one.
	slots := int64(connections * f.inFlight)
	n := connections + a.closing.Counts.Exchanges + r.Drained
	if err := e.server.served(s, b, n, n+slots); err != nil {
		return err
	}
	return e.finish()
}

// served waits until a server has counted from least to most exchanges, and no
// byte beside them. A server counts a message after sending it, when the
// client may already have it.
func (w *session) served(s *subject, b bulk, least, most int64) error {
	for deadline := time.Now().Add(s.patient(prompt)); ; s.pause(10 * time.Millisecond) {
		r, err := w.mark(9, false)
		if err != nil {
			return fmt.Errorf("server: %w", err)
		}
		n, received, sent := r.Counts.Exchanges, r.Counts.ReceivedBytes, r.Counts.SentBytes
		switch {
		case n >= least && n <= most && received == n*b.exchange.UpBytes && sent == n*b.exchange.DownBytes:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("the server says %d exchanges of %d bytes up and %d down, %d bytes received and %d sent, "+
				"expected %d to %d: the verified, the completed and the drained ones",
				n, b.exchange.UpBytes, b.exchange.DownBytes, received, sent, least, most)
		}
	}
}

// streamingClient lets the worker's client work with a server that compares all
// that comes up.
func streamingClient(s *subject, b bulk, f shape) error {
	const each = 5
	peer, err := serveStream(b, answers)
	if err != nil {
		return err
	}
	defer func() { _, _ = peer.close() }() // a second close says the same
	w, err := s.clientOf(peer, b, contract.Load{InFlight: f.inFlight, Amount: each})
	if err == nil {
		_, err = w.ask(contract.Message{Start: &contract.Start{}}, "result", setupTakes)
	}
	n, wrong := peer.close()
	switch {
	case wrong != nil:
		return wrong
	case err != nil:
		return err
	case n != connections*(1+each):
		return fmt.Errorf("%d exchanges were served, expected %d: one verified and %d counted ones on each of %d connections",
			n, connections*(1+each), each, connections)
	}
	return w.ends()
}

// clientOf launches the worker's client against a peer, ready.
func (s *subject) clientOf(peer *streamServer, b bulk, l contract.Load) (*session, error) {
	if !s.has(contract.Client) {
		return nil, skipError{"the transport has no role client"}
	}
	w, r, err := s.ready(contract.Setup{Role: contract.Client, Peers: []string{peer.address()}, Exchange: b.exchange, Load: l})
	if err == nil && r.Verified != max(connections, l.Connections) {
		err = fmt.Errorf("ready says %d connections verified of %d", r.Verified, max(connections, l.Connections))
	}
	return w, err
}

// streamingServer drives the worker's server with a client that compares all
// that comes down, and when it comes.
func streamingServer(s *subject, b bulk, f shape) error {
	w, addresses, err := s.server(contract.Setup{Exchange: b.exchange})
	if err != nil {
		return err
	}
	c, err := s.dialStream(b, addresses[0])
	if err != nil {
		return err
	}
	defer func() { _ = c.conn.Close() }() // the case is over
	if err := c.heldBack(s); err != nil {
		return err
	}
	if err := c.exchanges(3 * f.inFlight); err != nil {
		return fmt.Errorf("of %d exchanges sent at once: %w", 3*f.inFlight, err)
	}
	n := int64(1 + 3*f.inFlight)
	if err := w.served(s, b, n, n); err != nil {
		return err
	}
	return w.ends()
}

// heldBack makes one exchange and stops before the last byte up: what may not
// come before it must not.
func (c *streamClient) heldBack(s *subject) error {
	last := len(c.bulk.up) - 1
	if last == 0 {
		return c.exchanges(1)
	}
	sent := make(chan error, 1)
	go func() { _, err := c.conn.Write(c.bulk.up[:last]); sent <- err }()
	early := c.bulk.owed(last)
	if err := errors.Join(c.receive(0, early), <-sent, c.silent(s)); err != nil {
		return fmt.Errorf("with all but the last byte sent: %w", err)
	}
	if _, err := c.conn.Write(c.bulk.up[last:]); err != nil {
		return err
	}
	return c.receive(early, len(c.bulk.down)-early)
}

// wrongDown answers the verified exchange with a flipped bit: setup fails.
func wrongDown(s *subject, b bulk) error {
	peer, err := serveStream(b, func(_, _ int, down []byte) []byte {
		wrong := slices.Clone(down)
		wrong[len(wrong)-1] ^= 1
		return wrong
	})
	if err != nil {
		return err
	}
	defer func() { _, _ = peer.close() }() // it has nothing to complain of
	if !s.has(contract.Client) {
		return skipError{"the transport has no role client"}
	}
	return fatalSetup(s, contract.Setup{Transport: s.transport.Name, Role: contract.Client, Peers: []string{peer.address()}, Exchange: b.exchange}, contract.Invalid)
}

// wrongUp sends a message with a flipped bit: the server closes the connection
// and serves the next one.
func wrongUp(s *subject, b bulk) error {
	w, addresses, err := s.server(contract.Setup{Exchange: b.exchange})
	if err != nil {
		return err
	}
	wrong := b
	wrong.up = slices.Clone(b.up)
	wrong.up[len(wrong.up)-1] ^= 1
	c, err := s.dialStream(wrong, addresses[0])
	if err != nil {
		return err
	}
	defer func() { _ = c.conn.Close() }() // the server has, or should have
	if _, err := c.conn.Write(wrong.up); err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, io.LimitReader(c.conn, int64(len(b.down))))
	if n == int64(len(b.down)) || errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("after a message with a flipped bit came %d of %d bytes, and the connection stayed open", n, len(b.down))
	}
	return stillServes(s, w, b, addresses[0])
}

// stillServes makes a good exchange on a new connection.
func stillServes(s *subject, w *session, b bulk, address string) error {
	c, err := s.dialStream(b, address)
	if err != nil {
		return fmt.Errorf("on the next connection: %w", err)
	}
	defer func() { _ = c.conn.Close() }() // the case is over
	if err := c.exchanges(2); err != nil {
		return fmt.Errorf("on the next connection: %w", err)
	}
	return w.ends()
}
