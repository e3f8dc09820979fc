package main

import (
	"net"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/wire/baidustd"
	"netdyno/internal/work/worker/workertest"
)

func TestMismatchedEndsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	certificate := workertest.Certificate(t)
	stranger := workertest.Certificate(t)
	stranger.Certificate, stranger.Key = certificate.Certificate, certificate.Key
	attachment := map[string]any{"payload": "attachment"}
	other := trial{Exchange: message("proto", "simple")}
	other.Exchange.Message.Down.JSON = `{"text":"another reply"}`
	for name, c := range map[string]struct {
		server, client trial
		kind           contract.ErrorKind
		words          []string
	}{
		"longer request":    {trial{Exchange: blocks(10, 10)}, trial{Exchange: blocks(11, 10)}, contract.Invalid, []string{"EREQUEST (1003)", "11 bytes, expected 10"}},
		"longer reply":      {trial{Exchange: blocks(10, 11)}, trial{Exchange: blocks(10, 10)}, contract.Invalid, []string{"11 bytes, expected 10"}},
		"attachment client": {trial{Exchange: blocks(10, 10)}, trial{Exchange: blocks(10, 10), Client: attachment}, contract.Invalid, []string{"EREQUEST", "option payload"}},
		"attachment server": {trial{Exchange: blocks(10, 10), Server: attachment}, trial{Exchange: blocks(10, 10)}, contract.Invalid, []string{"EREQUEST", "option payload"}},
		"attached reply":    {trial{Exchange: blocks(0, 10), Server: attachment}, trial{Exchange: blocks(0, 10)}, contract.Invalid, []string{"came as attachment", "option payload"}},
		"reply above the client's limit": {trial{Exchange: blocks(1, 2000)}, trial{Exchange: blocks(1, 1000), Client: map[string]any{"max_body": 1024.0}},
			contract.Invalid, []string{"at most 1024", "max_body"}},
		"another method": {trial{Exchange: blocks(10, 10)}, trial{Exchange: message("proto", "simple")},
			contract.Invalid, []string{"ENOMETHOD (1002)", "/netdyno.v1.Exchange/Simple", "expected /netdyno.v1.Exchange/Unary"}},
		"another service": {trial{Exchange: blocks(10, 10)}, trial{Exchange: blocks(10, 10), Client: map[string]any{"method": "/shop.v1.Shop/Buy"}},
			contract.Invalid, []string{"ENOSERVICE (1001)", "/shop.v1.Shop/Buy", "expected /netdyno.v1.Exchange/Unary"}},
		"another content": {trial{Exchange: message("proto", "simple")}, other, contract.Invalid, []string{"other values"}},
		"plain client":    {trial{Exchange: blocks(1, 1), TLS: certificate}, trial{Exchange: blocks(1, 1)}, contract.Peer, []string{"server speaks TLS"}},
		"plain server":    {trial{Exchange: blocks(1, 1)}, trial{Exchange: blocks(1, 1), TLS: certificate}, contract.Peer, []string{"TLS handshake", "plain text"}},
		"unknown authority": {trial{Exchange: blocks(1, 1), TLS: certificate}, trial{Exchange: blocks(1, 1), TLS: &contract.TLS{Authorities: stranger.Authorities}},
			contract.Peer, []string{"certificate"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.server.Misfits(t, transports, c.client, c.kind, c.words...)
		})
	}
}

