package gohttp3

import (
	"crypto/tls"
	"math"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/quic-go/quic-go/http3"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker/workertest"
)

// A request that is late is given up with its stream, and its connection goes on.
func TestALoadHasADeadline(t *testing.T) {
	const limit = 200e6 // ns
	secret := workertest.Certificate(t)
	pair, err := tls.X509KeyPair([]byte(secret.Certificate), []byte(secret.Key))
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	var n atomic.Int64
	server := &http3.Server{
		TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{pair}}),
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if n.Add(1)%10 == 0 {
				<-r.Context().Done()
			}
		}),
	}
	go func() { _ = server.Serve(socket) }() // until it is closed
	defer server.Close()
	client, err := Transport{}.Client(contract.Setup{
		Role: contract.Client, Seed: 3, Peers: []string{socket.LocalAddr().String()}, TLS: secret,
		Options: workertest.WithDefaults(Transport{}.Describe().Options, map[string]any{"verify": "status"}),
		Load:    contract.Load{Connections: 4, Amount: 50, DeadlineNs: limit, ConnectNs: 10e9, MaxErrors: 0.5},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.Load().Start()
	if err := client.Run(); err != nil {
		t.Fatal(err)
	}
	result, err := client.Load().Result()
	if err != nil {
		t.Fatal(err)
	}
	late, err := hist.Decode(result.Late)
	if err != nil {
		t.Fatal(err)
	}
	failed := result.Counts.Errors[contract.Timeout]
	if failed < 19 || result.Counts.Exchanges+failed != 200 || late.Count() != failed || math.Abs(float64(late.MaxNs())-limit) > limit/500 {
		t.Errorf("%+v, %d late of at most %d ns", result.Counts, late.Count(), late.MaxNs())
	}
	if again := client.(load.Reconnector).Reconnects(); again != 0 {
		t.Errorf("%d connections were made anew; want the streams given up alone", again)
	}
}
