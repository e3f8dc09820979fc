package quicwire

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/quic-go/quic-go"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/tlswire"
)

// Server is what every server over QUIC needs: its UDP ports, the counters, and the
// order in which both end. A transport embeds it, and adds its protocol by Serve.
// Any goroutine may call the methods.
type Server struct {
	allowed *wire.Allowed
	ready   contract.Ready
	ports   []port
	stop    func() error
	serving sync.WaitGroup

	exchanges, received, sent, connections atomic.Int64
}

// Listener is one port as a transport serves it.
type Listener = quic.EarlyListener

// port is one UDP port.
type port struct {
	socket    *net.UDPConn
	transport *quic.Transport
	listener  *Listener
}

// NewServer opens the ports of setup. ready holds what the transport reports beside
// their addresses and options; protocol is what both ends agree on by ALPN. An error
// is of kind setup, or unsupported where setup.tls is absent.
func NewServer(setup contract.Setup, protocol string, ready contract.Ready) (*Server, error) {
	if err := encrypted(setup); err != nil {
		return nil, err
	}
	allowed, err := wire.AllowedOf(setup)
	if err != nil {
		return nil, err
	}
	effective := maps.Clone(setup.Options)
	config, err := configure(setup, effective)
	if err != nil {
		return nil, err
	}
	encryption, err := tlswire.ServerConfig(setup)
	if err != nil {
		return nil, err
	}
	encryption.NextProtos = []string{protocol}
	addresses, err := wire.ListenAddresses(setup)
	if err != nil {
		return nil, err
	}
	s := &Server{allowed: allowed, ready: ready, stop: func() error { return nil }}
	for _, address := range addresses {
		if err := s.listen(address, setup, encryption, config); err != nil {
			s.close()
			return nil, wire.ListenFailure(address, err)
		}
	}
	if err := report(s.ports[0].socket, effective, setup.Options); err != nil {
		s.close()
		return nil, err
	}
	s.ready.Options = effective
	return s, nil
}

// listen opens one port.
func (s *Server) listen(address string, setup contract.Setup, encryption *tls.Config, config *quic.Config) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if err != nil {
		return err
	}
	transport := &quic.Transport{Conn: socket, ConnContext: s.admit}
	listener, err := transport.ListenEarly(encryption, config)
	if err == nil {
		err = tune(socket, wire.BuffersOf(setup))
	}
	if err != nil {
		_ = transport.Close()
		_ = socket.Close() // the first failure is the one to report
		return err
	}
	s.ports = append(s.ports, port{socket, transport, listener})
	s.ready.Addresses = append(s.ready.Addresses, socket.LocalAddr().(*net.UDPAddr).AddrPort().String())
	return nil
}

// errStranger refuses a client outside setup.allow. Its address may be forged, but
// then the handshake never completes.
var errStranger = errors.New("this server does not serve that address")

// admit implements quic.Transport's ConnContext.
func (s *Server) admit(ctx context.Context, client *quic.ClientInfo) (context.Context, error) {
	from, known := client.RemoteAddr.(*net.UDPAddr)
	if !known || !s.allowed.Accepts(from.AddrPort().Addr()) {
		return nil, errStranger
	}
	return ctx, nil
}

// Serve runs serve for each port on a goroutine of its own. serve has to return
// once its listener is closed. Close calls stop, to end the connections, after the
// listeners. Call Serve at most once.
func (s *Server) Serve(serve func(*Listener) error, stop func() error) {
	s.stop = stop
	for _, p := range s.ports {
		s.serving.Go(func() { _ = serve(p.listener) }) // it ends with the listener
	}
}

// Opened counts a connection as open until it ends. It has the form of
// http3.Server's ConnContext, and returns ctx.
func (s *Server) Opened(ctx context.Context, conn *quic.Conn) context.Context {
	s.connections.Add(1)
	context.AfterFunc(conn.Context(), func() { s.connections.Add(-1) })
	return ctx
}

// Count adds one exchange with the payload bytes of its request and its reply.
func (s *Server) Count(received, sent int64) {
	s.received.Add(received)
	s.sent.Add(sent)
	s.exchanges.Add(1)
}

// Ready implements load.Server.
func (s *Server) Ready() contract.Ready { return s.ready }

// Connections returns how many connections are open.
func (s *Server) Connections() int64 { return s.connections.Load() }

// Counts implements load.Server.
func (s *Server) Counts() contract.Counts {
	return contract.Counts{
		Exchanges: s.exchanges.Load(), ReceivedBytes: s.received.Load(), SentBytes: s.sent.Load(), Connections: s.Connections(),
		Strangers: s.allowed.Strangers(),
	}
}

// Close implements load.Server.
func (s *Server) Close() error {
	for _, p := range s.ports {
		_ = p.listener.Close() // ends its Accept
	}
	err := s.stop()
	s.close()
	s.serving.Wait()
	return err
}

// close ends what the ports still have, connections included.
func (s *Server) close() {
	for _, p := range s.ports {
		_ = p.transport.Close()
		_ = p.socket.Close()
	}
}

var _ load.Server = (*Server)(nil)
