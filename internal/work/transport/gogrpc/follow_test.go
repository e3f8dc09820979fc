package gogrpc

import (
	"encoding/base64"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/netdynov1"
	"netdyno/internal/work/worker/workertest"
)

// theirs is a service of somebody else's, whose methods stream.
func theirs(_ any, s grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(s)
	var in emptypb.Empty // keeps what it does not know
	send := func(n int) error { return s.SendMsg(&netdynov1.Block{Content: make([]byte, n)}) }
	switch name := method[strings.LastIndexByte(method, '/')+1:]; name {
	case "Sum", "None":
		all := 0
		for {
			if err := s.RecvMsg(&in); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
			all += proto.Size(&in)
		}
		md, _ := metadata.FromIncomingContext(s.Context())
		if name == "None" || strings.Join(md["x-bin"], "") != "\x01" {
			return nil
		}
		return send(all)
	case "Echo": // reads on only when what it sent is taken
		for {
			if err := s.RecvMsg(&in); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if err := s.SendMsg(&in); err != nil {
				return err
			}
		}
	case "Early":
		return nil
	}
	if err := s.RecvMsg(&in); err != nil {
		return err
	}
	for i := range 3 {
		if err := send(10 * i); err != nil {
			return err
		}
	}
	switch {
	case strings.HasSuffix(method, "/Gone"):
		return status.Error(codes.Unavailable, "going away")
	case strings.HasSuffix(method, "/Large"):
		return send(5 << 20)
	case strings.HasSuffix(method, "/Watch"):
		<-s.Context().Done()
		return s.Context().Err()
	}
	return nil
}

// clientOfTheirs prepares a client that calls a method of theirs with some messages.
func clientOfTheirs(t *testing.T, method, streams string, requests []string, change func(*contract.Setup)) (load.Client, error) {
	t.Helper()
	s := grpc.NewServer(grpc.UnknownServiceHandler(theirs))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(listener)
	t.Cleanup(s.Stop)
	transport := Transport{Codecs: codec.Standard()}
	setup := contract.Setup{
		Role: contract.Client, Seed: 3, Peers: []string{listener.Addr().String()}, Load: contract.Load{Connections: 2}, Events: true, Stages: true,
		Options: map[string]any{"verify": "status", "codec": "raw", "method": "/a.B/" + method, "method_streams": streams, "headers": "x-bin: AQ"},
	}
	var lines []string
	for _, request := range requests {
		lines = append(lines, base64.StdEncoding.EncodeToString([]byte(request)))
		setup.Exchange.UpBytes += int64(len(request))
	}
	setup.Options["body"] = strings.Join(lines, "\n")
	if change != nil {
		change(&setup)
	}
	setup.Options = workertest.WithDefaults(transport.Describe().Options, setup.Options)
	return transport.Client(setup)
}

// field is a message with one field of so many bytes.
func field(n int) string {
	text, _ := proto.Marshal(&netdynov1.Block{Content: make([]byte, n)})
	return string(text)
}

