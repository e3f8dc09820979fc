package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

var kinds = []string{"go-connect", "go-connect-grpc"}

// small, large and structured exchanges.
var exchanges = map[string]contract.Exchange{
	"bytes":           {UpBytes: 100, DownBytes: 2000},
	"empty up":        {UpBytes: 0, DownBytes: 300},
	"empty down":      {UpBytes: 300, DownBytes: 0},
	"large":           {UpBytes: 200_000, DownBytes: 500_000},
	"sizes that vary": workertest.Drawn(),
	"proto simple":    message("proto", "simple"),
	"proto complex":   message("proto", "complex"),
	"json simple":     message("json", "simple"),
	"json complex":    message("json", "complex"),
}

var message = workertest.Message

// A trial is between two ends of this worker.
type trial = workertest.Ends

// between is a trial of both ends of one kind.
func between(kind string, x contract.Exchange) trial { return trial{Of: kind, By: kind, Exchange: x} }

func TestBothEndsCountTheSame(t *testing.T) {
	for _, kind := range kinds {
		for name, x := range exchanges {
			for _, compression := range []string{"default", "none"} {
				t.Run(strings.Join([]string{kind, name, compression}, "/"), func(t *testing.T) {
					p := between(kind, x)
					p.Load.Connections, p.Server = 3, map[string]any{"compression": compression}
					p.Client = p.Server
					p.Amount(t, transports, 3)
				})
			}
		}
	}
}

func TestLoadsOfEveryKind(t *testing.T) {
	loads := workertest.Loads()
	loads["crowded"] = contract.Load{Connections: 1, InFlight: 120}
	for _, kind := range kinds {
		for name, l := range loads {
			if l.InFlight > 1 && kind == "go-connect" {
				continue
			}
			t.Run(kind+"/"+name, func(t *testing.T) {
				p := between(kind, exchanges["bytes"])
				p.Load = l
				p.Drains(t, transports)
			})
		}
	}
}

func TestStreams(t *testing.T) {
	for _, stream := range []contract.Stream{contract.StreamUp, contract.StreamDown, contract.StreamBoth} {
		for _, chunk := range []int64{0, 10_000, 64 << 10} {
			for _, size := range []int64{0, 150_001} {
				t.Run(fmt.Sprintf("%s/%d/%d", stream, chunk, size), func(t *testing.T) {
					p := between(kinds[1], contract.Exchange{UpBytes: size, DownBytes: size + 1, Stream: stream, ChunkBytes: chunk})
					p.Load = contract.Load{Connections: 2, InFlight: 2}
					p.Amount(t, transports, 4)
				})
			}
		}
	}
}

// What a codec encodes travels in chunks as bytes do.
func TestStreamsOfStructuredMessages(t *testing.T) {
	for _, stream := range []contract.Stream{contract.StreamUp, contract.StreamDown, contract.StreamBoth} {
		for _, codec := range []string{"proto", "json"} {
			x := message(codec, "complex")
			x.Stream, x.ChunkBytes = stream, 7
			p := between(kinds[1], x)
			p.Load.Connections = 1
			p.Amount(t, transports, 5)
		}
	}
}

func TestOptionsAreHonoured(t *testing.T) {
	for name, p := range map[string]trial{
		"get":        {Of: kinds[0], Client: map[string]any{"get": true}, Server: map[string]any{"get": true}},
		"buffers":    {Of: kinds[0], Client: map[string]any{"read_buffer": 65536.0, "write_buffer": 65536.0}},
		"windows":    {Of: kinds[1], Client: map[string]any{"stream_window": 65536.0, "connection_window": 1e6, "max_frame": 32768.0}},
		"streams":    {Of: kinds[1], Server: map[string]any{"max_streams": 1000.0}, Load: contract.Load{Connections: 1, InFlight: 300}},
		"enough max": {Of: kinds[1], Client: map[string]any{"read_max": 1e6}},
	} {
		for _, x := range []string{"bytes", "proto complex", "json complex"} {
			t.Run(name+"/"+x, func(t *testing.T) {
				p.By, p.Exchange, p.Load.Connections = p.Of, exchanges[x], max(1, p.Load.Connections)
				p.Amount(t, transports, int64(max(5, 2*p.Load.InFlight)))
			})
		}
	}
}

