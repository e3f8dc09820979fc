package quicwire

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/quic-go/quic-go"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// Explain returns why connection i could not be made, with advice and the
// contract's kind: a server that says nothing over UDP looks like one that is not
// there.
func Explain(i int, routes []wire.Route, err error) error {
	var known *contract.Error
	if errors.As(err, &known) {
		return err
	}
	fail := func(kind contract.ErrorKind, hint string) error {
		return load.Failure(kind, fmt.Errorf("connect %d of %d to %s over UDP: %w: %s", i+1, len(routes), routes[i].Peer, err, hint))
	}
	var (
		handshake *quic.HandshakeTimeoutError
		idle      *quic.IdleTimeoutError
		refused   *quic.TransportError
		versions  *quic.VersionNegotiationError
	)
	switch {
	case errors.As(err, &handshake), errors.As(err, &idle):
		return fail(contract.Timeout, "no datagram came back; nothing speaks QUIC there, or something on the way drops UDP")
	case errors.Is(err, syscall.EMSGSIZE):
		return fail(contract.SetupFailed, "the path takes no datagram of 1,200 bytes, and QUIC needs that (RFC 9000, section 14)")
	case errors.As(err, &versions):
		return fail(contract.Peer, "the two ends share no version of QUIC")
	case errors.As(err, &refused) && refused.ErrorCode == quic.ConnectionRefused:
		return fail(contract.Peer, "the server does not let this client in, or has too many connections waiting")
	}
	return wire.ConnectFailure(i, len(routes), routes[i], err)
}
