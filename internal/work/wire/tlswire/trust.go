package tlswire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// SystemRoots is the level of option ca for the authorities that this host trusts.
const SystemRoots = "system"

// mostPEM bounds a file of certificates or keys.
const mostPEM = 1 << 20

// TrustOptions declares how a client trusts a server that is not ours.
func TrustOptions() []contract.Option {
	client := []contract.Role{contract.Client}
	return []contract.Option{
		{Name: "ca", Type: contract.TypeText, Default: "", Roles: client, Doc: "PEM file of the authorities that a client trusts; system: those of its host; unless given, netdyno's own"},
		{Name: "sni", Type: contract.TypeText, Default: "", Roles: client, Doc: "server name in TLS; the server's address unless given"},
		{Name: "cert", Type: contract.TypeText, Default: "", Roles: client, Doc: "PEM file of the client's certificate"},
		{Name: "key", Type: contract.TypeText, Default: "", Roles: client, Doc: "PEM file of the key of cert"},
		{Name: "insecure", Type: contract.TypeBool, Default: false, Roles: client, Doc: "accept any certificate of the server"},
	}
}

// TrustingConfig returns how a client encrypts: as ClientConfig does, with what the
// TrustOptions of setup change; nil for a plain trial. The error is of kind setup.
func TrustingConfig(setup contract.Setup) (*tls.Config, error) {
	config, err := ClientConfig(setup)
	if config == nil || err != nil {
		return nil, err
	}
	o := load.Options(setup.Options)
	config.InsecureSkipVerify = o.Bool("insecure")
	config.ServerName = o.Text("sni")
	if ca := o.Text("ca"); ca != "" || config.InsecureSkipVerify {
		config.MinVersion = tls.VersionTLS12 // a server that is not ours may have no 1.3
		if config.RootCAs, err = authorities(ca); err != nil {
			return nil, load.Failure(contract.SetupFailed, fmt.Errorf("option ca: %w", err))
		}
	}
	if cert := o.Text("cert"); cert != "" {
		pair, err := keyPair(cert, o.Text("key"))
		if err != nil {
			return nil, load.Failure(contract.SetupFailed, fmt.Errorf("options cert and key: %w", err))
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// authorities reads a file of certificates; nil stands for those of the host.
func authorities(ca string) (*x509.CertPool, error) {
	if ca == "" || ca == SystemRoots {
		return nil, nil
	}
	text, err := readPEM(ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: found no certificate, expected PEM text with at least one", ca)
	}
	return pool, nil
}

func keyPair(cert, key string) (tls.Certificate, error) {
	if key == "" {
		return tls.Certificate{}, errors.New("cert is given and key is not; expected both")
	}
	certificate, err := readPEM(cert)
	if err != nil {
		return tls.Certificate{}, err
	}
	private, err := readPEM(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certificate, private)
}

func readPEM(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostPEM+1))
	if err == nil && len(text) > mostPEM {
		err = fmt.Errorf("%s has more than %d bytes", path, mostPEM)
	}
	return text, err
}
