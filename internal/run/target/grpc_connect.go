package target

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"netdyno/internal/quantity"
	"netdyno/internal/run/spoken"
	"netdyno/internal/unixsocket"
)

// connect finds out what the server speaks, as the library's errors do not say it,
// and returns a connection that dials with its first call.
func (t Target) connect(ctx context.Context, u *url.URL, more ...grpc.DialOption) (*grpc.ClientConn, error) {
	config, err := t.trust()
	if err != nil {
		return nil, err
	}
	if config.ServerName == "" {
		config.ServerName = u.Hostname()
	}
	var secure credentials.TransportCredentials
	if u.Scheme == "grpcs" {
		err = t.speaksTLS(ctx, u, config)
		name := config.ServerName
		config.ServerName = "" // or it would have to be :authority
		secure = checked{credentials.NewTLS(config), name}
	} else {
		err = t.speaksHTTP2(ctx, u)
		secure = insecure.NewCredentials()
	}
	if err != nil {
		return nil, err
	}
	host := cmp.Or(t.Host, hostOf(u))
	return grpc.NewClient("passthrough:///"+address(u), append(more, grpc.WithTransportCredentials(secure), grpc.WithAuthority(host), grpc.WithDisableServiceConfig(),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return t.dial(ctx, u) }))...)
}

// dial connects to the target's address within the deadline of a request, and to no proxy.
func (t Target) dial(ctx context.Context, u *url.URL) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, t.limit())
	defer cancel()
	network, to := unixsocket.Network(t.address(u))
	dialer := t.dialer(to)
	return dialer.DialContext(ctx, network, to)
}

// checked checks a certificate for a name that need not be :authority.
type checked struct {
	credentials.TransportCredentials
	name string
}

// ClientHandshake implements credentials.TransportCredentials.
func (c checked) ClientHandshake(ctx context.Context, _ string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return c.TransportCredentials.ClientHandshake(ctx, c.name, conn)
}

// Clone implements credentials.TransportCredentials.
func (c checked) Clone() credentials.TransportCredentials {
	return checked{c.TransportCredentials.Clone(), c.name}
}

// greeting bounds the wait for what a server says first.
const greeting = 2 * time.Second

// speaksTLS makes a handshake and says what keeps it from succeeding.
func (t Target) speaksTLS(ctx context.Context, u *url.URL, config *tls.Config) error {
	conn, err := t.dial(ctx, u)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // nothing is sent after the handshake
	certificate := &presented{own: config.Certificates}
	config = config.Clone()
	config.NextProtos, config.GetClientCertificate = []string{"h2"}, certificate.give
	secure, err := shaken(ctx, conn, config)
	if err != nil {
		return certificate.explain(u, t.misshaken(ctx, u, err))
	}
	if secure.ConnectionState().NegotiatedProtocol != "h2" {
		return fmt.Errorf("%s speaks TLS without HTTP/2 (ALPN h2), which gRPC needs", address(u))
	}
	return certificate.explain(u, greet(ctx, u, secure)) // in TLS 1.3 a certificate is refused after the handshake
}

// shaken makes a handshake of TLS, within the time of a greeting.
func shaken(ctx context.Context, conn net.Conn, config *tls.Config) (*tls.Conn, error) {
	within, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	secure := tls.Client(conn, config)
	return secure, secure.HandshakeContext(within)
}

// presented is the client's certificate, and whether the server asked for one.
type presented struct {
	own   []tls.Certificate
	asked bool
}

// give is called during the handshake.
func (p *presented) give(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	if p.asked = true; len(p.own) == 0 {
		return new(tls.Certificate), nil
	}
	return &p.own[0], nil
}

// explain says what an error means that followed; nil stays nil.
func (p *presented) explain(u *url.URL, err error) error {
	switch {
	case err == nil || !p.asked:
		return err
	case len(p.own) == 0:
		return fmt.Errorf("%s wants a client's certificate; name one with --cert FILE --key FILE", address(u))
	}
	return fmt.Errorf("%s does not accept the certificate of --cert: %w", address(u), err)
}

