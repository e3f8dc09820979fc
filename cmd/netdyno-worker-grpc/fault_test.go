package main

import (
	"net"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/shop"
)

func TestMismatchedEndsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	certificate := workertest.Certificate(t)
	stranger := workertest.Certificate(t)
	stranger.Certificate, stranger.Key = certificate.Certificate, certificate.Key
	raw := map[string]any{"codec": "raw"}
	for name, c := range map[string]struct {
		server, client trial
		kind           contract.ErrorKind
		words          []string
	}{
		"reply above the client's limit": {trial{Exchange: blocks(1, 4<<20)}, trial{Exchange: blocks(1, 4<<20), Client: map[string]any{"max_message": 4194304.0}},
			contract.Invalid, []string{"ResourceExhausted", "4194304", "max_message"}},
		"request above the server's limit": {trial{Exchange: blocks(4<<20, 1), Server: map[string]any{"max_message": 4194304.0}}, trial{Exchange: blocks(4<<20, 1)},
			contract.Invalid, []string{"ResourceExhausted", "4194304", "opt.server.max_message"}},
		"longer request": {trial{Exchange: blocks(10, 10)}, trial{Exchange: blocks(11, 10)}, contract.Invalid, []string{"11 bytes, expected 10"}},
		"longer reply":   {trial{Exchange: blocks(10, 11)}, trial{Exchange: blocks(10, 10)}, contract.Invalid, []string{"11 bytes, expected 10"}},
		"longer stream up": {trial{Exchange: blocks(10, 10)}, trial{Exchange: streamed(contract.StreamUp, 11, 10, 5)},
			contract.Invalid, []string{"more than the 10 bytes"}},
		"longer stream down": {trial{Exchange: blocks(10, 11)}, trial{Exchange: streamed(contract.StreamDown, 10, 10, 5)},
			contract.Invalid, []string{"more than the 10 bytes"}},
		"shorter stream": {trial{Exchange: blocks(10, 10)}, trial{Exchange: streamed(contract.StreamBoth, 9, 10, 5)},
			contract.Invalid, []string{"9 bytes, expected 10"}},
		"raw client": {trial{Exchange: blocks(100, 100)}, trial{Exchange: blocks(100, 100), Client: raw}, contract.Invalid, []string{"option codec"}},
		"raw server": {trial{Exchange: blocks(100, 100), Server: raw}, trial{Exchange: blocks(100, 100)}, contract.Invalid, []string{"option codec"}},
		"another codec": {trial{Exchange: blocks(10, 10)}, trial{Exchange: message("proto", "simple")},
			contract.Invalid, []string{"/netdyno.v1.Exchange/Simple", "codec bytes", "/netdyno.v1.Exchange/Unary"}},
		"another content": {trial{Exchange: message("proto", "simple")}, otherText(), contract.Invalid, []string{"other values"}},
		"plain client":    {trial{Exchange: blocks(1, 1), TLS: certificate}, trial{Exchange: blocks(1, 1)}, contract.Peer, []string{"server speaks TLS"}},
		"plain server":    {trial{Exchange: blocks(1, 1)}, trial{Exchange: blocks(1, 1), TLS: certificate}, contract.Peer, []string{"server plain text"}},
		"unknown authority": {trial{Exchange: blocks(1, 1), TLS: certificate}, trial{Exchange: blocks(1, 1), TLS: &contract.TLS{Authorities: stranger.Authorities}},
			contract.Peer, []string{"certificate"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.server.Misfits(t, transports, c.client, c.kind, c.words...)
		})
	}
}

func otherText() trial {
	p := trial{Exchange: message("proto", "simple")}
	p.Exchange.Message.Down.JSON = `{"text":"another reply"}`
	return p
}

// Another's server sends contents of its own: their sizes are what can be
// compared, and are.
func TestOnlyTheLengthIsVerified(t *testing.T) {
	t.Parallel()
	address := shop.Serve(t, func(stream grpc.ServerStream, _ string, request []byte) error { return stream.SendMsg(request) })
	length := map[string]any{"verify": "length"}
	p := trial{Exchange: blocks(10, 10), Load: contract.Load{Connections: 1}, Client: length}
	_, setup := p.Setups(transports)
	setup.Peers = []string{address}
	if ready := workertest.Start(t, transports...).Setup(setup); ready.Verified != 1 {
		t.Errorf("ready %+v, want the connection verified", ready)
	}
	workertest.Says(t, "content", trial{Exchange: blocks(10, 10)}.Refused(t, transports, address), "CRC-32C")
	workertest.Says(t, "length", trial{Exchange: blocks(11, 10), Client: length}.Refused(t, transports, address), "11 bytes, expected 10")
}

