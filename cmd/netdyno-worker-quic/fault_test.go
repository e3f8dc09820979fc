package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"testing"

	"github.com/quic-go/quic-go"
	h3 "github.com/quic-go/quic-go/http3"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker/workertest"
)

// each runs a test of both transports.
func each(t *testing.T, test func(t *testing.T, of []load.Transport)) {
	t.Parallel()
	for i := range transports {
		t.Run(transports[i].Describe().Name, func(t *testing.T) {
			t.Parallel()
			test(t, transports[i:i+1])
		})
	}
}

func TestWithoutCertificatesTheSetupIsRefused(t *testing.T) {
	each(t, func(t *testing.T, of []load.Transport) {
		setup, _ := trial{Exchange: blocks(10, 10)}.Setups(of)
		err := workertest.Refused(t, of, setup)
		workertest.Says(t, "the server", err, "always encrypted", "tls=yes")
		if err.Kind != contract.Unsupported {
			t.Errorf("kind %s, want %s", err.Kind, contract.Unsupported)
		}
	})
}

func TestAServerThatDiesIsAPeerLost(t *testing.T) {
	each(t, func(t *testing.T, of []load.Transport) {
		trial{Exchange: blocks(100, 100), TLS: workertest.Certificate(t)}.DiesWithItsServer(t, of)
	})
}

// Nothing listens: the kernel says so at once. Something listens and says nothing:
// the client gives up by itself, and says what may be the matter with UDP.
func TestSilenceOverUDPIsTold(t *testing.T) {
	each(t, func(t *testing.T, of []load.Transport) {
		socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		p := trial{Exchange: blocks(10, 10), TLS: workertest.Certificate(t)}
		silent := p.Refused(t, of, socket.LocalAddr().String())
		workertest.Says(t, "silence", silent, "connect 1 of 1", "over UDP", "drops UDP")
		if silent.Kind != contract.Timeout {
			t.Errorf("kind %s, want %s", silent.Kind, contract.Timeout)
		}
		socket.Close()
		absent := p.Refused(t, of, socket.LocalAddr().String())
		workertest.Says(t, "nobody", absent, "nothing listens there")
		if absent.Kind != contract.Peer {
			t.Errorf("kind %s, want %s", absent.Kind, contract.Peer)
		}
	})
}

func TestServersAdmitTheirClients(t *testing.T) {
	each(t, func(t *testing.T, of []load.Transport) {
		trial{Exchange: blocks(10, 10), TLS: workertest.Certificate(t)}.AdmitsItsOwn(t, of)
	})
}

// More exchanges in flight than the server has streams for would wait at the client.
func TestTooFewStreamsAreToldBeforeTheLoad(t *testing.T) {
	each(t, func(t *testing.T, of []load.Transport) {
		secret := workertest.Certificate(t)
		server := trial{Exchange: blocks(10, 10), TLS: secret, Server: map[string]any{"max_streams": 3.0}}
		_, address := server.Listen(t, of)
		_, setup := trial{Exchange: blocks(10, 10), TLS: secret, Load: contract.Load{Connections: 1, InFlight: 4}}.Setups(of)
		setup.Peers = []string{address}
		workertest.Says(t, "the client", workertest.Refused(t, of, setup), "in_flight is 4", "3 streams", "opt.server.max_streams")
	})
}

func TestWindowsThatContradictAreRefused(t *testing.T) {
	each(t, func(t *testing.T, of []load.Transport) {
		p := trial{Exchange: blocks(10, 10), TLS: workertest.Certificate(t), Server: map[string]any{"stream_window": float64(7 << 20)}}
		setup, _ := p.Setups(of)
		workertest.Says(t, "the server", workertest.Refused(t, of, setup), "stream_window", "max_stream_window", "6291456")
	})
}

