package gofasthttp

import (
	"testing"

	"github.com/valyala/fasthttp"

	"netdyno/internal/contract"
)

func setup(up, down int64) contract.Setup {
	return contract.Setup{
		Listen: "127.0.0.1:0", Exchange: contract.Exchange{UpBytes: up, DownBytes: down}, Load: contract.Load{Connections: 1},
		Options: map[string]any{
			"read_buffer": int64(0), "write_buffer": int64(0), "concurrency": int64(0), "reduce_memory": false,
			"path": "/exchange", "verify": "content",
		},
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
func ours(t testing.TB, up, down int64) func() error {
	t.Helper()
	s := setup(up, down)
	s.Peers = []string{serve(t, up, down)}
	c, err := Transport{}.Client(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	one := c.(*client).call(0)
	return func() error { _, err := one.do(); return err }
}

// bare returns the same exchange by fasthttp alone.
func bare(t testing.TB, up, down int64) func() error {
	t.Helper()
	address := serve(t, up, down)
	host, url, content := &fasthttp.HostClient{Addr: address}, "http://"+address+"/exchange", make([]byte, up)
	return func() error {
		request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(request)
		defer fasthttp.ReleaseResponse(response)
		request.SetRequestURI(url)
		if up > 0 {
			request.Header.SetMethod(fasthttp.MethodPost)
			request.Header.SetContentType("application/octet-stream")
			request.SetBodyRaw(content)
		}
		return host.Do(request, response)
	}
}

var sizes = []struct {
	name     string
	up, down int64
}{{"100 B", 100, 100}, {"64 KiB", 0, 64 << 10}}

// Allocations of the whole process are counted: the server's are none.
func TestTheClientAllocatesNoMoreThanABareOne(t *testing.T) {
	for _, s := range sizes {
		got, want := perExchange(t, ours(t, s.up, s.down)), perExchange(t, bare(t, s.up, s.down))
		t.Logf("%s: %.1f allocations per exchange, bare %.1f", s.name, got, want)
		if got > want+1 {
			t.Errorf("%s: %.1f allocations per exchange, a bare client of fasthttp has %.1f", s.name, got, want)
		}
	}
}

func perExchange(t testing.TB, exchange func() error) float64 {
	t.Helper()
	run := func() {
		if err := exchange(); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		run() // fills the pools
	}
	return testing.AllocsPerRun(300, run)
}

func BenchmarkClient(b *testing.B) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) { benchmark(b, s.down, ours(b, s.up, s.down)) })
	}
}

func BenchmarkBareClient(b *testing.B) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) { benchmark(b, s.down, bare(b, s.up, s.down)) })
	}
}

func benchmark(b *testing.B, down int64, exchange func() error) {
	b.SetBytes(down)
	b.ReportAllocs()
	for b.Loop() {
		if err := exchange(); err != nil {
			b.Fatal(err)
		}
	}
}
