package check

import (
	"fmt"
	"slices"
	"time"

	"netdyno/internal/contract"
)

// streamRules concern the directions of wire stream that a transport of wire
// echo has, each in every shape.
var streamRules = []rule{
	{"streams, the counts agree", "Wires", "an exchange is complete when the last of down_bytes has come; " +
		"a server counts it when it has written the last of them", countFix, eachStream(streamCounts)},
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

// eachStream is a case: what it does in every direction and shape.
func eachStream(do func(*subject, contract.Exchange, int) error) func(*subject) error {
	return func(s *subject) error {
		directions, err := s.directions()
		if err != nil {
			return err
		}
		for _, direction := range directions {
			for _, f := range shapes {
				if err := do(s, f.exchange(direction), f.inFlight); err != nil {
					return fmt.Errorf("stream %s, %d bytes in chunks of %d, %d in flight: %w", direction, f.bytes, f.chunk, f.inFlight, err)
				}
				s.close()
			}
		}
		return nil
	}
}

// streamCounts lets the worker's ends work with each other and compares, to the
// byte, what they say of it.
func streamCounts(s *subject, x contract.Exchange, inFlight int) error {
	e, err := s.connectOver(contract.Setup{Exchange: x, Load: contract.Load{InFlight: inFlight}})
	if err != nil {
		return err
	}
	a, err := e.measure(s, warmUp)
	if err != nil {
		return err
	}
	r := a.result
	if n := r.Counts.Exchanges; r.Counts.SentBytes != n*x.UpBytes || r.Counts.ReceivedBytes != n*x.DownBytes {
		return fmt.Errorf("result says %d exchanges of %d bytes up and %d down, %d bytes sent and %d received",
			n, x.UpBytes, x.DownBytes, r.Counts.SentBytes, r.Counts.ReceivedBytes)
	}
	if r.Counts.Exchanges+r.Drained == 0 || r.Unfinished > 0 || len(r.Counts.Errors) > 0 {
		return fmt.Errorf("result says %d exchanges, %d drained, %d unfinished, errors %v on a loopback with nothing in its way",
			r.Counts.Exchanges, r.Drained, r.Unfinished, r.Counts.Errors)
	}
	if err := countsAgree(r, false); err != nil {
		return err
	}
	// At the closing mark each slot may be in the middle of counting one.
	slots := int64(connections * inFlight)
	n := connections + a.closing.Counts.Exchanges + r.Drained
	if err := e.server.served(s, x, n, n+slots); err != nil {
		return err
	}
	return e.finish()
}

// served waits until a server has counted from least to most exchanges, and no
// byte beside them. A server counts a message after sending it, when the
// client may already have it.
func (w *session) served(s *subject, x contract.Exchange, least, most int64) error {
	for deadline := time.Now().Add(s.patient(prompt)); ; s.pause(10 * time.Millisecond) {
		r, err := w.mark(9, false)
		if err != nil {
			return fmt.Errorf("server: %w", err)
		}
		n, received, sent := r.Counts.Exchanges, r.Counts.ReceivedBytes, r.Counts.SentBytes
		switch {
		case n >= least && n <= most && received == n*x.UpBytes && sent == n*x.DownBytes:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("the server says %d exchanges of %d bytes up and %d down, %d bytes received and %d sent, "+
				"expected %d to %d: the verified, the completed and the drained ones",
				n, x.UpBytes, x.DownBytes, received, sent, least, most)
		}
	}
}

func impossibleSizes(s *subject) error {
	directions, err := s.directions()
	if err != nil {
		return err
	}
	role := s.transport.Roles[0]
	for _, x := range []contract.Exchange{
		{UpBytes: 0, DownBytes: 10}, {UpBytes: 10, DownBytes: 0}, {UpBytes: -1, DownBytes: 10},
		{UpBytes: 10, DownBytes: 10, ChunkBytes: 64<<20 + 1}, {UpBytes: 10, DownBytes: 10, ChunkBytes: -1},
	} {
		x.Stream = directions[0]
		setup := contract.Setup{Transport: s.transport.Name, Role: role, Peers: []string{"127.0.0.1:1"}, Exchange: x}
		if err := fatalSetup(s, setup, contract.SetupFailed); err != nil {
			return fmt.Errorf("%d bytes up, %d down, chunks of %d: %w", x.UpBytes, x.DownBytes, x.ChunkBytes, err)
		}
	}
	return nil
}