func TestContradictionsAreRefused(t *testing.T) {
	t.Parallel()
	streamed := blocks(10, 10)
	streamed.Stream = contract.StreamUp
	for _, c := range []struct {
		role     contract.Role
		exchange contract.Exchange
		options  map[string]any
		kind     contract.ErrorKind
		words    []string
	}{
		{contract.Server, streamed, nil, contract.Unsupported, []string{"exchange.stream", "up"}},
		{contract.Client, streamed, nil, contract.Unsupported, []string{"exchange.stream", "up"}},
		{contract.Server, message("proto", "simple"), map[string]any{"payload": "attachment"}, contract.Unsupported, []string{"attachment", "proto"}},
		{contract.Client, message("json", "simple"), nil, contract.Unsupported, []string{"json"}},
		{contract.Client, blocks(1, 1), map[string]any{"connection": "pooled"}, contract.Unsupported, []string{"in_flight is 2", "pooled", "single"}},
		{contract.Client, blocks(1, 1), map[string]any{"method": "Exchange/Unary"}, contract.SetupFailed, []string{"Exchange/Unary", "/package.Service/Method"}},
		{contract.Server, blocks(1, 1), map[string]any{"method": "/a"}, contract.SetupFailed, []string{"/package.Service/Method"}},
		{contract.Server, blocks(2000, 1), map[string]any{"max_body": 1999.0}, contract.SetupFailed, []string{"max_body is 1999", "requests", "2000"}},
		{contract.Client, blocks(1, 2000), map[string]any{"max_body": 1999.0}, contract.SetupFailed, []string{"max_body is 1999", "replies", "2000"}},
	} {
		server, client := trial{Exchange: c.exchange, Server: c.options, Client: c.options, Load: contract.Load{Connections: 1, InFlight: 2}}.Setups(transports)
		client.Peers = []string{"127.0.0.1:1"} // refused before it is dialled
		setup := server
		if c.role == contract.Client {
			setup = client
		}
		err := workertest.Refused(t, transports, setup)
		workertest.Says(t, string(c.role), err, c.words...)
		if err.Kind != c.kind {
			t.Errorf("%s: kind %s, want %s: %s", c.role, err.Kind, c.kind, err.Text)
		}
	}
}

// A server that dies under the load ends the trial: nothing is dialled again.
func TestDeadServerIsFatal(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]trial{
		"alone":  {Exchange: blocks(100, 100), Client: map[string]any{"connection": "pooled"}},
		"shared": {Exchange: blocks(100, 100), Load: contract.Load{InFlight: 10}},
		"bulk":   {Exchange: blocks(4<<20, 4<<20), Load: contract.Load{InFlight: 4}},
		"fresh":  {Exchange: blocks(100, 100), Load: contract.Load{Fresh: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.DiesWithItsServer(t, transports)
		})
	}
}

// foreign serves baidu_std by hand: it verifies each connection as our server
// would, and then hands its frames to answer, whose bytes it sends.
func foreign(t *testing.T, answer func(f baidustd.Frame) []byte) string {
	t.Helper()
	return scripted(t, func(f baidustd.Frame, first bool) []byte {
		if first {
			return echoed(f)
		}
		return answer(f)
	})
}

// scripted serves baidu_std by hand; answer is told of a connection's first frame.
func scripted(t *testing.T, answer func(f baidustd.Frame, first bool) []byte) string {
	t.Helper()
	return workertest.Serve(t, func(conn net.Conn) {
		frames := baidustd.NewReader(conn, 4096, 1<<20)
		for first := true; ; first = false {
			f, err := frames.Next()
			if err != nil {
				return
			}
			if _, err := conn.Write(answer(f, first)); err != nil {
				return
			}
		}
	})
}

// framed encodes a reply.
func framed(m baidustd.Meta, message []byte) []byte {
	frame := append(baidustd.AppendHead(nil, &m), message...)
	if err := baidustd.Seal(frame, &m); err != nil {
		panic(err)
	}
	return frame
}

func echoed(f baidustd.Frame) []byte {
	return framed(baidustd.Meta{CorrelationID: f.Meta.CorrelationID}, f.Message)
}

// against runs three exchanges in each of two slots against a foreign server.
func against(t *testing.T, address, connection string) contract.Message {
	t.Helper()
	p := trial{Exchange: message("proto", "simple"), Load: contract.Load{Connections: 1, Amount: 6, InFlight: 2}}
	p.Exchange.Message.Down = p.Exchange.Message.Up // an echo
	p.Client = map[string]any{"connection": connection}
	if connection == "pooled" {
		p.Load.InFlight = 1
	}
	client := p.Dial(t, transports, address)
	client.Start()
	return client.Next()
}

