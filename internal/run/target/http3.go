package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"netdyno/internal/quantity"
	"netdyno/internal/quicsocket"
)

// WireHTTP3 is HTTP/3 as option wire has it.
const WireHTTP3 = "h3"

// fitHTTP3 refuses what cannot be asked by HTTP/3.
func (t Target) fitHTTP3(u *url.URL) error {
	switch {
	case !t.HTTP3:
		return nil
	case u.Scheme != "https":
		return fmt.Errorf("--http3 goes with https:// URLs, as HTTP/3 is always encrypted; found %s", quantity.Clip(Shown(u), 200))
	case t.Proxy != nil || t.Socket != "":
		return errors.New("--http3 asks by UDP: leave out the proxy or the Unix socket")
	}
	return nil
}

// offersHTTP3 tells whether a reply says that HTTP/3 answers at the port that was asked.
// Source: RFC 7838, section 3, and RFC 9114, section 3.1.1.
func offersHTTP3(h http.Header, asked *url.URL) bool {
	_, port, err := net.SplitHostPort(address(asked))
	if err != nil {
		return false
	}
	for _, line := range h.Values("Alt-Svc") {
		for service := range strings.SplitSeq(line, ",") {
			service, _, _ = strings.Cut(service, ";")
			if strings.TrimSpace(service) == `h3=":`+port+`"` {
				return true
			}
		}
	}
	return false
}

// overQUIC carries requests by HTTP/3.
func (t Target) overQUIC() (*http3.Transport, error) {
	trusted, err := t.trust()
	if err != nil {
		return nil, err
	}
	// A few requests need no buffers of 7 MiB, of which quic-go prints that it lacks them.
	if err := os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true"); err != nil {
		return nil, err
	}
	return &http3.Transport{TLSClientConfig: trusted, DisableCompression: true, Dial: t.dialQUIC}, nil
}

// dialQUIC makes a connection as go-http3 does, to where the target leads.
func (t Target) dialQUIC(ctx context.Context, address string, trusted *tls.Config, config *quic.Config) (*quic.Conn, error) {
	if t.ConnectLimit > 0 {
		within, cancel := context.WithTimeout(ctx, t.ConnectLimit)
		defer cancel()
		ctx = within
	}
	to := t.places(address)[0]
	dialer := t.dialer(to)
	dialled, err := dialer.DialContext(ctx, "udp", to)
	if err != nil {
		return nil, err
	}
	socket, is := dialled.(*net.UDPConn)
	if !is {
		return nil, fmt.Errorf("dial %s: found %T; expected a UDP socket", to, dialled)
	}
	conn, err := quic.Dial(ctx, quicsocket.Connected{UDPConn: socket}, socket.RemoteAddr(), trusted, config)
	if err != nil {
		_ = socket.Close() // the first failure is the one to report
		return nil, err
	}
	context.AfterFunc(conn.Context(), func() { _ = socket.Close() }) // what quic-go had to say was sent before
	return conn, nil
}

// explainQUIC says what an error of QUIC means, and what to do; nil of another error.
func (t Target) explainQUIC(u *url.URL, err error) error {
	var (
		handshake *quic.HandshakeTimeoutError
		idle      *quic.IdleTimeoutError
		versions  *quic.VersionNegotiationError
		ended     *quic.TransportError
	)
	const byTCP = "leave out --http3 to ask by TCP"
	at := t.address(u)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens on %s by UDP, as a server of HTTP/3 does; %s", at, byTCP)
	case errors.As(err, &handshake), errors.As(err, &idle):
		return fmt.Errorf("%s does not answer QUIC: it speaks no HTTP/3, or something on the way drops UDP; %s", at, byTCP)
	case errors.As(err, &versions):
		return fmt.Errorf("%s speaks no version of QUIC that is known here (%w); %s", at, err, byTCP)
	case !errors.As(err, &ended) || !ended.Remote || !ended.ErrorCode.IsCryptoError():
		return nil
	}
	alert := ended.Error()
	if strings.Contains(alert, "application protocol") {
		return fmt.Errorf("%s speaks QUIC, and no HTTP/3; %s", at, byTCP)
	}
	return fmt.Errorf("%s ends the connection by TLS: %s; %s", at, quantity.Clip(alert, 80), alerts(alert))
}