// Ready says what the kernel and the library made of the options.
func TestReadyTellsTheEffectiveOptions(t *testing.T) {
	each(t, func(t *testing.T, of []load.Transport) {
		options := map[string]any{"receive_buffer": 65536.0, "gso": false}
		p := trial{Exchange: blocks(10, 10), TLS: workertest.Certificate(t), Load: contract.Load{Connections: 2}, Server: options, Client: options}
		s, c := p.Setups(of)
		server, client, ready := workertest.Pair(t, of, s, c)
		_, _ = server, client
		for name, want := range map[string]any{"receive_buffer": 65536.0, "gso": false, "stream_window": float64(512 << 10), "max_connection_window": float64(15 << 20)} {
			if got := ready.Options[name]; got != want {
				t.Errorf("option %s is %v, want %v", name, got, want)
			}
		}
		if send, _ := ready.Options["send_buffer"].(float64); send <= 0 {
			t.Errorf("send_buffer is %v, want what the kernel granted", ready.Options["send_buffer"])
		}
	})
}

// rude is an HTTP/3 server that answers well until it is told to misbehave.
func rude(t *testing.T, secret *contract.TLS, handle http.HandlerFunc) (address string, server *h3.Server) {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(secret.Certificate), []byte(secret.Key))
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	server = &h3.Server{
		Handler: handle, QUICConfig: &quic.Config{},
		TLSConfig: h3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}),
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(socket) }()
	t.Cleanup(func() {
		_ = server.Close()
		_ = socket.Close()
		<-done
	})
	return socket.LocalAddr().String(), server
}

// under starts a client of go-http3 against a rude server, and returns it under load.
func under(t *testing.T, secret *contract.TLS, address string) *workertest.Bench {
	t.Helper()
	p := trial{Exchange: blocks(0, 100), TLS: secret, Load: contract.Load{Connections: 1}, Client: map[string]any{"verify": "length"}}
	client := p.Dial(t, http3, address)
	client.Mark(1, true)
	client.Start()
	return client
}

// Streams that are reset and replies that lie about their length are failed exchanges; a
// server that leaves its connections and takes no other ends the trial.
func TestAServerThatMisbehaves(t *testing.T) {
	t.Parallel()
	secret := workertest.Certificate(t)
	t.Run("resets streams", func(t *testing.T) {
		t.Parallel()
		first := make(chan struct{}, 1)
		first <- struct{}{}
		address, _ := rude(t, secret, func(w http.ResponseWriter, _ *http.Request) {
			select {
			case <-first:
				_, _ = w.Write(make([]byte, 100))
			default:
				panic(http.ErrAbortHandler) // resets the stream
			}
		})
		p := trial{Exchange: blocks(0, 100), TLS: secret, Load: contract.Load{Connections: 1, InFlight: 2, Amount: 60}, Client: map[string]any{"verify": "length"}}
		client := p.Dial(t, http3, address)
		client.Start()
		if r := client.Expect("result").Result; r.Counts.Exchanges != 0 || r.Counts.Errors[contract.Peer] != 60 || len(r.Reasons) != 1 {
			t.Errorf("counts %+v, reasons %v; want 60 errors of kind peer for one reason", r.Counts, r.Reasons)
		}
	})
	t.Run("says GOAWAY", func(t *testing.T) {
		t.Parallel()
		address, server := rude(t, secret, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 100)) })
		client := under(t, secret, address)
		client.Mark(2, true) // the load runs
		ctx, cancel := context.WithCancel(context.Background())
		stopping := make(chan struct{})
		go func() { defer close(stopping); _ = server.Shutdown(ctx) }()
		if m := client.Expect("error"); m.Error.Kind != contract.Peer || !m.Error.Fatal {
			t.Errorf("error %+v, want a fatal one of kind peer", m.Error)
		}
		cancel()
		<-stopping
	})
	t.Run("never ends its reply", func(t *testing.T) {
		t.Parallel()
		address, _ := rude(t, secret, func(w http.ResponseWriter, _ *http.Request) {
			for err := error(nil); err == nil; {
				_, err = w.Write(make([]byte, 64<<10))
			}
		})
		p := trial{Exchange: blocks(0, 100), TLS: secret, Client: map[string]any{"verify": "length"}}
		if err := p.Refused(t, http3, address); err.Kind != contract.Invalid {
			t.Errorf("error %+v, want one of kind invalid", err)
		}
	})
}
