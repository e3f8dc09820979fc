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
)

// selfSigned makes what setup.tls holds, of a server for 127.0.0.1.
func selfSigned(t *testing.T) *contract.TLS {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "netdyno test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return &contract.TLS{
		Authorities: certificate, Certificate: certificate,
		Key: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})),
	}
}

func TestEncryptedExchanges(t *testing.T) {
	server := selfSigned(t)
	client := &contract.TLS{Authorities: server.Authorities}
	for _, kind := range kinds {
		loads := map[string]contract.Load{"kept": {Connections: 3, Amount: 10}, "fresh": {Connections: 2, Amount: 3, Fresh: true}}
		if kind == "go-connect-grpc" {
			loads["multiplexed"] = contract.Load{Connections: 2, InFlight: 8, Amount: 40}
		}
		for name, l := range loads {
			t.Run(kind+"/"+name, func(t *testing.T) {
				pairing{server: kind, client: kind, exchange: exchanges["proto complex"], load: l, serverTLS: server, clientTLS: client}.run(t)
			})
		}
	}
}

func TestEncryptionMismatchIsNamed(t *testing.T) {
	server, other := selfSigned(t), selfSigned(t)
	for _, kind := range kinds {
		for says, p := range map[string]pairing{
			"the server speaks TLS and this client plain text": {serverTLS: server},
			"this client speaks TLS and the server plain text": {clientTLS: &contract.TLS{Authorities: server.Authorities}},
			"certificate signed by unknown authority":          {serverTLS: server, clientTLS: &contract.TLS{Authorities: other.Authorities}},
		} {
			p.server, p.client, p.exchange, p.load = kind, kind, exchanges["bytes"], contract.Load{Connections: 1}
			if e := p.fail(t); !strings.Contains(e.Text, says) {
				t.Errorf("%s: %s: %s, want %q", kind, e.Kind, e.Text, says)
			}
		}
	}
}