// Methods of every kind are called with all their messages; every reply is an event.
func TestMethodsOfEveryKindAreCalled(t *testing.T) {
	large := []string{field(200 << 10), field(200 << 10), field(200 << 10)}
	for name, c := range map[string]struct {
		method, streams string
		requests        []string
		options         map[string]any
		received        int64 // by each exchange
		events          int64
	}{
		"down":         {"Three", "down", []string{field(7)}, nil, 34, 3},
		"down, nobody": {"Three", "down", nil, nil, 34, 3},
		"up":           {"Sum", "up", []string{field(7), "", field(9)}, nil, 22, 1},
		"both":         {"Echo", "both", []string{field(7), "", field(9)}, nil, 20, 3},
		"both, large":  {"Echo", "both", large, nil, 3 * int64(len(large[0])), 3},
		"spaced":       {"Echo", "both", []string{field(7), "", field(9)}, map[string]any{"send_every": int64(2e6)}, 20, 3},
		"two of three": {"Three", "down", []string{field(7)}, map[string]any{"most_events": int64(2)}, 12, 2},
		"no end":       {"Watch", "down", []string{field(7)}, map[string]any{"events_for": int64(20e6)}, 34, 3},
		"packed":       {"Sum", "up", []string{field(7), field(9)}, map[string]any{"compression": "gzip"}, 22, 1},
		"packed, both": {"Echo", "both", []string{field(7), field(9)}, map[string]any{"compression": "gzip"}, 20, 2},
		"a pattern":    {"Three", "down", []string{field(7)}, map[string]any{"verify": "not-regexp", "expected": "x"}, 34, 3},
		"length":       {"Three", "down", []string{field(7)}, map[string]any{"verify": "length"}, 34, 3},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := clientOfTheirs(t, c.method, c.streams, c.requests, func(s *contract.Setup) {
				s.Exchange.DownBytes = c.received
				for name, value := range c.options {
					s.Options[name] = value
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			result := workertest.ResultOf(t, client, func(n contract.Counts) bool { return n.Exchanges >= 10 })
			n := result.Counts.Exchanges
			if result.Counts.ReceivedBytes != n*c.received || len(result.Reasons) > 0 {
				t.Errorf("%d exchanges received %d bytes, want %d each; %+v", n, result.Counts.ReceivedBytes, c.received, result.Reasons)
			}
			if e := result.Events; e == nil || e.Count < n*c.events || result.Stages.FirstByte == "" || e.First == "" || (e.Gaps != "") != (c.events > 1) {
				t.Errorf("events of %d exchanges: %+v", n, e)
			}
		})
	}
}

// What fails in a stream is told by its status, with the contract's kind.
func TestStreamsThatFail(t *testing.T) {
	for method, c := range map[string]struct {
		streams string
		change  func(*contract.Setup)
		kind    contract.ErrorKind
		want    string
	}{
		"Gone":  {"down", nil, contract.Peer, "Unavailable: going away"},
		"Large": {"down", func(s *contract.Setup) { s.Options["max_message"] = int64(1 << 20) }, contract.Invalid, "ResourceExhausted"},
		"Three": {"down", func(s *contract.Setup) {
			s.Options["verify"], s.Options["expected"] = "not-regexp", "\x00{20}" // the third message has it
		}, contract.Invalid, "body has a match"},
		"Watch": {"down", func(s *contract.Setup) { s.Load.DeadlineNs = 20e6 }, contract.Timeout, "no reply within the deadline of 20.0 ms"},
	} {
		t.Run(method, func(t *testing.T) {
			client, err := clientOfTheirs(t, method, c.streams, []string{field(7)}, c.change)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			result := workertest.ResultOf(t, client, func(n contract.Counts) bool { return n.Errors[c.kind] >= 2 })
			if len(result.Reasons) == 0 || !strings.Contains(result.Reasons[0].Text, c.want) || result.Counts.Exchanges > 0 {
				t.Errorf("%d exchanges, %+v; want %q", result.Counts.Exchanges, result.Reasons, c.want)
			}
		})
	}
	_, err := clientOfTheirs(t, "None", "up", []string{field(7)}, nil)
	if load.KindOf(err) != contract.Invalid {
		t.Errorf("a stream that ends without its reply: %v", err)
	}
	client, err := clientOfTheirs(t, "Early", "both", []string{field(1 << 20), field(1 << 20)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if result := workertest.ResultOf(t, client, func(n contract.Counts) bool { return n.Exchanges >= 10 }); result.Counts.ReceivedBytes != 0 || len(result.Reasons) > 0 {
		t.Errorf("a server that ends calls early: %+v", result)
	}
}

func TestStreamsThatContradictAreRefused(t *testing.T) {
	for want, options := range map[string]map[string]any{
		"most_events or events_for is given":   {"method_streams": "up", "most_events": int64(1)},
		"send_every is given":                  {"send_every": int64(1)},
		"expected method_streams=down or both": {"method_streams": "none", "events_for": int64(1)},
		"method_streams needs mode=unary":      {"verify": "length", "body": "", "codec": "proto"},
		"needs verify=status or length":        {"verify": "content"},
		"the replies are streams":              {"verify": "json", "expected": "$.a"},
		"body is no base64: line 2":            {"method_streams": "up", "body": "AAAA\n?"},
		"the factor request says 9":            {"body": "AAAA"},
		"body is no base64: line 1: illegal":   {"body": "AAAA\nAAAA!"},
		"asks when the parts of replies come":  {"mode": "stream", "method_streams": "none", "verify": "length", "body": "", "codec": "proto"},
		"every exchange is the same call":      {"classes": true},
	} {
		_, err := clientOfTheirs(t, "Three", "down", []string{field(7)}, func(s *contract.Setup) {
			for name, value := range options {
				if name == "classes" {
					s.Load.Classes = []contract.Class{{Name: "a", End: contract.TableEnd, UpBytes: 9}}
					continue
				}
				s.Options[name] = value
			}
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A server of netdyno's sends the chunks of a reply on their schedule, and a client tells when
// they and other replies come.
func TestPacedChunksAreEvents(t *testing.T) {
	for name, c := range map[string]struct {
		exchange contract.Exchange
		options  map[string]any
		events   int64
	}{
		"paced":     {contract.Exchange{UpBytes: 10, DownBytes: 2500, Stream: contract.StreamDown, ChunkBytes: 1000, EveryNs: 3e6}, nil, 3},
		"paced raw": {contract.Exchange{UpBytes: 10, DownBytes: 2500, Stream: contract.StreamDown, ChunkBytes: 1000, EveryNs: 3e6}, map[string]any{"codec": "raw"}, 3},
		"at once":   {contract.Exchange{UpBytes: 10, DownBytes: 2500, Stream: contract.StreamBoth, ChunkBytes: 1000}, nil, 3},
		"unary":     {contract.Exchange{UpBytes: 10, DownBytes: 2500}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			transport := Transport{Codecs: codec.Standard()}
			setup := contract.Setup{Exchange: c.exchange, Options: c.options}
			s := workertest.Server(t, transport, setup)
			setup.Events, setup.Stages = true, true
			client := workertest.Client(t, transport, setup, s.Ready().Addresses[0])
			result := workertest.ResultOf(t, client, func(n contract.Counts) bool { return n.Exchanges >= 10 })
			n := result.Counts.Exchanges
			if e := result.Events; e == nil || e.Count < n*c.events || result.Stages.FirstByte == "" || e.First == "" || (e.Gaps != "") != (c.events > 1) {
				t.Errorf("events of %d exchanges: %+v", n, e)
			}
			h, err := hist.Decode(result.Service)
			if err != nil {
				t.Fatal(err)
			}
			if h.LeastNs() < 2*c.exchange.EveryNs*99/100 { // the histogram rounds
				t.Errorf("a reply of %d chunks came within %d ns, want two pauses of %d ns at least", c.events, h.LeastNs(), c.exchange.EveryNs)
			}
		})
	}
}
