package hop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker/workertest"
)

// identity is a certificate for the loopback, and for the name that programs ask for which
// do not check addresses.
func identity(t *testing.T) *contract.TLS {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"netdyno.trial"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return &contract.TLS{Certificate: certificate, Authorities: certificate, Key: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))}
}

// backend serves the protocols and says which one it was asked by.
func backend(t *testing.T, own *contract.TLS) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	protocols.SetHTTP2(true)
	s := &http.Server{Protocols: protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s", r.Proto, body)
	})}
	go func() {
		if own == nil {
			_ = s.Serve(listener)
			return
		}
		pair, _ := tls.X509KeyPair([]byte(own.Certificate), []byte(own.Key))
		s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}
		_ = s.ServeTLS(listener, "", "")
	}()
	t.Cleanup(func() { _ = s.Close() })
	return listener.Addr().String()
}

// client asks by one protocol alone.
func client(wire string, own *contract.TLS) *http.Client {
	protocols := new(http.Protocols)
	http2 := wire == http2 || wire == grpc
	protocols.SetHTTP1(!http2)
	protocols.SetUnencryptedHTTP2(http2 && own == nil)
	protocols.SetHTTP2(http2 && own != nil)
	transport := &http.Transport{Protocols: protocols}
	if own != nil {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM([]byte(own.Authorities))
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return &http.Client{Transport: transport}
}

// Every proxy that is here carries every wire that it declares, plain and encrypted, and
// speaks to the server as it is documented.
func TestProxiesCarryTheirWires(t *testing.T) {
	here := 0
	for _, k := range kinds {
		if _, err := exec.LookPath(k.name); err != nil {
			continue
		}
		here++
		for _, wire := range []string{http1, http2, grpc, echo} {
			for name, own := range map[string]*contract.TLS{"plain": nil, "TLS": identity(t)} {
				if slices.Contains(k.wires, wire) && (wire != echo || own == nil) { // of TCP nothing is decrypted
					t.Run(k.name+" "+wire+" "+name, func(t *testing.T) { carries(t, k, wire, own) })
				}
			}
		}
	}
	if here == 0 {
		t.Skip("no proxy is installed: `make packages-test` installs nginx and haproxy")
	}
}

func carries(t *testing.T, k kind, wire string, own *contract.TLS) {
	t.Setenv("TMPDIR", t.TempDir())
	b := workertest.Start(t, proxy{k})
	ready := b.Setup(contract.Setup{
		Transport: k.name, Role: contract.Hop, Listen: "127.0.0.1:0", Threads: 1, TLS: own, Load: contract.Load{Connections: 4},
		Peers: []string{backend(t, own)}, Options: map[string]any{"wire": wire},
	})
	scheme, want := "http://", "HTTP/1.1 hello"
	if own != nil {
		scheme = "https://"
	}
	if wire == http2 || wire == grpc {
		want = "HTTP/2.0 hello"
	}
	c := client(wire, own)
	defer c.CloseIdleConnections()
	reply, err := c.Post(scheme+ready.Addresses[0]+"/x", "text/plain", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if got, _ := io.ReadAll(reply.Body); string(got) != want || reply.StatusCode != http.StatusOK {
		t.Errorf("status %d: %q, want %q", reply.StatusCode, got, want)
	}
	text, _ := ready.Options["configuration"].(string)
	if !strings.Contains(text, "UPSTREAM") && !strings.Contains(text, "port_value") || strings.Contains(text, "PRIVATE KEY") {
		t.Errorf("it says of its configuration %q", text)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "netdyno-hop-*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// A proxy that is not here says how it is installed; one that does not start, what it said.
func TestHopsRefuse(t *testing.T) {
	broken := haproxy
	broken.argv = func(s site) []string { return []string{"sh", "-c", "echo no such directive >&2; exit 1"} }
	broken.name = "sh"
	absent := haproxy
	absent.name = "no-such-proxy-here"
	for _, c := range []struct {
		transport load.Transport
		options   map[string]any
		peers     []string
		kind      contract.ErrorKind
		want      string
	}{
		{proxy{absent}, nil, []string{"127.0.0.1:1"}, contract.Unsupported, "no-such-proxy-here is not on this host; install it: apt-get install haproxy"},
		{proxy{broken}, nil, []string{"127.0.0.1:1"}, contract.SetupFailed, "no such directive"},
		{proxy{broken}, nil, nil, contract.Invalid, "setup.peers is empty"},
		{proxy{haproxy}, map[string]any{"wire": "baidu_std"}, []string{"127.0.0.1:1"}, contract.SetupFailed, "baidu_std"},
		{command{}, map[string]any{"command": ""}, []string{"127.0.0.1:1"}, contract.SetupFailed, "option command is empty"},
		{command{}, map[string]any{"command": "no-such-program-here {port}"}, []string{"127.0.0.1:1"}, contract.Unsupported, "no-such-program-here"},
		{command{}, map[string]any{"command": "x"}, []string{"127.0.0.1:1", "127.0.0.1:2"}, contract.Unsupported, "told of one alone"},
	} {
		b := workertest.Start(t, c.transport)
		b.Send(contract.Message{Setup: &contract.Setup{
			Transport: c.transport.Describe().Name, Role: contract.Hop, Listen: "127.0.0.1:0", Peers: c.peers, Options: c.options,
		}})
		if got := b.Expect("error").Error; got.Kind != c.kind || !strings.Contains(got.Text, c.want) {
			t.Errorf("%s %v: %+v, want a fatal %s that says %q", c.transport.Describe().Name, c.options, got, c.kind, c.want)
		}
	}
}
