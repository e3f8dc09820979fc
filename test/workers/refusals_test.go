package workers_test

import (
	"fmt"
	"slices"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/shop"
)

// misfit is a server and a client that do not belong together, and what the client says.
type misfit struct {
	of             string
	server, client trial
	kind           contract.ErrorKind
	words          []string
}

// x is the end of an exchange with these options.
func x(of contract.Exchange, options ...any) trial {
	return trial{Exchange: of, Server: option(options...), Client: option(options...)}
}

// misfits are those of one transport each.
var misfits = []misfit{
	{"go-http3", x(blocks(0, 100)), x(blocks(0, 101)), contract.Invalid, []string{"connection 1 of 1", "100 bytes, expected 101"}},
	{"go-http3", x(blocks(0, 100)), x(blocks(9, 100)), contract.Invalid, []string{"400", "the request has 9 bytes, expected 0"}},
	{"go-quic", x(streamed(contract.StreamDown, 10, 100, 10)), x(streamed(contract.StreamDown, 10, 100, 20)), contract.Invalid, []string{"connection 0", "other content"}},
	{"go-http3", x(blocks(1, 1), "max_streams", 3.0), trial{Exchange: blocks(1, 1), Load: contract.Load{InFlight: 4}}, contract.SetupFailed, []string{"in_flight is 4", "3 streams", "opt.server.max_streams"}},
	{"go-quic", x(blocks(1, 1), "max_streams", 3.0), trial{Exchange: blocks(1, 1), Load: contract.Load{InFlight: 4}}, contract.SetupFailed, []string{"in_flight is 4", "3 streams", "opt.server.max_streams"}},
	{"go-http2", x(blocks(0, 1), "max_streams", 2.0), trial{Exchange: blocks(0, 1), Load: contract.Load{InFlight: 10}, Client: option("pool", "own")}, contract.SetupFailed, []string{"max_streams"}},
	{"go-connect-grpc", x(blocks(1, 1)), trial{Exchange: blocks(1, 1), Load: contract.Load{InFlight: 400}}, contract.SetupFailed, []string{"max_streams"}},
	{"go-connect", x(blocks(100, 2000)), x(blocks(100, 2000), "read_max", 100.0), contract.Invalid, []string{"larger than"}},
	{"go-connect-grpc", x(blocks(100, 2000)), x(blocks(100, 2000), "read_max", 100.0), contract.Invalid, []string{"larger than"}},
	{"go-connect-grpc", x(blocks(100, 2000), "read_max", 50.0), x(blocks(100, 2000)), contract.Invalid, []string{"larger than"}},
	{"go-grpc", x(blocks(1, 4<<20)), x(blocks(1, 4<<20), "max_message", 4194304.0), contract.Invalid, []string{"ResourceExhausted", "4194304", "max_message"}},
	{"go-grpc", x(blocks(4<<20, 1), "max_message", 4194304.0), x(blocks(4<<20, 1)), contract.Invalid, []string{"ResourceExhausted", "4194304", "opt.server.max_message"}},
	{"go-grpc", x(blocks(10, 10)), x(streamed(contract.StreamUp, 11, 10, 5)), contract.Invalid, []string{"more than the 10 bytes"}},
	{"go-grpc", x(blocks(10, 11)), x(streamed(contract.StreamDown, 10, 10, 5)), contract.Invalid, []string{"more than the 10 bytes"}},
	{"go-grpc", x(blocks(10, 10)), x(streamed(contract.StreamBoth, 9, 10, 5)), contract.Invalid, []string{"9 bytes, expected 10"}},
	{"go-grpc", x(blocks(100, 100)), x(blocks(100, 100), "codec", "raw"), contract.Invalid, []string{"option codec"}},
	{"go-grpc", x(blocks(100, 100), "codec", "raw"), x(blocks(100, 100)), contract.Invalid, []string{"option codec"}},
	{"go-grpc", x(blocks(10, 10)), x(message("proto", "simple")), contract.Invalid, []string{"/netdyno.v1.Exchange/Simple", "codec bytes", "/netdyno.v1.Exchange/Unary"}},
	{"baidu-std", x(blocks(10, 10)), x(blocks(10, 10), "payload", "attachment"), contract.Invalid, []string{"EREQUEST", "option payload"}},
	{"baidu-std", x(blocks(10, 10), "payload", "attachment"), x(blocks(10, 10)), contract.Invalid, []string{"EREQUEST", "option payload"}},
	{"baidu-std", x(blocks(0, 10), "payload", "attachment"), x(blocks(0, 10)), contract.Invalid, []string{"came as attachment", "option payload"}},
	{"baidu-std", x(blocks(1, 2000)), x(blocks(1, 1000), "max_body", 1024.0), contract.Invalid, []string{"at most 1024", "max_body"}},
	{"baidu-std", x(blocks(10, 10)), x(message("proto", "simple")), contract.Invalid, []string{"ENOMETHOD (1002)", "/netdyno.v1.Exchange/Simple", "expected /netdyno.v1.Exchange/Unary"}},
	{"baidu-std", x(blocks(10, 10)), x(blocks(10, 10), "method", "/shop.v1.Shop/Buy"), contract.Invalid, []string{"ENOSERVICE (1001)", "/shop.v1.Shop/Buy", "expected /netdyno.v1.Exchange/Unary"}},
}

