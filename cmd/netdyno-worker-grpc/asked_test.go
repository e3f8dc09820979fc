package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/shop"
)

func TestCallsAreAsTheUserSays(t *testing.T) {
	t.Parallel()
	address := shop.Serve(t, shop.Keeper)
	for _, load := range []contract.Load{{Connections: 2, Amount: 20}, {Connections: 2, Amount: 2, Fresh: true}, {Connections: 1, InFlight: 3, Amount: 20}} {
		client := trial{Exchange: blocks(int64(len(shop.Order)), 4), Load: load, Client: shop.Asked()}.Dial(t, transports, address)
		client.Start()
		r := client.Expect("result").Result
		if n := int64(load.Connections) * load.Amount; len(r.Counts.Errors) > 0 || r.Counts.ReceivedBytes != 4*n || r.Counts.SentBytes != int64(len(shop.Order))*n {
			t.Errorf("counts %+v of load %+v", r.Counts, load)
		}
	}
	trial{Exchange: blocks(int64(len(shop.Order)), 4), Load: contract.Load{Connections: 1}, Client: shop.Asked("headers", strings.Replace(shop.Asked()["headers"].(string), "AQI=", "AQI", 1))}.Dial(t, transports, address)
	p := trial{Exchange: blocks(int64(len(shop.Order)), 5), Load: contract.Load{Connections: 1}, Client: shop.Asked()}
	workertest.Says(t, "another length", p.Refused(t, transports, address), "4 bytes, expected 5")
	p = trial{Exchange: blocks(int64(len(shop.Order)), 4), Load: contract.Load{Connections: 1}, Client: shop.Asked("headers", "")}
	workertest.Says(t, "no metadata", p.Refused(t, transports, address), "InvalidArgument")
}

func TestRepliesOfAnyLength(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	address := shop.Serve(t, func(stream grpc.ServerStream, _ string, _ []byte) error {
		return stream.SendMsg(make([]byte, calls.Add(1)%7))
	})
	client := trial{Exchange: blocks(0, 1), Load: contract.Load{Connections: 1, Amount: 14}, Client: shop.Asked("verify", "status", "body", "")}.Dial(t, transports, address)
	client.Start()
	if r := client.Expect("result").Result; r.Counts.Exchanges != 14 || r.Counts.ReceivedBytes != 2*21 {
		t.Errorf("counts %+v, want 14 replies of 42 bytes in all", r.Counts)
	}
}

// A call carries the deadline that the user gave, and fails when it has passed.
func TestDeadlineOfACall(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	address := shop.Serve(t, func(stream grpc.ServerStream, _ string, _ []byte) error {
		if until, given := stream.Context().Deadline(); !given || time.Until(until) > time.Second {
			return status.Error(codes.InvalidArgument, "no deadline of 50 ms")
		}
		if calls.Add(1) > 1 { // the first verifies
			<-stream.Context().Done()
		}
		return stream.SendMsg(make([]byte, 4))
	})
	p := trial{Exchange: blocks(0, 4), Load: contract.Load{Connections: 1, Amount: 2}, Client: within(50*time.Millisecond, shop.Asked("body", ""))}
	client := p.Dial(t, transports, address)
	client.Start()
	if r := client.Expect("result").Result; r.Counts.Errors[contract.Timeout] != 2 || r.Counts.Exchanges != 0 {
		t.Errorf("counts %+v, want two timeouts", r.Counts)
	}
	p = trial{Exchange: blocks(0, 4), Load: contract.Load{Connections: 1}, Client: shop.Asked("body", "")}
	workertest.Says(t, "no deadline", p.Refused(t, transports, address), "InvalidArgument: no deadline of 50 ms")
}

// within adds a deadline to the options of a call.
func within(deadline time.Duration, options map[string]any) map[string]any {
	options["deadline"] = int64(deadline)
	return options
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
	deadline := shop.Refusal{
		Exchange: blocks(7, 1), Options: within(time.Second, shop.Asked("mode", "stream")), Kind: contract.Unsupported, Want: "deadline needs mode=unary",
	}
	for _, c := range append(shop.Refusals(), deadline) {
		p := trial{Exchange: c.Exchange, Load: contract.Load{Connections: 1}, Client: c.Options}
		err := p.Refused(t, transports, "127.0.0.1:1") // refused before it is dialled
		if workertest.Says(t, c.Want, err, c.Want); err.Kind != c.Kind {
			t.Errorf("%s: kind %s, want %s", err.Text, err.Kind, c.Kind)
		}
	}
}
