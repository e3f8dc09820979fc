package gofasthttp

import (
	"testing"

	"github.com/valyala/fasthttp"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
	"netdyno/internal/work/worker/workertest"
)

func setup(up, down int64) contract.Setup {
	return contract.Setup{
		Listen: "127.0.0.1:0", Exchange: contract.Exchange{UpBytes: up, DownBytes: down}, Load: contract.Load{Connections: 1},
		Options: workertest.WithDefaults(httpwire.Options(), map[string]any{
			"read_buffer": int64(0), "write_buffer": int64(0), "concurrency": int64(0), "reduce_memory": false,
		}),
	}
}

func serve(t testing.TB, up, down int64) string {
	t.Helper()
	s, err := Transport{}.Server(setup(up, down))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Ready().Addresses[0]
}

// ours returns an exchange of our client.
func ours(t testing.TB, up, down int64) load.Call {
	t.Helper()
	s := setup(up, down)
	s.Peers = []string{serve(t, up, down)}
	c, err := Transport{}.client(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.Call(0)
}

// bare returns the same exchange by fasthttp alone.
func bare(t testing.TB, up, down int64) load.Call {
	t.Helper()
	address := serve(t, up, down)
	host, url, content := &fasthttp.HostClient{Addr: address}, "http://"+address+"/exchange", make([]byte, up)
	return func() (int64, error) {
		request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(request)
		defer fasthttp.ReleaseResponse(response)
		request.SetRequestURI(url)
		if up > 0 {
			request.Header.SetMethod(fasthttp.MethodPost)
			request.Header.SetContentType("application/octet-stream")
			request.SetBodyRaw(content)
		}
		return 0, host.Do(request, response)
	}
}

var sizes = []struct {
	name     string
	up, down int64
}{{"100 B", 100, 100}, {"64 KiB", 0, 64 << 10}}

// Allocations of the whole process are counted: the server's are none.
func TestTheClientAllocatesNoMoreThanABareOne(t *testing.T) {
	workertest.CountsAllocations(t)
	for _, s := range sizes {
		got, want := workertest.Allocations(t, ours(t, s.up, s.down)), workertest.Allocations(t, bare(t, s.up, s.down))
		t.Logf("%s: %.1f allocations per exchange, bare %.1f", s.name, got, want)
		if got > want+1 {
			t.Errorf("%s: %.1f allocations per exchange, a bare client of fasthttp has %.1f", s.name, got, want)
		}
	}
}