// misfitsOf are those that every transport of some wires can meet: other sizes, another
// content, and one end that encrypts.
func misfitsOf(t *testing.T, name string) []misfit {
	t.Helper()
	d := describe(t, name)
	var found []misfit
	if slices.Contains(d.Codecs, "proto") && name != "go-http3" {
		other := x(message("proto", "simple"))
		other.Exchange.Message.Down.JSON = `{"text":"that one, that time"}`
		found = append(found,
			misfit{name, x(blocks(10, 10)), x(blocks(9, 10)), contract.Invalid, []string{"expected 10"}},
			misfit{name, x(blocks(10, 11)), x(blocks(10, 10)), contract.Invalid, []string{"expected 10"}},
			misfit{name, x(message("proto", "simple")), other, contract.Invalid, []string{"other values"}})
	}
	if !slices.Contains(d.Features, contract.FeatureTLS) || d.Encrypted {
		return found
	}
	secret, stranger := workertest.Certificate(t), workertest.Certificate(t)
	encrypted, distrusting := x(blocks(0, 10)), x(blocks(0, 10))
	encrypted.TLS, distrusting.TLS = secret, stranger
	return append(found,
		misfit{name, encrypted, x(blocks(0, 10)), contract.Peer, []string{"server speaks TLS"}},
		misfit{name, x(blocks(0, 10)), encrypted, contract.Peer, []string{"plain text"}},
		misfit{name, encrypted, distrusting, contract.Peer, []string{"certificate"}})
}

func TestMisfittingEndsSayWhatIsWrong(t *testing.T) {
	rows := slices.Clone(misfits)
	for _, of := range all {
		rows = append(rows, misfitsOf(t, of.Describe().Name)...)
	}
	for i, c := range rows {
		t.Run(fmt.Sprint(c.of, " ", i, c.words), func(t *testing.T) {
			t.Parallel()
			server, client := c.server, c.client
			server.Of, client.By, server.Client, client.Server = c.of, c.of, nil, nil
			if describe(t, c.of).Encrypted {
				server.TLS = workertest.Certificate(t)
				client.TLS = server.TLS
			}
			server.Misfits(t, all, client, c.kind, c.words...)
		})
	}
	t.Run("another protocol", func(t *testing.T) {
		trial{Of: "go-connect", Exchange: blocks(1, 1)}.Misfits(t, all, trial{By: "go-connect-grpc", Exchange: blocks(1, 1)}, contract.Peer, "connect 1 of 1")
	})
}