// What a server refuses is counted by its kind and taints the trial, which
// goes on.
func TestRefusalsAreCountedByKind(t *testing.T) {
	t.Parallel()
	for code, kind := range map[int32]contract.ErrorKind{
		baidustd.TimedOut: contract.Timeout, baidustd.NoMethod: contract.Invalid, baidustd.Internal: contract.Invalid, 77: contract.Invalid,
	} {
		for _, connection := range []string{"single", "pooled"} {
			m := against(t, foreign(t, func(f baidustd.Frame) []byte {
				return framed(baidustd.Meta{CorrelationID: f.Meta.CorrelationID, ErrorCode: code, ErrorText: []byte("not today")}, nil)
			}), connection)
			if r := m.Result; r == nil || r.Counts.Exchanges != 0 || r.Counts.Errors[kind] != 6 {
				t.Errorf("%d, %s: %+v, want 6 errors of kind %s", code, connection, m, kind)
			}
		}
	}
}

// A server that sends no frames, or frames that nobody asked for, loses the
// connection; here it is the last one, which ends the trial.
func TestBrokenServersLoseTheConnection(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(f baidustd.Frame) []byte{
		"another protocol": func(baidustd.Frame) []byte { return []byte("HTTP/1.1 200 OK\r\n\r\n") },
		"huge":             func(baidustd.Frame) []byte { return []byte("PRPC\xff\xff\xff\xff\x00\x00\x00\x04") },
		"another id": func(f baidustd.Frame) []byte {
			f.Meta.CorrelationID += 1 << 40
			return echoed(f)
		},
		"no id": func(f baidustd.Frame) []byte {
			f.Meta.CorrelationID = 0
			return echoed(f)
		},
		"an id below zero": func(f baidustd.Frame) []byte {
			f.Meta.CorrelationID = -1 << 63
			return echoed(f)
		},
	} {
		for _, connection := range []string{"single", "pooled"} {
			m := against(t, foreign(t, answer), connection)
			if m.Error == nil || !m.Error.Fatal || m.Error.Kind != contract.Peer {
				t.Errorf("%s, %s: %+v, want a fatal error: no connection is left", name, connection, m)
			}
		}
	}
}

// A second reply to a call is one that nobody asked for.
func TestARepeatedReplyIsNoExchange(t *testing.T) {
	t.Parallel()
	m := against(t, foreign(t, func(f baidustd.Frame) []byte {
		return append(echoed(f), echoed(f)...)
	}), "single")
	if m.Error == nil || m.Error.Kind != contract.Peer {
		t.Errorf("%+v, want a fatal error", m)
	}
}

// That holds for the verified exchange, too, whose id no call of the load has.
func TestARepeatedFirstReplyIsNoExchange(t *testing.T) {
	t.Parallel()
	address := scripted(t, func(f baidustd.Frame, first bool) []byte {
		if first {
			return append(echoed(f), echoed(f)...)
		}
		return echoed(f)
	})
	p := trial{Exchange: message("proto", "simple"), Load: contract.Load{Connections: 1, InFlight: 1, Amount: 1}}
	p.Exchange.Message.Down = p.Exchange.Message.Up // an echo
	client := p.Dial(t, transports, address)
	client.Start()
	if c := client.Expect("result").Result.Counts; c.Exchanges != 0 || c.Errors[contract.Invalid] != 1 {
		t.Errorf("counts %+v, want no exchange and an error of kind invalid", c)
	}
}

// Replies may come in any order.
func TestRepliesFindTheirCalls(t *testing.T) {
	t.Parallel()
	var held []byte
	m := against(t, foreign(t, func(f baidustd.Frame) []byte {
		if held == nil {
			held = echoed(f)
			return nil
		}
		out := append(echoed(f), held...)
		held = nil
		return out
	}), "single")
	if r := m.Result; r == nil || r.Counts.Exchanges != 6 || len(r.Counts.Errors) > 0 {
		t.Errorf("%+v, want 6 exchanges", m)
	}
}
