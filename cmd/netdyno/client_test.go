package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// What the client that a run by URL chose refuses, here a key that OpenSSL finds too
// short, another client asks, and a line says why.
func TestAnotherClientAsksWhatTheChosenOneRefuses(t *testing.T) {
	t.Parallel()
	if _, _, clients := withClients(t); !slices.Contains(clients, "http1-uring") {
		t.Skip("http1-uring was not built")
	}
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "short"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "ca.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	var taken atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		taken.Add(1)
		_, _ = w.Write([]byte("hello"))
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.StartTLS()
	defer server.Close()
	said, _, err := undisturbed(t, work, func() { taken.Store(0) }, server.URL+"/", "--ca", "ca.pem", "--http1.1", "-n", "100", "-c", "2")
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if strings.Contains(said, "asked by http1-uring") {
		t.Skipf("OpenSSL of this host takes such a key:\n%s", said)
	}
	for _, want := range []string{
		"http1-uring cannot ask it (", "), so fasthttp does", "100 requests answered",
		fmt.Sprintf("sent %d requests: 7 beforehand, 2 to verify, 100 measured", taken.Load()),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it lacks %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "did not tell") { // the refused client tells what it sent
		t.Errorf("a trial did not tell what was sent:\n%s", said)
	}
}
