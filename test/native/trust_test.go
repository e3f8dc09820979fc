package native_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// A server of net/http that has a certificate by a name and wants the client's: it answers
// only who shows it and names the server, in either version of TLS.
func TestTLSTrustsAnothersServer(t *testing.T) {
	certificate := workertest.Certificate(t)
	shown := map[string]any{"cert": pemFile(t, certificate.Certificate), "key": pemFile(t, certificate.Key)}
	for _, transport := range slices.Concat(nativeHTTP, nativeH2) {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			t.Run(transport+"/"+tls.VersionName(version), func(t *testing.T) {
				t.Parallel()
				at, ca := wary(t, certificate, version, slices.Contains(nativeH2, transport))
				setup := contract.Setup{
					Peers: []string{at}, Exchange: blocks(0, 100), Load: contract.Load{Connections: 2, Amount: 20}, TLS: &contract.TLS{Authorities: certificate.Authorities},
					Options: map[string]any{"verify": "length", "ca": ca, "sni": "example.com", "cert": shown["cert"], "key": shown["key"]},
				}
				if got := drive(t, transport, setup); got.Exchanges != 40 || len(got.Errors) > 0 {
					t.Errorf("counts %+v, want 40 exchanges", got)
				}
				for change, want := range map[string]string{
					"ca=": "of no authority that this client trusts", "sni=a.test": "the server's certificate is not for a.test", "cert= key=": "the server refused: ",
				} {
					if change == "ca=" && version == tls.VersionTLS12 {
						want = "the server refused: protocol version; this client speaks TLS 1.3"
					}
					client, wrong := start(t, transport), setup
					wrong.Transport, wrong.Role, wrong.Options = transport, contract.Client, maps.Clone(setup.Options)
					for setting := range strings.FieldsSeq(change) {
						name, value, _ := strings.Cut(setting, "=")
						wrong.Options[name] = value
					}
					client.send(contract.Message{Setup: &wrong})
					if text := client.fatal(contract.SetupFailed); !strings.Contains(text, want) {
						t.Errorf("with %s the client says %q, want %q", change, text, want)
					}
				}
			})
		}
	}
}

// wary starts such a server, for clients that show the certificate, and returns its address
// and the file of its authority.
func wary(t *testing.T, clients *contract.TLS, version uint16, http2 bool) (at, ca string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS.ServerName != "example.com" {
			http.Error(w, fmt.Sprintf("%q is not served here", r.TLS.ServerName), http.StatusMisdirectedRequest)
			return
		}
		_, _ = w.Write(make([]byte, 100))
	}))
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM([]byte(clients.Certificate)) {
		t.Fatal("the clients' certificate is none")
	}
	s.TLS = &tls.Config{MinVersion: version, MaxVersion: version, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trusted}
	s.EnableHTTP2, s.Config.ErrorLog = http2, log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), pemFile(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
}

// pemFile is a file of the test's own that holds text.
func pemFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "of.pem")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
