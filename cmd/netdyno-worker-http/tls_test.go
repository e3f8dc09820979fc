package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// certificate makes what both ends of an encrypted trial need.
func certificate(t testing.TB) *contract.TLS {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a trial"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	shown := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return &contract.TLS{
		Authorities: shown, Certificate: shown,
		Key: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})),
	}
}

func TestTLSMismatchNamesTheEnds(t *testing.T) {
	for _, transport := range []string{"go-http1", "fasthttp", "go-http2"} {
		for _, c := range []struct {
			name           string
			server, client *contract.TLS
			want           string
		}{
			{"plain client", certificate(t), nil, "the server speaks TLS and this client plain text"},
			{"plain server", nil, certificate(t), "this client speaks TLS and the server plain text"},
			{"another authority", certificate(t), certificate(t), "certificate"},
			{"no authority", certificate(t), &contract.TLS{Authorities: "none"}, "setup.tls.authorities"},
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
	half := certificate(t)
	half.Key = ""
	server := workertest.Start(t, all...)
	server.Send(contract.Message{Setup: &contract.Setup{Transport: "go-http1", Role: contract.Server, Listen: "127.0.0.1:0", TLS: half}})
	if e := server.Expect("error").Error; e.Kind != contract.SetupFailed || !strings.Contains(e.Text, "setup.tls.key") {
		t.Errorf("%+v, want setup with the key's name", e)
	}
}