// What contradicts itself is refused before anything is dialled.
func TestContradictionsAreRefused(t *testing.T) {
	drawn := contract.Table{{contract.TableEnd, 0, 300}}
	sizes := contract.Exchange{UpBytes: 300, DownBytes: 300, UpSizes: drawn, DownSizes: drawn}
	ofChunks := sizes
	ofChunks.Stream = contract.StreamDown
	for _, c := range []struct {
		of    string
		roles string // s for the server, c for the client
		trial trial
		kind  contract.ErrorKind
		words []string
	}{
		{"go-net", "s", x(blocks(1, 1), "send", "sendfile"), contract.SetupFailed, []string{"option "}},
		{"go-net", "c", x(blocks(1, 1), "receive", "truncate"), contract.SetupFailed, []string{"option "}},
		{"go-http1", "c", trial{Load: contract.Load{InFlight: 2}}, contract.Unsupported, []string{"use more connections"}},
		{"fasthttp", "c", trial{Load: contract.Load{InFlight: 2}}, contract.Unsupported, []string{"use more connections"}},
		{"go-connect", "c", trial{Exchange: blocks(1, 1), Load: contract.Load{InFlight: 2}}, contract.Unsupported, []string{"one exchange at a time"}},
		{"go-connect-grpc", "c", x(blocks(1, 1), "connection_window", 10.0), contract.SetupFailed, []string{"expected 0 or at least 65535"}},
		{"go-http3", "s", trial{Exchange: blocks(1, 1)}, contract.Unsupported, []string{"always encrypted", "tls=yes"}},
		{"go-quic", "s", trial{Exchange: blocks(1, 1)}, contract.Unsupported, []string{"always encrypted", "tls=yes"}},
		{"go-http3", "s", windows(t), contract.SetupFailed, []string{"stream_window", "max_stream_window", "6291456"}},
		{"go-quic", "s", windows(t), contract.SetupFailed, []string{"stream_window", "max_stream_window", "6291456"}},
		{"go-grpc", "sc", x(streamed(contract.StreamUp, 10, 10, 5), "mode", "stream"), contract.Unsupported, []string{"mode", "exchange.stream"}},
		{"go-grpc", "sc", x(streamed(contract.StreamUp, 10, 10, 5), "method", "/a.B/C"), contract.Unsupported, []string{"method", "exchange.stream"}},
		{"go-grpc", "sc", x(message("json", "simple"), "codec", "raw"), contract.Unsupported, []string{"raw", "json"}},
		{"go-grpc", "sc", x(message("msgpack", "simple")), contract.Unsupported, []string{"msgpack"}},
		{"go-grpc", "sc", x(blocks(1, 1), "window", 65534.0), contract.SetupFailed, []string{"window is 65534", "65535"}},
		{"go-grpc", "sc", x(blocks(1, 1), "connection_window", 1.0), contract.SetupFailed, []string{"connection_window is 1", "65535"}},
		{"go-grpc", "c", x(sizes, "mode", "stream"), contract.Unsupported, nil},
		{"go-grpc", "c", x(ofChunks), contract.Unsupported, nil},
		{"baidu-std", "sc", x(streamed(contract.StreamUp, 10, 10, 0)), contract.Unsupported, []string{"exchange.stream", "up"}},
		{"baidu-std", "s", x(message("proto", "simple"), "payload", "attachment"), contract.Unsupported, []string{"attachment", "proto"}},
		{"baidu-std", "c", x(message("json", "simple")), contract.Unsupported, []string{"json"}},
		{"baidu-std", "c", trial{Exchange: blocks(1, 1), Client: option("connection", "pooled"), Load: contract.Load{InFlight: 2}}, contract.Unsupported, []string{"in_flight is 2", "pooled", "single"}},
		{"baidu-std", "c", x(blocks(1, 1), "method", "Exchange/Unary"), contract.SetupFailed, []string{"Exchange/Unary", "/package.Service/Method"}},
		{"baidu-std", "s", x(blocks(1, 1), "method", "/a"), contract.SetupFailed, []string{"/package.Service/Method"}},
		{"baidu-std", "s", x(blocks(2000, 1), "max_body", 1999.0), contract.SetupFailed, []string{"max_body is 1999", "requests", "2000"}},
		{"baidu-std", "c", x(blocks(1, 2000), "max_body", 1999.0), contract.SetupFailed, []string{"max_body is 1999", "replies", "2000"}},
	} {
		c.trial.Of, c.trial.By, c.trial.Load.Connections = c.of, c.of, 1
		server, client := c.trial.Setups(all)
		client.Peers = []string{"127.0.0.1:1"}
		for _, role := range c.roles {
			setup := map[rune]contract.Setup{'s': server, 'c': client}[role]
			err := workertest.Refused(t, all, setup)
			workertest.Says(t, c.of, err, c.words...)
			if err.Kind != c.kind {
				t.Errorf("%s as %s: kind %s, want %s: %s", c.of, setup.Role, err.Kind, c.kind, err.Text)
			}
		}
	}
	for _, of := range all { // what a transport does not declare it does not do
		d := of.Describe()
		for feature, ask := range map[contract.Feature]func(*contract.Setup){
			contract.FeatureTLS:        func(s *contract.Setup) { s.TLS = workertest.Certificate(t) },
			contract.FeatureFresh:      func(s *contract.Setup) { s.Load.Fresh = true },
			contract.FeatureStreamUp:   func(s *contract.Setup) { s.Exchange.Stream = contract.StreamUp },
			contract.FeatureStreamDown: func(s *contract.Setup) { s.Exchange.Stream = contract.StreamDown },
			contract.FeatureStreamBoth: func(s *contract.Setup) { s.Exchange.Stream = contract.StreamBoth },
		} {
			setup := contract.Setup{Transport: d.Name, Role: contract.Server, Listen: "127.0.0.1:0", Exchange: blocks(10, 10)}
			if ask(&setup); slices.Contains(d.Features, feature) {
				continue
			}
			if err := workertest.Refused(t, all, setup); err.Kind != contract.Unsupported || !err.Fatal {
				t.Errorf("%s without %s: %+v, want a fatal error of kind unsupported", d.Name, feature, err)
			}
		}
	}
}

