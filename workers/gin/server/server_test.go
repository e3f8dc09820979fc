package server

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/transport/gohttp1"
	"netdyno/internal/work/worker/workertest"

	"netdyno/workers/gin/fastjson"
)

// client is any client of the wire, with every codec.
var client = gohttp1.Transport{Codecs: append(codec.Standard(), fastjson.Sonic{})}

func message(name string) contract.Exchange {
	return contract.Exchange{Codec: name, Message: &contract.Structure{
		Name: "complex",
		Up:   contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"hello"}`},
		Down: contract.Content{Type: "netdyno.v1.Reply", JSON: workertest.Reply("one", "<two>", "three")},
	}}
}

func listen(t *testing.T, x contract.Exchange) (*workertest.Bench, string) {
	t.Helper()
	server := workertest.Start(t, Transport{})
	ready := server.Setup(contract.Setup{Transport: "gin", Role: contract.Server, Listen: "127.0.0.1:0", Exchange: x})
	return server, ready.Addresses[0]
}

func TestEveryCodecWithANetHTTPClient(t *testing.T) {
	exchanges := map[string]contract.Exchange{
		"bytes":    {UpBytes: 100, DownBytes: 3000},
		"get":      {UpBytes: 0, DownBytes: 300_000},
		"no reply": {UpBytes: 10, DownBytes: 0},
	}
	for _, c := range codecs() {
		exchanges[c.Name()] = message(c.Name())
	}
	for name, x := range exchanges {
		t.Run(name, func(t *testing.T) {
			server, address := listen(t, x)
			c := workertest.Start(t, client)
			ready := c.Setup(contract.Setup{
				Transport: "go-http1", Role: contract.Client, Peers: []string{address}, Exchange: x,
				Load: contract.Load{Connections: 3, Amount: 20},
			})
			// A handler counts after its reply was written, so that the last of the
			// verified exchanges may be missing, as may the last of all.
			before := server.Settled(contract.Counts{}, 3)
			c.Start()
			r := c.Expect("result").Result.Counts
			after := server.Settled(before, 60)
			up, down := x.UpBytes, x.DownBytes
			if x.Message != nil {
				up, down = ready.UpBytes, ready.DownBytes
			}
			if r.Exchanges != 60 || r.ReceivedBytes != 60*down || len(r.Errors) > 0 {
				t.Errorf("client counts %+v, want 60 exchanges of %d bytes down", r, down)
			}
			if after.Exchanges-before.Exchanges != 60 || after.ReceivedBytes-before.ReceivedBytes != 60*up || after.SentBytes-before.SentBytes != 60*down {
				t.Errorf("server counts %+v after %+v, want 60 exchanges of %d up and %d down", after, before, up, down)
			}
			if after.Connections != 3 {
				t.Errorf("%d connections are open, want 3", after.Connections)
			}
		})
	}
}

// gin renders by the engine of the trial's codec: encoding/json escapes HTML,
// sonic.ConfigDefault does not.
func TestTheEngineIsTheTrialsCodec(t *testing.T) {
	for name, want := range map[string]string{"json": `"\u003ctwo\u003e"`, "json-fast": `"<two>"`} {
		_, address := listen(t, message(name))
		status, reply := post(t, address, `{"text":"hello"}`, -1)
		if status != http.StatusOK || !strings.Contains(reply, want) {
			t.Errorf("%s: status %d, reply %s, want one with %s", name, status, reply, want)
		}
	}
}

// post sends a request; length -1 says how long it is, 0 leaves that open.
func post(t *testing.T, address, body string, length int64) (status int, reply string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://"+address+"/any/path", io.NopCloser(bytes.NewBufferString(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = length
	if length < 0 {
		r.ContentLength = int64(len(body))
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestRequestsThatDoNotFitAreRefused(t *testing.T) {
	const right = `{"text":"hello"}`
	damaged := map[string]string{"json": `{"text"x"hello"}`, "json-fast": `{"text"x"hello"}`, "proto": "\xff\xff\xff\xff\xff\xff\xff"}
	long := right + strings.Repeat(" ", 100)
	for _, name := range []string{"json", "json-fast", "proto", "bytes"} {
		x := message(name)
		if name == "bytes" {
			x = contract.Exchange{UpBytes: int64(len(right)), DownBytes: 100}
		}
		_, address := listen(t, x)
		for what, c := range map[string]struct {
			body   string
			length int64
			says   string
		}{
			"too long":           {long, -1, "expected"},
			"long, without size": {strings.Repeat("x", 200), 0, ""},
			"damaged":            {damaged[name], -1, "decode the request"},
		} {
			if c.body == "" {
				continue // codec bytes welcomes any content of the right size
			}
			if status, reply := post(t, address, c.body, c.length); status != http.StatusBadRequest || !strings.Contains(reply, c.says) {
				t.Errorf("%s, %s: status %d, %q, want 400 and %q", name, what, status, reply, c.says)
			}
		}
	}
}
