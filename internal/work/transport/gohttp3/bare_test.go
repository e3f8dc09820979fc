package gohttp3

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"

	"github.com/quic-go/quic-go/http3"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker/workertest"
)

// BenchmarkBare holds both ends against a bare program on the same library, which
// has its defaults: what one exchange takes in turn, of both ends together.
func BenchmarkBare(b *testing.B) {
	for name, down := range map[string]int64{"1 KiB": 1 << 10, "4 MiB": 4 << 20} {
		b.Run(name, func(b *testing.B) {
			secret := workertest.Certificate(b)
			setup := contract.Setup{Exchange: contract.Exchange{DownBytes: down}, TLS: secret, Load: contract.Load{Connections: 1}}
			b.Run("ours", func(b *testing.B) { workertest.Benchmark(b, down, ours(b, setup)) })
			b.Run("bare", func(b *testing.B) { workertest.Benchmark(b, down, bare(b, secret, down)) })
		})
	}
}

// ours returns an exchange between our two ends.
func ours(b testing.TB, setup contract.Setup) load.Call {
	s := workertest.Server(b, Transport{}, setup)
	c, err := Transport{}.prepare(workertest.ClientSetup(b, Transport{}, setup, s.Ready().Addresses[0]))
	if err != nil {
		b.Fatal(err)
	}
	workertest.Open(b, c)
	return c.Call(0)
}

// bare returns an exchange between two ends without netdyno.
func bare(b testing.TB, secret *contract.TLS, down int64) load.Call {
	pair, err := tls.X509KeyPair([]byte(secret.Certificate), []byte(secret.Key))
	if err != nil {
		b.Fatal(err)
	}
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	reply := make([]byte, down)
	server := &http3.Server{
		TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{pair}}),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
			_, _ = w.Write(reply)
		}),
	}
	go func() { _ = server.Serve(socket) }()
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(secret.Authorities))
	transport := &http3.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, DisableCompression: true}
	b.Cleanup(func() {
		_ = transport.Close()
		_ = server.Close()
		_ = socket.Close()
	})
	client, url := &http.Client{Transport: transport}, "https://"+socket.LocalAddr().String()+"/exchange"
	return func() (int64, error) {
		response, err := client.Get(url)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return int64(len(body)), err
	}
}

// Neither end adds to the allocations of a bare program. Acknowledgements and
// timers of the library's come on top at their own pace, hence the 5 %.
func TestNoAllocationIsAdded(t *testing.T) {
	workertest.CountsAllocations(t)
	const down = 1 << 10
	secret := workertest.Certificate(t)
	setup := contract.Setup{Exchange: contract.Exchange{DownBytes: down}, TLS: secret, Load: contract.Load{Connections: 1}}
	own, least := workertest.Allocations(t, ours(t, setup)), workertest.Allocations(t, bare(t, secret, down))
	if own > 1.05*least {
		t.Errorf("%.0f allocations for an exchange, and %.0f in a bare program", own, least)
	}
}
