package native_test

import (
	"io"
	"maps"
	"net"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/wrong"
)

// drive has a client make exchanges with a server that is not ours, and returns its
// counts.
func drive(t *testing.T, transport string, setup contract.Setup) contract.Counts {
	t.Helper()
	return driven(t, transport, setup).Counts
}

func driven(t *testing.T, transport string, setup contract.Setup) contract.Result {
	t.Helper()
	client := start(t, transport)
	setup.Role = contract.Client
	client.setup(setup)
	client.send(contract.Message{Start: &contract.Start{}})
	return *client.expect("result").Result
}

func TestHTTP1EventsAreThoseWritten(t *testing.T) {
	for _, transport := range nativeHTTP {
		t.Run(transport, func(t *testing.T) {
			workertest.EventsAreThoseWritten(t, transport, func(t *testing.T, s contract.Setup) contract.Result { return driven(t, transport, s) })
		})
	}
}

// What servers do wrong counts as it does with the clients in Go, and the other
// connection goes on.
func TestHTTP1ServersThatMisbehaveAreCountedByKind(t *testing.T) {
	upright := workertest.HTTPReply(100, 100)
	cases := maps.Clone(wrong.HTTP1)
	cases["headers"] = wrong.Exchange{Does: func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 10<<20)) }, Kind: contract.Invalid}
	cases["1xx"] = wrong.Exchange{Does: func(c net.Conn) { io.WriteString(c, strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 1<<16)) }, Kind: contract.Invalid}
	cases["no HTTP"] = wrong.Exchange{Does: func(c net.Conn) { io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n") }, Kind: contract.Invalid}
	for name, c := range cases {
		for _, transport := range nativeHTTP {
			t.Run(transport+"/"+name, func(t *testing.T) {
				t.Parallel()
				got := drive(t, transport, contract.Setup{
					Peers: []string{workertest.MisbehavingHTTP(t, c.Does), workertest.MisbehavingHTTP(t, upright)}, Exchange: blocks(0, 100),
					Load: contract.Load{Connections: 2, Amount: 3}, Options: map[string]any{"verify": "length"},
				})
				if c.Kind == "" {
					if got.Exchanges != 6 || len(got.Errors) > 0 || got.Redialled != 1 {
						t.Errorf("counts %+v, want 6 exchanges, no error, and a connection made anew", got)
					}
				} else if got.Errors[c.Kind] != 1 || got.Exchanges != 2+3 || len(got.Errors) != 1 {
					t.Errorf("counts %+v, want 5 exchanges and one error of kind %s", got, c.Kind)
				}
			})
		}
	}
}

func TestHTTP1RequestsDiffer(t *testing.T) {
	for _, transport := range nativeHTTP {
		t.Run(transport, func(t *testing.T) {
			for _, encrypted := range []bool{false, true} {
				workertest.RequestsDiffer(t, transport, false, encrypted,
					func(t *testing.T, s contract.Setup) contract.Counts { return drive(t, transport, s) })
			}
		})
	}
}

func TestHTTP1RequestsAreAsTheUserSays(t *testing.T) {
	for _, transport := range nativeHTTP {
		t.Run(transport, func(t *testing.T) {
			workertest.RequestsAreAsTheUserSays(t, transport, false, false,
				func(t *testing.T, s contract.Setup) contract.Counts { return drive(t, transport, s) })
		})
	}
}