// windows contradict each other.
func windows(t *testing.T) trial {
	p := x(blocks(1, 1), "stream_window", float64(7<<20))
	p.TLS = workertest.Certificate(t)
	return p
}

// What a user asks for and no client can do, of which none is dialled to find out.
func TestWhatCannotBeAskedForIsNamed(t *testing.T) {
	for option, c := range map[string]struct {
		value any
		want  string
	}{
		"method":  {"GET it", "is not a method"},
		"headers": {"X-Key", "expected Name: value"},
		"host":    {"a b", "is not a host"},
		"body":    {"too long", "the factor request says 1"},
		"cert":    {"client.pem", "key is not; expected both"},
		"ca":      {"/nowhere.pem", "no such file"},
		"path":    {"block", "option path"},
	} {
		for _, client := range []string{"go-http1", "fasthttp", "go-http2"} {
			p := trial{By: client, Exchange: blocks(1, 1), TLS: workertest.Certificate(t), Client: map[string]any{option: c.value}}
			err := p.Refused(t, all, "127.0.0.1:1")
			if workertest.Says(t, client, err, c.want); err.Kind != contract.SetupFailed {
				t.Errorf("%s of %s: kind %s", option, client, err.Kind)
			}
		}
	}
	deadline := shop.Asked("mode", "stream")
	deadline["deadline"] = int64(1e9)
	late := shop.Refusal{Exchange: blocks(7, 1), Options: deadline, Kind: contract.Unsupported, Want: "deadline needs mode=unary"}
	for _, c := range append(shop.Refusals(), late) {
		err := trial{By: "go-grpc", Exchange: c.Exchange, Client: c.Options}.Refused(t, all, "127.0.0.1:1")
		if workertest.Says(t, c.Want, err, c.Want); err.Kind != c.Kind {
			t.Errorf("%s: kind %s, want %s", err.Text, err.Kind, c.Kind)
		}
	}
}