func TestContradictionsAreRefused(t *testing.T) {
	t.Parallel()
	chunks := streamed(contract.StreamUp, 10, 10, 5)
	for _, c := range []struct {
		exchange contract.Exchange
		options  map[string]any
		kind     contract.ErrorKind
		words    []string
	}{
		{chunks, map[string]any{"mode": "stream"}, contract.Unsupported, []string{"mode", "exchange.stream"}},
		{chunks, map[string]any{"method": "/a.B/C"}, contract.Unsupported, []string{"method", "exchange.stream"}},
		{message("json", "simple"), map[string]any{"codec": "raw"}, contract.Unsupported, []string{"raw", "json"}},
		{message("msgpack", "simple"), nil, contract.Unsupported, []string{"msgpack"}},
		{blocks(1, 1), map[string]any{"window": 65534.0}, contract.SetupFailed, []string{"window is 65534", "65535"}},
		{blocks(1, 1), map[string]any{"connection_window": 1.0}, contract.SetupFailed, []string{"connection_window is 1", "65535"}},
	} {
		server, client := trial{Exchange: c.exchange, Server: c.options, Client: c.options, Load: contract.Load{Connections: 1}}.Setups(transports)
		client.Peers = []string{"127.0.0.1:1"} // refused before it is dialled
		for _, setup := range []contract.Setup{server, client} {
			err := workertest.Refused(t, transports, setup)
			workertest.Says(t, string(setup.Role), err, c.words...)
			if err.Kind != c.kind {
				t.Errorf("%s: kind %s, want %s: %s", setup.Role, err.Kind, c.kind, err.Text)
			}
		}
	}
}

// resetting accepts connections and resets each after its first bytes.
func resetting(t *testing.T) string {
	t.Helper()
	return workertest.Serve(t, func(c net.Conn) {
		c.Read(make([]byte, 1))
		c.(*net.TCPConn).SetLinger(0)
	})
}

func TestConnectionsThatFail(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for name, c := range map[string]struct {
		address string
		words   []string
	}{
		"refused": {closed.Addr().String(), []string{"connect 1 of 1", "nothing listens"}},
		"reset":   {resetting(t), []string{"connect 1 of 1", "Unavailable"}},
	} {
		err := trial{Exchange: blocks(1, 1)}.Refused(t, transports, c.address)
		workertest.Says(t, name, err, c.words...)
		if err.Kind != contract.Peer {
			t.Errorf("%s: kind %s, want peer", name, err.Kind)
		}
	}
}

// A server that dies under the load ends the trial: nothing is dialled again.
func TestDeadServerIsFatal(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]trial{
		"unary": {Exchange: blocks(100, 100)}, "stream": {Exchange: blocks(100, 100), Client: map[string]any{"mode": "stream"}},
		"chunks": {Exchange: streamed(contract.StreamBoth, 1<<20, 1<<20, 64<<10)}, "fresh": {Exchange: blocks(100, 100), Load: contract.Load{Fresh: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.Load.InFlight = 2
			p.DiesWithItsServer(t, transports)
		})
	}
}

// What a server refuses is counted by its kind and taints the trial, which
// goes on.
func TestRefusalsAreCountedByKind(t *testing.T) {
	t.Parallel()
	for code, kind := range map[codes.Code]contract.ErrorKind{
		codes.DeadlineExceeded: contract.Timeout, codes.ResourceExhausted: contract.Invalid, codes.Internal: contract.Invalid,
		codes.Unimplemented: contract.Invalid, codes.Unknown: contract.Invalid,
	} {
		for _, mode := range []string{"unary", "stream"} {
			calls := make(chan struct{}, 1)
			calls <- struct{}{} // the verified exchange is answered
			address := shop.Serve(t, func(stream grpc.ServerStream, _ string, request []byte) error {
				select {
				case <-calls:
					return stream.SendMsg(request)
				default:
					return status.Error(code, "not today")
				}
			})
			p := trial{Exchange: message("proto", "simple"), Load: contract.Load{Connections: 1, Amount: 3}, Client: map[string]any{"mode": mode}}
			p.Exchange.Message.Down = p.Exchange.Message.Up
			client := p.Dial(t, transports, address)
			client.Start()
			r, want := client.Expect("result").Result, []contract.Reason{{Kind: kind, Text: code.String() + ": not today", Count: 3}}
			if r.Counts.Exchanges != 0 || r.Counts.Errors[kind] != 3 || !slices.Equal(r.Reasons, want) {
				t.Errorf("%s, %s: counts %+v, reasons %+v; want %+v", code, mode, r.Counts, r.Reasons, want)
			}
		}
	}
}
