package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// ServerTLS returns how a server encrypts: TLS 1.3, Go's defaults otherwise;
// nil when setup.tls is absent. The error is of kind setup and names the key.
func ServerTLS(setup contract.Setup) (*tls.Config, error) {
	if setup.TLS == nil {
		return nil, nil
	}
	pair, err := tls.X509KeyPair([]byte(setup.TLS.Certificate), []byte(setup.TLS.Key))
	if err != nil {
		return nil, load.Failure(contract.SetupFailed, fmt.Errorf("read setup.tls.certificate and setup.tls.key: %w", err))
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}, nil
}

// ClientTLS returns how a client encrypts, as ServerTLS does. It trusts
// setup.tls.authorities and nobody else. ServerName is left to the library,
// which takes the address that it connects to.
func ClientTLS(setup contract.Setup) (*tls.Config, error) {
	if setup.TLS == nil {
		return nil, nil
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM([]byte(setup.TLS.Authorities)) {
		return nil, load.Failure(contract.SetupFailed, errors.New("read setup.tls.authorities: found no certificate, expected PEM text with at least one"))
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: trusted}, nil
}

// ExplainTLS adds to a failed connection what encryption has to do with it. It
// asks the peer by a handshake of its own, for what libraries say of a mismatch
// ranges from "EOF" to "frame too large". It takes 2 s at most.
func ExplainTLS(setup contract.Setup, route Route, err error) error {
	speaks := handshake(route)
	var header tls.RecordHeaderError
	switch encrypted := setup.TLS != nil; {
	case !encrypted && speaks == nil:
		return fmt.Errorf("%w: the server speaks TLS and this client plain text; give both ends setup.tls, or neither", err)
	case encrypted && errors.As(speaks, &header):
		return fmt.Errorf("%w: this client speaks TLS and the server plain text; give both ends setup.tls, or neither", err)
	}
	return err
}

// handshake tries a TLS handshake on a connection of its own, believing any
// certificate. A tls.RecordHeaderError tells that the peer answered in
// something else; other errors tell nothing.
func handshake(route Route) error {
	const patience = 2 * time.Second
	dialer := net.Dialer{Timeout: patience}
	if route.Source.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: route.Source.AsSlice()}
	}
	// Nothing is sent but the handshake, so there is nobody to be deceived.
	conn, err := tls.DialWithDialer(&dialer, "tcp", route.Peer.String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		return err
	}
	return conn.Close()
}
