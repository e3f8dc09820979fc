// Package spoken finds out what a server of somebody else's speaks, for a sentence that
// says so where it was asked for something else.
package spoken

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"netdyno/internal/unixsocket"
)

// Wire is what a server speaks. The zero value stands for nothing that is known here.
type Wire struct {
	Name string // as option wire has it: http/1.1, h2c, grpc:netdyno.v1, echo; "" for unknown
	TLS  bool   // by TLS; Name is then what ALPN, or a request within, has shown
}

// String writes it for a sentence: "HTTP/2 without TLS".
func (w Wire) String() string {
	known := map[string]string{HTTP1: "HTTP/1.1", HTTP2: "HTTP/2", GRPC: "gRPC", Echo: "echo"}
	name := cmp.Or(known[w.Name], w.Name)
	switch {
	case w.TLS && name == "":
		return "TLS"
	case w.TLS:
		return name + " by TLS"
	case w.Name == HTTP2 || w.Name == GRPC:
		return name + " without TLS"
	}
	return name
}

// Names of wires.
const (
	HTTP1 = "http/1.1"
	HTTP2 = "h2c"
	GRPC  = "grpc:netdyno.v1"
	Echo  = "echo"
)

// askTimeout bounds each question that a server is asked.
const askTimeout = time.Second

// At asks the server at host:port one thing after the other, each on a connection of
// its own and for at most a second, until it answers as a wire has it: a handshake
// of TLS, the preface of HTTP/2, a request of HTTP/1.1, which an echo sends back. The
// answer to none of them is the zero Wire. The last question is the one request that an
// HTTP server takes for one, whatever it speaks.
func At(ctx context.Context, address string) Wire {
	switch {
	case speaksTLS(ctx, address):
		return Wire{Name: within(ctx, address, true), TLS: true}
	case greets(ctx, address):
		return Wire{Name: within(ctx, address, false)}
	}
	return Wire{Name: plain(ctx, address)}
}

// Requests is how many requests At makes of a server that was found to speak so: none of
// one that answered none.
func (w Wire) Requests() int64 {
	if w.Name == "" {
		return 0
	}
	return 1
}

// speaksTLS makes a handshake of TLS. A server that asks for what the client lacks, a
// certificate or a name, speaks TLS too: it answers by an alert.
func speaksTLS(ctx context.Context, address string) bool {
	const handshake, alert, major, serverHello = 22, 21, 3, 2 // an echo sends back a ClientHello
	first := exchange(ctx, address, clientHello(address), 6)
	return len(first) == 6 && first[1] == major && (first[0] == handshake && first[5] == serverHello || first[0] == alert)
}

// clientHello is what a client of TLS sends first.
func clientHello(address string) string {
	var hello recorder
	host, _, _ := net.SplitHostPort(address)
	config := &tls.Config{InsecureSkipVerify: true, ServerName: host, NextProtos: []string{"h2", "http/1.1"}} // nothing but this is sent
	_ = tls.Client(&hello, config).Handshake()                                                                // it ends with the first read
	return hello.sent.String()
}

// recorder keeps what is written to it, and has nothing to read.
type recorder struct {
	net.Conn
	sent strings.Builder
}

func (r *recorder) Write(b []byte) (int, error) { return r.sent.Write(b) }
func (*recorder) Read([]byte) (int, error)      { return 0, io.EOF }
func (*recorder) Close() error                  { return nil }
func (*recorder) SetDeadline(time.Time) error   { return nil }

// Preface is what a client of HTTP/2 sends first, with empty SETTINGS (RFC 9113,
// section 3.4).
const Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// greets tells whether a server answers HTTP/2 on a plain connection: its first frame
// is SETTINGS.
func greets(ctx context.Context, address string) bool {
	const settings, atType = 4, 3
	first := exchange(ctx, address, Preface, 9)
	return len(first) == 9 && first[atType] == settings && first[0] == 0 && first[atType+1] == 0
}

// within finds what a server of HTTP/2 or of TLS has inside: gRPC where a call of a
// method that it does not have is answered as gRPC has it.
func within(ctx context.Context, address string, encrypted bool) string {
	ctx, cancel := context.WithTimeout(ctx, 2*askTimeout)
	defer cancel()
	protocols := new(http.Protocols)
	protocols.SetHTTP2(encrypted)
	protocols.SetHTTP1(encrypted)
	protocols.SetUnencryptedHTTP2(!encrypted)
	transport := &http.Transport{Protocols: protocols, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true} // only to see what it is
	defer transport.CloseIdleConnections()
	scheme, unknown := "http", HTTP2
	if encrypted {
		scheme, unknown = "https", ""
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, scheme+"://"+address+"/netdyno.v1.Probe/None", strings.NewReader("\x00\x00\x00\x00\x00"))
	if err != nil {
		return unknown
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	response, err := transport.RoundTrip(request)
	if err != nil {
		return unknown
	}
	_ = response.Body.Close() // it is not read
	switch {
	case strings.HasPrefix(response.Header.Get("Content-Type"), "application/grpc"):
		return GRPC
	case response.ProtoMajor == 2:
		return HTTP2
	}
	return HTTP1
}

// plain makes a request of HTTP/1.1: a server answers it, or sends it back.
func plain(ctx context.Context, address string) string {
	request := "OPTIONS * HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n"
	switch first := exchange(ctx, address, request, len("HTTP/1.")); {
	case string(first) == "HTTP/1.":
		return HTTP1
	case len(first) > 0 && strings.HasPrefix(request, string(first)):
		return Echo
	}
	return ""
}

// QUIC tells whether a server at host:port answers QUIC by UDP: to a long header of a version
// that there is not it says which versions it speaks (RFC 9000, section 6).
func QUIC(ctx context.Context, address string) bool {
	const least, long, ids = 1200, 0xc0, 8 // bytes of a datagram that is answered; the first of a long header; bytes of each connection's name
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp", address)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()              // its answer is known
	_ = conn.SetDeadline(time.Now().Add(askTimeout)) // of a socket that is open
	asked := make([]byte, least)
	copy(asked, []byte{long, 0x1a, 0x2a, 0x3a, 0x4a, ids, 1, 2, 3, 4, 5, 6, 7, 8, ids, 8, 7, 6, 5, 4, 3, 2, 1})
	if _, err := conn.Write(asked); err != nil {
		return false
	}
	answer := make([]byte, 2048)
	n, err := conn.Read(answer)
	return err == nil && n > 5 && answer[0]&0x80 != 0 && bytes.Equal(answer[1:5], []byte{0, 0, 0, 0})
}

// exchange sends text on a new connection and returns the first n bytes that come, or
// fewer.
func exchange(ctx context.Context, address, text string, n int) []byte {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var dialer net.Dialer
	network, to := unixsocket.Network(address)
	conn, err := dialer.DialContext(ctx, network, to)
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close() }() // its answer is known
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(conn, text); err != nil {
		return nil
	}
	first := make([]byte, n)
	got, _ := io.ReadFull(conn, first)
	return first[:got]
}
