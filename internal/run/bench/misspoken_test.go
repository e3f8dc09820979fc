package bench

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/run/spoken"
)

// The advice for a program that speaks another wire is an argument that can be typed as
// it stands.
func TestWhatToGiveInstead(t *testing.T) {
	client := func(name, wire string) contract.Transport {
		return contract.Transport{Name: name, Wire: wire, Roles: []contract.Role{contract.Client}}
	}
	c := &Catalog{Programs: []Program{{Hello: contract.Hello{Transports: []contract.Transport{
		client("a-http", "http/1.1"), client("go-http1", "http/1.1"), client("go-grpc", "grpc:netdyno.v1"), client("other", "h2c"),
	}}}}}
	for _, test := range []struct {
		declared  string
		encrypted bool
		found     spoken.Wire
		want      string
	}{
		{"", false, spoken.Wire{}, ""},
		{"", false, spoken.Wire{Name: spoken.Echo}, ""},
		{"http/1.1", false, spoken.Wire{Name: spoken.HTTP1}, ""},
		{"grpc:netdyno.v1", true, spoken.Wire{Name: spoken.GRPC, TLS: true}, ""},
		{"", false, spoken.Wire{Name: spoken.HTTP1}, "the server speaks HTTP/1.1, not echo: give opt.server.wire=http/1.1 client=go-http1"},
		{"mine", false, spoken.Wire{Name: spoken.HTTP2}, "the server speaks HTTP/2 without TLS, not mine: give opt.server.wire=h2c client=other"},
		{"http/1.1", false, spoken.Wire{Name: spoken.HTTP1, TLS: true}, "the server speaks HTTP/1.1 by TLS, not HTTP/1.1: give tls=yes"},
		{"http/1.1", true, spoken.Wire{Name: spoken.HTTP1}, "the server speaks HTTP/1.1, not HTTP/1.1 by TLS: give tls=no"},
		{"http/1.1", false, spoken.Wire{Name: spoken.GRPC}, "the server speaks gRPC without TLS, not HTTP/1.1: give opt.server.wire=grpc:netdyno.v1 client=go-grpc opt.client.method=/pkg.Service/Method"},
		{"", false, spoken.Wire{TLS: true}, "the server speaks TLS, not echo: give tls=yes"},
	} {
		if got := c.instead(test.declared, test.encrypted, test.found); got != test.want {
			t.Errorf("%q by TLS %v, found %+v: %q, want %q", test.declared, test.encrypted, test.found, got, test.want)
		}
	}
}
