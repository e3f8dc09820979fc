// Package identity makes the certificates with which an encrypted trial's server
// shows who it is.
package identity

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"time"

	"netdyno/internal/contract"
)

// Name is a name that every certificate has, for programs that do not check addresses.
const Name = "netdyno.trial"

// A certificate lives no longer than the longest run.
const certificateLife = 30 * 24 * time.Hour

// New makes a self-signed ECDSA P-256 certificate, which is what a
// server in production most likely has the shape of, for the addresses at which the
// server listens, and the hops before it, and for Name.
func New(addresses ...string) (*contract.TLS, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: "netdyno trial"},
		NotBefore:    now.Add(-time.Hour), // hosts' clocks differ
		NotAfter:     now.Add(certificateLife),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},

		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	template.DNSNames = []string{Name}
	for _, address := range addresses {
		ips, names := namesFor(address)
		template.IPAddresses, template.DNSNames = append(template.IPAddresses, ips...), append(template.DNSNames, names...)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	certificate := encodePEM("CERTIFICATE", der)
	return &contract.TLS{Authorities: certificate, Certificate: certificate, Key: encodePEM("PRIVATE KEY", secret)}, nil
}

// namesFor returns by what clients may call a server that listens on an address:
// that address alone, or, of a server that listens on every address of its host,
// all addresses and the host's name.
func namesFor(address string) (ips []net.IP, names []string) {
	ip := net.ParseIP(address)
	switch {
	case ip == nil && address != "":
		return nil, []string{address}
	case ip != nil && !ip.IsUnspecified():
		return []net.IP{ip}, nil
	}
	own, _ := net.InterfaceAddrs() // those that can be had
	for _, a := range own {
		if n, ok := a.(*net.IPNet); ok {
			ips = append(ips, n.IP)
		}
	}
	if name, err := os.Hostname(); err == nil {
		names = []string{name}
	}
	return ips, names
}

func encodePEM(kind string, der []byte) string {
	var text bytes.Buffer
	_ = pem.Encode(&text, &pem.Block{Type: kind, Bytes: der}) // into memory
	return text.String()
}
