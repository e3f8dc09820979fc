// Package tlswire is what transports that can encrypt share: both ends' TLS, whom a
// client trusts, and the server whose connections may be encrypted. It stands apart from
// package wire so that a program whose transports are all plain links no cryptography.
package tlswire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/unixsocket"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// ServerConfig returns how a server encrypts: TLS 1.3, Go's defaults otherwise;
// nil when setup.tls is absent. The error is of kind setup and names the key.
func ServerConfig(setup contract.Setup) (*tls.Config, error) {
	if setup.TLS == nil {
		return nil, nil
	}
	pair, err := tls.X509KeyPair([]byte(setup.TLS.Certificate), []byte(setup.TLS.Key))
	if err != nil {
		return nil, load.Failure(contract.SetupFailed, fmt.Errorf("read setup.tls.certificate and setup.tls.key: %w", err))
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}, nil
}

// ClientConfig returns how a client encrypts, as ServerConfig does. It trusts only
// setup.tls.authorities. The library sets ServerName to the address that it
// connects to. With setup.tls.resume, connections by one configuration and its clones resume
// each other's sessions.
func ClientConfig(setup contract.Setup) (*tls.Config, error) {
	if setup.TLS == nil {
		return nil, nil
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM([]byte(setup.TLS.Authorities)) {
		return nil, load.Failure(contract.SetupFailed, errors.New("read setup.tls.authorities: found no certificate, expected PEM text with at least one"))
	}
	config := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: trusted}
	if setup.TLS.Resume {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	return config, nil
}

// Handshake encrypts a client's new connection, for server unless config names another, and
// tells l how long that took, unless l is nil. After an error the connection is closed.
func Handshake(ctx context.Context, conn net.Conn, config *tls.Config, server string, l *load.Load) (net.Conn, error) {
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName = server
	}
	encrypted, begun := tls.Client(conn, config), load.Now()
	if err := encrypted.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the handshake has failed
		return nil, err
	}
	if l != nil {
		l.Secured(load.Now()-begun, encrypted.ConnectionState().DidResume)
	}
	return encrypted, nil
}

// Explain adds to a connection's error that one end encrypts and the other does
// not, if Mismatch finds so.
func Explain(setup contract.Setup, route wire.Route, err error) error {
	if mismatch := Mismatch(setup, route); mismatch != nil {
		return fmt.Errorf("%w: %w", err, mismatch)
	}
	return err
}

// Mismatch returns an error that says which end speaks TLS and which does not;
// nil when both or neither do, or when that cannot be found out. It tries a
// handshake of its own, because libraries report a mismatch in many ways, from
// "EOF" to "frame too large". It takes 2 s at most.
func Mismatch(setup contract.Setup, route wire.Route) error {
	heard := handshake(route)
	var header tls.RecordHeaderError
	switch encrypted := setup.TLS != nil; {
	case !encrypted && heard == nil:
		return errors.New("the server speaks TLS and this client plain text; give setup.tls to both ends or to neither")
	case encrypted && (errors.As(heard, &header) || heard != nil && speaksHTTP2(route)):
		return errors.New("this client speaks TLS and the server plain text; give setup.tls to both ends or to neither")
	}
	return nil
}

// probing bounds one attempt to find out what a peer speaks.
const probing = time.Second

// probe returns a dialer that connects from the source address of a route.
func probe(route wire.Route) *net.Dialer {
	dialer := &net.Dialer{Timeout: probing}
	if route.Source.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: route.Source.AsSlice()}
	}
	return dialer
}

// handshake tries a TLS handshake on a connection of its own and accepts any
// certificate. A tls.RecordHeaderError means that the peer answered in another
// protocol; other errors mean nothing.
func handshake(route wire.Route) error {
	// Nothing but the handshake is sent, so the peer need not be authenticated.
	config := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}}
	network, to := unixsocket.Network(route.Peer.String())
	conn, err := tls.DialWithDialer(probe(route), network, to, config)
	if err != nil {
		return err
	}
	return conn.Close()
}

// speaksHTTP2 reports whether a peer answers HTTP/2 on a plain connection. Such a
// server closes a connection on which anything else comes (RFC 9113, section 3.4).
func speaksHTTP2(route wire.Route) bool {
	network, to := unixsocket.Network(route.Peer.String())
	conn, err := probe(route).Dial(network, to)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }() // its answer is known
	const emptySettings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	if conn.SetDeadline(time.Now().Add(probing)) != nil {
		return false
	}
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+emptySettings); err != nil {
		return false
	}
	var header [9]byte
	_, err = io.ReadFull(conn, header[:])
	return err == nil && header[3] == emptySettings[3]
}