// A user's own message travels by the procedure that option method names.
func TestOwnMessage(t *testing.T) {
	x := message("json", "mine")
	x.Message.Up.Type, x.Message.Up.JSON = "netdyno.v1.Reply", workertest.Reply("a")
	for _, kind := range kinds {
		p := between(kind, x)
		p.Load.Connections, p.Client = 1, map[string]any{"method": "/my.pkg.Store/Put"}
		p.Misfits(t, transports, p, contract.Invalid) // a server without the procedure
		p.Server = p.Client
		p.Amount(t, transports, 5)
	}
}

func TestRefusals(t *testing.T) {
	small := map[string]any{"read_max": 100.0}
	for name, c := range map[string]struct {
		server, client trial
		kind           contract.ErrorKind
		says           string
	}{
		"in flight over HTTP/1.1": {trial{Of: kinds[0]}, trial{By: kinds[0], Load: contract.Load{InFlight: 2}}, contract.Unsupported, "one exchange at a time"},
		"reply above read_max":    {trial{Of: kinds[0]}, trial{By: kinds[0], Client: small}, contract.Invalid, "larger than"},
		"reply above, gRPC":       {trial{Of: kinds[1]}, trial{By: kinds[1], Client: small}, contract.Invalid, "larger than"},
		"request above read_max":  {trial{Of: kinds[1], Server: map[string]any{"read_max": 50.0}}, trial{By: kinds[1]}, contract.Invalid, "larger than"},
		"a window too small":      {trial{Of: kinds[1]}, trial{By: kinds[1], Client: map[string]any{"connection_window": 10.0}}, contract.SetupFailed, "expected 0 or at least 65535"},
		"more streams than fit":   {trial{Of: kinds[1]}, trial{By: kinds[1], Load: contract.Load{InFlight: 400}}, contract.SetupFailed, "max_streams"},
		"other protocol":          {trial{Of: kinds[0]}, trial{By: kinds[1]}, contract.Peer, "connect 1 of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			c.server.Exchange, c.client.Exchange = exchanges["bytes"], exchanges["bytes"]
			c.server.Misfits(t, transports, c.client, c.kind, c.says)
		})
	}
}

func TestALostServerIsNotDialledAgain(t *testing.T) {
	for _, p := range []trial{between(kinds[0], exchanges["bytes"]), between(kinds[1], exchanges["bytes"])} {
		if p.Of == kinds[1] {
			p.Load.InFlight = 4
		}
		p.DiesWithItsServer(t, transports)
	}
}

// The protocol is plain enough for curl.
func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed: `make packages-test` installs it")
	}
	server := workertest.Start(t, transports...)
	setup := contract.Setup{Transport: "go-connect", Role: contract.Server, Listen: "127.0.0.1:0", Exchange: message("json", "complex")}
	url := "http://" + server.Setup(setup).Addresses[0] + "/netdyno.v1.Exchange/"
	ask := func(method, body string) string {
		out, err := exec.Command(curl, "-sS", "-w", " %{http_code}", "-H", "Content-Type: application/json", "-d", body, url+method).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	reply := setup.Exchange.Message.Down.JSON
	for _, c := range []struct{ method, body, want string }{
		{"Complex", `{"text":"` + workertest.Question + `"}`, reply + " 200"},
		{"Complex", `{"text":`, `{"code":"invalid_argument"`},
		{"Simple", `{"text":"` + workertest.Question + `"}`, "404 page not found"},
	} {
		if got := ask(c.method, c.body); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.method, c.body, got, c.want)
		}
	}
	if got := server.Settled(contract.Counts{}, 1); got.Exchanges != 1 || got.SentBytes != int64(len(reply)) {
		t.Errorf("counts %+v, want one exchange of %d bytes down", got, len(reply))
	}
}
