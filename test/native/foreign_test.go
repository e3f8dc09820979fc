package native_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/programs"
)

// served is how many bytes the servers of this file have at /block.
const served = 300_000

// needs skips a test of a program that is not installed; make test installs all.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(err)
	}
}

// site is a directory with what such a server needs.
func site(t *testing.T, certificate *contract.TLS) string {
	t.Helper()
	directory := t.TempDir()
	for name, text := range map[string]string{
		"certificate.pem": certificate.Certificate, "key.pem": certificate.Key, "block": strings.Repeat("x", served),
	} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

// free is an address that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// nginx starts an nginx that runs until the test ends, and returns its address. listen is
// added to its directive of that name.
func nginx(t *testing.T, certificate *contract.TLS, listen, more string) string {
	t.Helper()
	at, directory := free(t), site(t, certificate)
	argv, err := programs.Nginx{
		Own: directory, Root: directory, Listen: at + " " + listen, HTTP: more,
		Server: "ssl_protocols TLSv1.3; ssl_certificate " + directory + "/certificate.pem; ssl_certificate_key " + directory + "/key.pem;",
	}.Command()
	if err != nil {
		t.Fatal(err)
	}
	programs.Start(t, at, argv...)
	return at
}

// nghttpd starts one until the test ends, which returns what is sent up, and returns its
// address.
func nghttpd(t *testing.T, certificate *contract.TLS, encrypted bool) string {
	t.Helper()
	at, directory := free(t), site(t, certificate)
	_, port, _ := net.SplitHostPort(at) // of a listener
	argv := []string{"nghttpd", "--echo-upload", "-a", "127.0.0.1", "-d", directory}
	if encrypted {
		argv = append(argv, port, directory+"/key.pem", directory+"/certificate.pem")
	} else {
		argv = append(argv, "--no-tls", port)
	}
	programs.Start(t, at, argv...)
	return at
}

// HTTP/2 in C++ fetches from nginx and nghttpd, and sends to nghttpd, plain and encrypted.
func TestH2FromServersOfOthers(t *testing.T) {
	certificate := workertest.Certificate(t)
	for name, start := range map[string]func(t *testing.T, encrypted bool) string{
		"nginx": func(t *testing.T, encrypted bool) string {
			return nginx(t, certificate, map[bool]string{false: "http2", true: "ssl http2"}[encrypted], "")
		},
		"nghttpd": func(t *testing.T, encrypted bool) string { return nghttpd(t, certificate, encrypted) },
	} {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", name, encrypted), func(t *testing.T) {
				t.Parallel()
				needs(t, name)
				at := start(t, encrypted)
				setup := contract.Setup{
					Peers: []string{at}, Exchange: blocks(0, served), Load: contract.Load{Connections: 2, InFlight: 5, Amount: 50},
					Options: map[string]any{"verify": "length", "path": "/block"},
				}
				if encrypted {
					setup.TLS = &contract.TLS{Authorities: certificate.Authorities}
				}
				asked := []contract.Setup{setup}
				if name == "nghttpd" {
					sent := setup
					sent.Exchange = blocks(served+1, served+1)
					asked = append(asked, sent)
				}
				for _, transport := range nativeH2 {
					for _, s := range asked {
						got := drive(t, transport, s)
						if got.Exchanges != 100 || len(got.Errors) > 0 || got.ReceivedBytes != 100*s.Exchange.DownBytes {
							t.Errorf("%s: counts %+v, want 100 exchanges of %+v", transport, got, s.Exchange)
						}
					}
				}
			})
		}
	}
}
