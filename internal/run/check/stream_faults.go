package check

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"netdyno/internal/contract"
)

// surplus answers the counted exchanges of one connection with a byte too many,
// in the same write: the client must notice, and go on with the other ones.
func surplus(s *subject, b bulk) error {
	return faulty(s, b, contract.Invalid, func(connection, exchange int, down []byte) []byte {
		if connection > 0 || exchange == 0 {
			return down
		}
		return append(slices.Clone(down), 0)
	})
}

// breaksOff closes one connection in the middle of an answer.
func breaksOff(s *subject, b bulk) error {
	return faulty(s, b, contract.Peer, func(connection, exchange int, down []byte) []byte {
		if connection > 0 || exchange == 0 {
			return down
		}
		return nil
	})
}

// faulty lets the worker's client work with a server that answers wrong on one
// connection of several: errors of the kind must be counted, and the other
// connections work on. Content that is wrong may also end the worker.
func faulty(s *subject, b bulk, kind contract.ErrorKind, answer func(connection, exchange int, down []byte) []byte) error {
	peer, err := serveStream(b, answer)
	if err != nil {
		return err
	}
	defer func() { _, _ = peer.close() }() // it is not asked any more
	w, err := s.clientOf(peer, b, contract.Load{})
	if err != nil {
		return err
	}
	if err := w.send(contract.Message{Start: &contract.Start{}}); err != nil {
		return err
	}
	before, err := w.faults(s)
	if ended := (unexpected{}); errors.As(err, &ended) && kind == contract.Invalid && ended.got.Error != nil &&
		ended.got.Error.Fatal && ended.got.Error.Kind == kind {
		return w.fades()
	}
	if err != nil {
		return err
	}
	if before.Errors[kind] == 0 {
		return fmt.Errorf("errors %v were counted, expected kind %s", before.Errors, kind)
	}
	s.pause(warmUp)
	// A mark without reset reads and ends nothing before the window opens.
	r, err := w.mark(2, false)
	if err != nil {
		return err
	}
	if r.Counts.Exchanges == before.Exchanges {
		return fmt.Errorf("no exchange was completed in %v on the connections that nothing is wrong with", warmUp)
	}
	return w.ends()
}

// faults waits for a tick that tells of errors and returns the counts of then.
func (w *session) faults(s *subject) (contract.Counts, error) {
	for deadline := time.Now().Add(s.patient(prompt)); ; {
		m, err := w.nextMessage(time.Until(deadline))
		switch {
		case err != nil:
			return contract.Counts{}, fmt.Errorf("no tick with errors came: %w", err)
		case m.Tick == nil:
			return contract.Counts{}, unexpected{"a tick with errors", w.last, m}
		case m.Tick.Errors > 0:
			r, err := w.mark(1, false)
			if err != nil {
				return contract.Counts{}, err
			}
			return r.Counts, nil
		}
	}
}

// clientBreaksOff goes in the middle of a message: the server serves the next
// client as if nothing had been.
func clientBreaksOff(s *subject, b bulk) error {
	w, addresses, err := s.server(contract.Setup{Exchange: b.exchange})
	if err != nil {
		return err
	}
	c, err := s.dialStream(b, addresses[0])
	if err != nil {
		return err
	}
	err = c.exchanges(1)
	if err == nil {
		_, err = c.conn.Write(b.up[:len(b.up)/2+1])
	}
	_ = c.conn.Close() // in the middle, which is the point
	if err != nil {
		return err
	}
	return stillServes(s, w, b, addresses[0])
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
