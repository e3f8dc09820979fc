package native_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// encrypting are the transports in C++ that encrypt, each with those in Go that it
// converses with.
var encrypting = map[string][]string{
	"http1-uring": {"go-http1", "fasthttp", "http1-asio"}, "http1-asio": {"go-http1", "fasthttp", "http1-uring"},
	"h2-uring": {"go-http2", "h2-asio"}, "h2-asio": {"go-http2", "h2-uring"},
	"grpc-nghttp2": {"go-grpc", "grpc-nghttp2-asio"}, "grpc-nghttp2-asio": {"go-grpc", "grpc-nghttp2"},
}

// encryptedPairs are client and server of every conversation that one of them is in.
func encryptedPairs() [][2]string {
	var pairs [][2]string
	for ours, others := range encrypting {
		pairs = append(pairs, [2]string{ours, ours})
		for _, other := range others {
			pairs = append(pairs, [2]string{ours, other})
			if encrypting[other] == nil { // else it is its own turn
				pairs = append(pairs, [2]string{other, ours})
			}
		}
	}
	return pairs
}

// A connection for every exchange, to and from Go: each end takes the other's goodbye.
func TestTLSConnectionsForEveryExchange(t *testing.T) {
	certificate := workertest.Certificate(t)
	load := contract.Load{Connections: 2, Amount: 20, Fresh: true}
	for _, pair := range encryptedPairs() {
		t.Run(pair[0]+" to "+pair[1], func(t *testing.T) {
			t.Parallel()
			c := trial{client: pair[0], server: pair[1], exchange: blocks(10, 1000), load: load, encrypted: certificate}
			server, client := c.connect(t)
			client.mark(1, true)
			client.send(contract.Message{Start: &contract.Start{}})
			if got := client.expect("result").Result.Counts; got.Exchanges != 40 || len(got.Errors) > 0 {
				t.Errorf("the client counts %+v, want 40 exchanges", got)
			}
			if got := server.counted(42); got.Exchanges != 42 || len(got.Errors) > 0 {
				t.Errorf("the server counts %+v, want 42 exchanges, the verified ones among them", got)
			}
		})
	}
}

// Whoever is not trusted, or does not encrypt, is refused before ready, and told so.
func TestTLSRefusals(t *testing.T) {
	own, stranger := workertest.Certificate(t), workertest.Certificate(t)
	trusting := &contract.TLS{Authorities: stranger.Authorities}
	for ours, others := range encrypting {
		for _, server := range []string{ours, others[0]} {
			for name, c := range map[string]struct {
				server, client *contract.TLS
				want           string
			}{
				"a stranger":   {own, trusting, "the server's certificate is of no authority that this client trusts"},
				"plain server": {nil, trusting, "plain text"},
				"plain client": {own, nil, "the server speaks TLS and this client plain text"},
			} {
				if name == "plain client" && server != ours {
					continue // net/http answers plain text with HTTP
				}
				t.Run(fmt.Sprintf("%s to %s/%s", ours, server, name), func(t *testing.T) {
					t.Parallel()
					s, client := start(t, server), start(t, ours)
					at := s.setup(contract.Setup{Role: contract.Server, Listen: "127.0.0.1:0", Exchange: blocks(10, 10), TLS: c.server})
					client.send(contract.Message{Setup: &contract.Setup{
						Transport: ours, Role: contract.Client, Peers: at.Addresses, Exchange: blocks(10, 10), TLS: c.client, Load: contract.Load{Connections: 2},
					}})
					if text := client.fatal(contract.SetupFailed); !strings.Contains(text, c.want) || c.client != nil && !strings.Contains(text, at.Addresses[0]) {
						t.Errorf("the client says %q, want %q and the address %s", text, c.want, at.Addresses[0])
					}
				})
			}
		}
	}
}

func TestTLSServersNameWhatTheyCannotUse(t *testing.T) {
	half := workertest.Certificate(t)
	half.Key = workertest.Certificate(t).Key
	for ours := range encrypting {
		server := start(t, ours)
		server.send(contract.Message{Setup: &contract.Setup{Transport: ours, Role: contract.Server, Listen: "127.0.0.1:0", Exchange: blocks(1, 1), TLS: half}})
		if text := server.fatal(contract.SetupFailed); !strings.Contains(text, "setup.tls.key") {
			t.Errorf("%s says %q, want setup.tls.key", ours, text)
		}
	}
}

// Whatever clients do wrong, in the handshake or after it, ends at most their own
// connection: the server serves on.
func TestTLSServersSurviveTheirClients(t *testing.T) {
	certificate := workertest.Certificate(t)
	plain := func(text string) func(net.Conn, string) {
		return func(c net.Conn, _ string) { _, _ = io.WriteString(c, text) }
	}
	wrongs := map[string]func(c net.Conn, protocol string){
		"nothing":      func(net.Conn, string) {},
		"HTTP":         plain("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"a half hello": plain("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
		"zeros":        plain(strings.Repeat("\x00", 100_000)),
		"long records": plain(strings.Repeat("\x16\x03\x01\xff\xff", 10_000)),
		"TLS 1.2": func(c net.Conn, _ string) {
			_ = tls.Client(c, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}).Handshake()
		},
		"another protocol": func(c net.Conn, _ string) {
			_ = tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"spdy/3"}}).Handshake()
		},
		"garbage after the handshake": func(c net.Conn, protocol string) {
			if tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}).Handshake() == nil {
				_, _ = io.WriteString(c, "\x17\x03\x03\x00\x20"+strings.Repeat("x", 32))
			}
		},
		"no HTTP inside": func(c net.Conn, protocol string) {
			inside := tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}})
			_, _ = io.WriteString(inside, "SSH-2.0-OpenSSH_9.2\r\n\r\n")
			_, _ = io.Copy(io.Discard, inside)
		},
	}
	for ours := range encrypting {
		t.Run(ours, func(t *testing.T) {
			t.Parallel()
			protocol := "h2"
			if slices.Contains(nativeHTTP, ours) {
				protocol = "http/1.1"
			}
			server := start(t, ours)
			at := server.setup(contract.Setup{Role: contract.Server, Listen: "127.0.0.1:0", Exchange: blocks(10, 100), TLS: certificate}).Addresses[0]
			for name, wrong := range wrongs {
				conn, err := net.Dial("tcp", at)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				_ = conn.SetDeadline(time.Now().Add(timeout))
				wrong(conn, protocol)
				_ = conn.(*net.TCPConn).CloseWrite()
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			}
			got := drive(t, ours, contract.Setup{
				Peers: []string{at}, Exchange: blocks(10, 100), Load: contract.Load{Connections: 2, Amount: 5}, TLS: &contract.TLS{Authorities: certificate.Authorities},
			})
			if got.Exchanges != 10 || len(got.Errors) > 0 {
				t.Errorf("counts %+v, want 10 exchanges", got)
			}
			if counts := server.counted(12); counts.Exchanges != 12 || counts.Errors[contract.Invalid] < 5 {
				t.Errorf("the server counts %+v, want 12 exchanges and an error for each client that was wrong", counts)
			}
		})
	}
}
