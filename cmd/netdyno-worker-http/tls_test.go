package main

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

func TestTLSMismatchNamesTheEnds(t *testing.T) {
	for _, transport := range []string{"go-http1", "fasthttp", "go-http2"} {
		for _, c := range []struct {
			name           string
			server, client *contract.TLS
			want           string
		}{
			{"plain client", workertest.Certificate(t), nil, "the server speaks TLS and this client plain text"},
			{"plain server", nil, workertest.Certificate(t), "this client speaks TLS and the server plain text"},
			{"another authority", workertest.Certificate(t), workertest.Certificate(t), "certificate"},
			{"no authority", workertest.Certificate(t), &contract.TLS{Authorities: "none"}, "setup.tls.authorities"},
		} {
			t.Run(transport+"/"+c.name, func(t *testing.T) {
				server, client := workertest.Start(t, all...), workertest.Start(t, all...)
				at := server.Setup(contract.Setup{
					Transport: transport, Role: contract.Server, Listen: "127.0.0.1:0", Exchange: bytesOf(0, 10), TLS: c.server,
				})
				client.Send(contract.Message{Setup: &contract.Setup{
					Transport: transport, Role: contract.Client, Peers: at.Addresses, Exchange: bytesOf(0, 10),
					Load: contract.Load{Connections: 2}, TLS: c.client,
				}})
				if e := client.Expect("error").Error; !e.Fatal || !strings.Contains(e.Text, c.want) {
					t.Errorf("%+v, want fatal with %q", e, c.want)
				}
			})
		}
	}
}

func TestAServerWithoutItsKeySaysSo(t *testing.T) {
	half := workertest.Certificate(t)
	half.Key = ""
	server := workertest.Start(t, all...)
	server.Send(contract.Message{Setup: &contract.Setup{Transport: "go-http1", Role: contract.Server, Listen: "127.0.0.1:0", TLS: half}})
	if e := server.Expect("error").Error; e.Kind != contract.SetupFailed || !strings.Contains(e.Text, "setup.tls.key") {
		t.Errorf("%+v, want setup with the key's name", e)
	}
}
