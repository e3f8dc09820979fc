package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// anOrder is a message of somebody's service, serialized.
const anOrder = "\x08\x07\x12\x03tea"

// asked are the options with which a server that is not ours is called.
func asked(more ...string) map[string]any {
	o := map[string]any{
		"codec": "raw", "method": "/shop.v1.Shop/Buy", "verify": "length", "host": "shop.example:7",
		"headers": "Authorization: Bearer x\nTrace-Bin: AQI=\nx-key: 1\nx-key: 2", "body": base64.StdEncoding.EncodeToString([]byte(anOrder)),
	}
	for i := 0; i < len(more); i += 2 {
		o[more[i]] = more[i+1]
	}
	return o
}

// shopkeeper answers only calls that are exactly as asked says.
func shopkeeper(stream grpc.ServerStream, method string, request []byte) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	got := fmt.Sprintf("%s %q %v %v %q %v %v", method, request, md[":authority"], md["authorization"], md["trace-bin"], md["x-key"], md["content-type"])
	want := fmt.Sprintf("/shop.v1.Shop/Buy %q [shop.example:7] [Bearer x] [%q] [1 2] [application/grpc]", anOrder, "\x01\x02")
	if got != want {
		return status.Errorf(codes.InvalidArgument, "got %s", got)
	}
	return stream.SendMsg([]byte("done"))
}

func TestCallsAreAsTheUserSays(t *testing.T) {
	t.Parallel()
	address := strange(t, shopkeeper)
	for _, load := range []contract.Load{{Connections: 2, Amount: 20}, {Connections: 2, Amount: 2, Fresh: true}, {Connections: 1, InFlight: 3, Amount: 20}} {
		client := trial{Exchange: blocks(int64(len(anOrder)), 4), Load: load, Client: asked()}.Dial(t, transports, address)
		client.Start()
		r := client.Expect("result").Result
		if n := int64(load.Connections) * load.Amount; len(r.Counts.Errors) > 0 || r.Counts.ReceivedBytes != 4*n || r.Counts.SentBytes != int64(len(anOrder))*n {
			t.Errorf("counts %+v of load %+v", r.Counts, load)
		}
	}
	p := trial{Exchange: blocks(int64(len(anOrder)), 5), Load: contract.Load{Connections: 1}, Client: asked()}
	workertest.Says(t, "another length", p.Refused(t, transports, address), "4 bytes, expected 5")
	p = trial{Exchange: blocks(int64(len(anOrder)), 4), Load: contract.Load{Connections: 1}, Client: asked("headers", "")}
	workertest.Says(t, "no metadata", p.Refused(t, transports, address), "InvalidArgument")
}

func TestRepliesOfAnyLength(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	address := strange(t, func(stream grpc.ServerStream, _ string, _ []byte) error {
		return stream.SendMsg(make([]byte, calls.Add(1)%7))
	})
	client := trial{Exchange: blocks(0, 1), Load: contract.Load{Connections: 1, Amount: 14}, Client: asked("verify", "status", "body", "")}.Dial(t, transports, address)
	client.Start()
	if r := client.Expect("result").Result; r.Counts.Exchanges != 14 || r.Counts.ReceivedBytes != 2*21 {
		t.Errorf("counts %+v, want 14 replies of 42 bytes in all", r.Counts)
	}
}

// An authority of the user's own, and a name in TLS beside another :authority.
func TestTrustIsAsTheUserSays(t *testing.T) {
	t.Parallel()
	certificate := workertest.Certificate(t)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte(certificate.Authorities), 0o600); err != nil {
		t.Fatal(err)
	}
	server := trial{Exchange: blocks(1, 1), TLS: certificate}
	_, address := server.Listen(t, transports)
	other := workertest.Certificate(t)
	for _, c := range []struct {
		options map[string]any
		fails   string
	}{
		{map[string]any{"ca": ca, "host": "shop.example"}, ""},
		{map[string]any{"ca": ca, "sni": "shop.example"}, "shop.example"},
		{map[string]any{"ca": ca, "host": "shop.example", "sni": "127.0.0.1"}, ""},
		{map[string]any{"insecure": true}, ""},
		{map[string]any{"ca": "system"}, "authority"},
		{map[string]any{}, "authority"},
	} {
		p := trial{Exchange: blocks(1, 1), TLS: &contract.TLS{Authorities: other.Authorities}, Load: contract.Load{Connections: 1}, Client: c.options}
		if c.fails != "" {
			workertest.Says(t, fmt.Sprint(c.options), p.Refused(t, transports, address), c.fails)
			continue
		}
		p.Dial(t, transports, address)
	}
}

func TestOptionsOfACallAreChecked(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 65 {
		fmt.Fprintf(&many, "x%d: 1\n", i)
	}
	for _, c := range []struct {
		exchange contract.Exchange
		options  map[string]any
		kind     contract.ErrorKind
		want     string
	}{
		{blocks(1, 1), asked("headers", "x-key"), contract.SetupFailed, "expected Name: value"},
		{blocks(1, 1), asked("headers", many.String()), contract.SetupFailed, "more than 64 names"},
		{blocks(1, 1), asked("headers", "x-bin: ?"), contract.SetupFailed, "base64"},
		{blocks(1, 1), asked("host", "a b"), contract.SetupFailed, "expected a host"},
		{blocks(1, 1), asked("body", "?"), contract.SetupFailed, "no base64"},
		{blocks(1, 1), asked(), contract.SetupFailed, "7 bytes and the factor request says 1"},
		{blocks(7, 1), asked("codec", "proto"), contract.Unsupported, "codec=raw"},
		{blocks(1, 1), map[string]any{"verify": "status"}, contract.Unsupported, "codec=raw"},
	} {
		p := trial{Exchange: c.exchange, Load: contract.Load{Connections: 1}, Client: c.options}
		err := p.Refused(t, transports, "127.0.0.1:1") // refused before it is dialled
		if workertest.Says(t, c.want, err, c.want); err.Kind != c.kind {
			t.Errorf("%s: kind %s, want %s", err.Text, err.Kind, c.kind)
		}
	}
}