// misshaken says what an error of a handshake means, and what to do.
func (t Target) misshaken(ctx context.Context, u *url.URL, err error) error {
	if said := untrusted(address(u), err); said != nil {
		return said
	}
	if strings.Contains(err.Error(), "no application protocol") {
		return fmt.Errorf("%s speaks TLS without HTTP/2 (ALPN h2), which gRPC needs", address(u))
	}
	if header := (tls.RecordHeaderError{}); errors.As(err, &header) || t.greets(ctx, u) == nil {
		return fmt.Errorf("%s speaks no TLS; measure grpc://%s", address(u), u.Host+u.RequestURI())
	}
	return fmt.Errorf("the TLS handshake with %s failed: %w", address(u), err)
}

// speaksHTTP2 looks for a plain server of HTTP/2, and says what it is instead.
func (t Target) speaksHTTP2(ctx context.Context, u *url.URL) error {
	heard := t.greets(ctx, u)
	if heard == nil {
		return nil
	}
	conn, err := t.dial(ctx, u)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // nothing is sent after the handshake
	// Nothing but the handshake is sent, so the peer need not be authenticated.
	config := &tls.Config{InsecureSkipVerify: true, ServerName: u.Hostname(), NextProtos: []string{"h2", "http/1.1"}}
	if _, err := shaken(ctx, conn, config); err == nil {
		return fmt.Errorf("%s speaks TLS; measure grpcs://%s", address(u), u.Host+u.RequestURI())
	}
	return heard
}

// greets tells whether a server answers HTTP/2 on a plain connection.
func (t Target) greets(ctx context.Context, u *url.URL) error {
	conn, err := t.dial(ctx, u)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // its answer is known
	return greet(ctx, u, conn)
}

// greet tells whether a server answers HTTP/2: its first frame is SETTINGS
// (RFC 9113, section 3.4).
func greet(ctx context.Context, u *url.URL, conn net.Conn) error {
	until := time.Now().Add(greeting)
	if by, ok := ctx.Deadline(); ok && by.Before(until) {
		until = by
	}
	if err := conn.SetDeadline(until); err != nil {
		return err
	}
	const settings = 4 // type of a frame (RFC 9113, section 6.5)
	if _, err := io.WriteString(conn, spoken.Preface); err != nil {
		return fmt.Errorf("%s speaks no gRPC: it refuses HTTP/2: %w", address(u), err)
	}
	var header [9]byte
	n, err := io.ReadFull(conn, header[:])
	switch {
	case err == nil && header[3] == settings && header[4] == 0:
		return nil
	case strings.HasPrefix(string(header[:n]), "HTTP/1."):
		return fmt.Errorf("%s speaks HTTP/1.1 and no gRPC; measure http://%s", address(u), u.Host+u.RequestURI())
	case n == 0 && errors.Is(err, io.EOF):
		return fmt.Errorf("%s speaks no gRPC: it ends the connection when it is asked for HTTP/2", address(u))
	case n == 0:
		return fmt.Errorf("%s speaks no gRPC: it does not answer HTTP/2: %w", address(u), err)
	}
	return fmt.Errorf("%s speaks no gRPC: it answers HTTP/2 with %q", address(u), header[:n])
}

// answered says what the status of a failed call means.
func answered(ctx context.Context, u *url.URL, what string, err error) error {
	s := status.Convert(err)
	said := s.Code().String()
	if s.Message() != "" {
		said += ": " + quantity.Clip(s.Message(), 200)
	}
	_, packedBy, packed := strings.Cut(s.Message(), "Decompressor is not installed for grpc-encoding ")
	switch {
	case ctx.Err() != nil:
		return ctx.Err() // explain says how long it took
	case packed:
		return fmt.Errorf("%s packs its reply by %s, and the clients here unpack gzip alone", what, quantity.Clip(packedBy, 40))
	}
	if s.Code() == codes.Unimplemented && s.Message() != "" {
		return fmt.Errorf("%s has no %s: %s", address(u), what, said)
	}
	return wrong{fmt.Errorf("%s answers %s", what, said)}
}

// serial is a codec for messages that are serialized already.
type serial struct{}

// Name implements encoding.CodecV2: no content subtype, as protobuf has none.
func (serial) Name() string { return "" }

// Marshal implements encoding.CodecV2.
func (serial) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

// Unmarshal implements encoding.CodecV2.
func (serial) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
