package bench

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// A certificate lives no longer than the longest run.
const certificateLife = 30 * 24 * time.Hour

// credentials returns what the two ends of an encrypted trial need, nil for a
// plain one. A server's certificate is made once for the run, for the address
// at which it listens, and its clients trust that one alone.
func (b *Bench) credentials(w study.Work, server rig.Seat) (serverTLS, clientTLS *contract.TLS, err error) {
	if !w.TLS {
		return nil, nil, nil
	}
	b.sealing.Lock()
	defer b.sealing.Unlock()
	identity := b.identities[server.Address]
	if identity == nil {
		if identity, err = newIdentity(server.Address); err != nil {
			return nil, nil, fmt.Errorf("make a certificate for %s: %w", server.Address, err)
		}
		if b.identities == nil {
			b.identities = map[string]*contract.TLS{}
		}
		b.identities[server.Address] = identity
	}
	return identity, &contract.TLS{Authorities: identity.Authorities}, nil
}

// newIdentity makes a self-signed ECDSA P-256 certificate, which is what a
// server in production most likely has the shape of.
func newIdentity(address string) (*contract.TLS, error) {
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
	template.IPAddresses, template.DNSNames = namesFor(address)
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
// that alone, or of one that listens on every address of its host all of them,
// and the host's name.
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

// recorded returns the setup as the record keeps it: without the private key.
func recorded(setup contract.Setup) *contract.Setup {
	if setup.TLS != nil {
		public := *setup.TLS
		public.Key = ""
		setup.TLS = &public
	}
	return &setup
}
