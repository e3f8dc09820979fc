package check

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"netdyno/internal/contract"
)

// peerVanishes kills the server under a load. The client may say so by a fatal
// error, or count errors until it is stopped; it may not hang.
func peerVanishes(s *subject) error {
	e, err := s.connect(contract.Load{})
	if err != nil {
		return err
	}
	if e.server == nil {
		return skipError{"a pair has no peer that could vanish"}
	}
	if err := e.start(); err != nil {
		return err
	}
	s.pause(warmUp)
	e.server.process.Kill()
	e.server.process.Wait(prompt)
	e.client.last = "the server's death"

	errorsCounted, deadline := int64(0), time.Now().Add(s.patient(5*time.Second))
	for errorsCounted == 0 {
		m, err := e.client.nextMessage(time.Until(deadline))
		switch {
		case err != nil:
			return fmt.Errorf("neither a fatal error nor a tick with errors came: %w", err)
		case lostAll(m):
			return e.client.fades()
		case m.Tick != nil && time.Now().Before(deadline):
			errorsCounted = m.Tick.Errors
		default:
			return unexpected{"a fatal error of kind peer, or a tick with errors", e.client.last, m}
		}
	}
	// The last connection may go after the tick and before the stop is read.
	var instead unexpected
	if _, err := e.stop(); err != nil && !(errors.As(err, &instead) && lostAll(instead.got)) {
		return err
	}
	return e.client.fades()
}

// lostAll reports whether a client says that no connection is left.
func lostAll(m contract.Message) bool {
	return m.Error != nil && m.Error.Fatal && m.Error.Kind == contract.Peer
}

// takePort takes a port of the transport's kind, until release.
func (s *subject) takePort() (address string, release func() error, err error) {
	if s.transport.UDP {
		socket, err := net.ListenPacket("udp", loopback)
		if err != nil {
			return "", nil, err
		}
		return socket.LocalAddr().String(), socket.Close, nil
	}
	l, err := net.Listen("tcp", loopback)
	if err != nil {
		return "", nil, err
	}
	return l.Addr().String(), l.Close, nil
}

func refused(s *subject) error {
	if !s.has(contract.Client) {
		return skipError{"the transport has no role client"}
	}
	if err := s.configurable(); err != nil {
		return err
	}
	free, release, err := s.takePort()
	if err != nil {
		return skipError{err.Error()}
	}
	if err := release(); err != nil {
		return skipError{err.Error()}
	}
	setup := contract.Setup{Transport: s.transport.Name, Role: contract.Client, Peers: []string{free}}
	// A transport without its device looks for no peer.
	var skipped skipError
	if _, _, err := s.ready(setup); errors.As(err, &skipped) {
		return err
	}
	return fatalSetup(s, setup, contract.Peer, contract.SetupFailed)
}

func portInUse(s *subject) error {
	if !s.has(contract.Server) {
		return skipError{"the transport has no role server"}
	}
	if err := s.configurable(); err != nil {
		return err
	}
	if _, _, err := s.server(contract.Setup{}); err != nil { // what has no server here says so, and nothing of ports
		return err
	}
	taken, release, err := s.takePort()
	if err != nil {
		return skipError{err.Error()}
	}
	defer func() { _ = release() }() // it takes in nothing, so loses nothing
	setup := contract.Setup{Transport: s.transport.Name, Role: contract.Server, Listen: taken}
	return fatalSetup(s, setup, contract.SetupFailed)
}

// twoListeners spreads the connections of a client over two ports.
func twoListeners(s *subject) error {
	if !s.has(contract.Server) {
		return skipError{"the transport has no role server"}
	}
	e, err := s.connectOver(contract.Setup{Listeners: 2})
	if err != nil {
		return err
	}
	a, err := e.measure(s, warmUp)
	if err != nil {
		return err
	}
	if err := a.closes(false); err != nil {
		return err
	}
	return e.finish()
}

// stranger connects from 127.0.0.1 to a server that admits only 127.0.0.2: the
// connection must be closed, and nothing may come back on it.
func stranger(s *subject) error {
	if !s.has(contract.Server) {
		return skipError{"the transport has no role server"}
	}
	w, r, err := s.ready(contract.Setup{Role: contract.Server, Allow: []string{"127.0.0.2"}})
	if err != nil {
		return err
	}
	if len(r.Addresses) == 0 {
		return errors.New("ready lists no address")
	}
	if s.transport.UDP {
		return s.strangerOverUDP(w, r.Addresses)
	}
	conn, err := net.DialTimeout("tcp", r.Addresses[0], prompt)
	if err != nil {
		return w.ends() // refused outright is closed, too
	}
	defer func() { _ = conn.Close() }() // a stranger's connection
	if err := conn.SetDeadline(time.Now().Add(s.patient(prompt))); err != nil {
		return skipError{err.Error()}
	}
	_, _ = conn.Write(make([]byte, messageBytes)) // a closed connection may say so only in the read
	n, err := conn.Read(make([]byte, messageBytes))
	if n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("a connection from 127.0.0.1 to a server that allows only 127.0.0.2 got %d bytes back and stayed open", n)
	}
	return w.ends()
}

// strangerOverUDP is the same where a connection cannot be tried from outside: a
// client of the transport's own, which connects from 127.0.0.1, must be refused, and
// not left to wait.
func (s *subject) strangerOverUDP(server *session, addresses []string) error {
	if !s.has(contract.Client) {
		return skipError{"over UDP only a client of the transport can try, and the worker has none"}
	}
	setup := contract.Setup{Transport: s.transport.Name, Role: contract.Client, Peers: addresses}
	if err := fatalSetup(s, setup, contract.Peer, contract.Timeout); err != nil {
		return fmt.Errorf("a client at 127.0.0.1 of a server that allows only 127.0.0.2: %w", err)
	}
	return server.ends()
}
