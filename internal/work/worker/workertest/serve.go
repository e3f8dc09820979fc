package workertest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/test/loopback"
)

// Serve is loopback.Serve.
func Serve(t testing.TB, handle func(net.Conn)) (address string) {
	t.Helper()
	return loopback.Serve(t, handle)
}

// MisbehavingHTTP serves right replies of 100 bytes over HTTP/1.1 and, from the fourth
// request of a connection on, what wrong writes; it hangs up after that. It returns its
// address and stops with the test.
func MisbehavingHTTP(t testing.TB, wrong func(net.Conn)) (address string) {
	t.Helper()
	return Serve(t, func(conn net.Conn) {
		right := HTTPReply(100, 100)
		for r, n := bufio.NewReader(conn), 0; ; n++ {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			if n >= 3 {
				wrong(conn)
				return
			}
			right(conn)
		}
	})
}

// HTTPReply writes a reply that announces so many bytes and has others.
func HTTPReply(announced, sent int) func(net.Conn) {
	return func(c net.Conn) {
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", announced, strings.Repeat("x", sent))
	}
}

// Certificate makes what both ends of an encrypted trial need, for a server at
// 127.0.0.1; a client needs the authorities alone.
func Certificate(t testing.TB) *contract.TLS {
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
