package source

import (
	"errors"
	"strings"
	"testing"

	"netdyno/internal/run/study"
)

func FuzzParseFile(f *testing.F) {
	for _, name := range List() {
		data, err := Text(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("study: x\nhold: {transport: null, opt.a: \"\\u263a\"}\n"))
	f.Add([]byte(swept))
	f.Add([]byte(required + "blocks: 6\n"))
	f.Add([]byte("? [a]: b\n- |\n &x *y !!z"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseFile("fuzz.yaml", data)
		checkParsed(t, s, err)
	})
}

func FuzzParseArgs(f *testing.F) {
	f.Add("transport=go-net,go-epoll\nconnections=50,10000\nblocks=8")
	f.Add("event-loops\nconnections=50\ncompare.margin=5%")
	f.Add("aa\narm=a,b\nseed=3\nopt.x=a\\,b")
	f.Add("buffers-quick\nconnections=5\narm=w0-r128k,w0-r0\nblocks=1")
	f.Add("messages\nmessage=a.proto:p.T:a.json\namount=10000\nprobes=0\ntls=yes,no")
	f.Add("transport=go-grpc\nstream=down,up\nchunk=1KiB,64KiB\nfresh=no\ncodec=bytes")
	f.Add("transport=null,go-net\nblocks=2\nrequire=exchanges_per_s of null >= 0.9 x go-net at connections=50,service_p99_us of go-net <= 5ms")
	f.Fuzz(func(t *testing.T, lines string) {
		s, err := ParseArgs(strings.Split(lines, "\n"), noFiles)
		checkParsed(t, s, err)
	})
}

// checkParsed holds a parser's answer to what it promises: an error with a
// place, or a study that plans and reads back.
func checkParsed(t *testing.T, s *study.Study, err error) {
	t.Helper()
	if err != nil {
		var e *study.Error
		if s != nil || !errors.As(err, &e) || e.Position == "" || len(err.Error()) > 20000 {
			t.Fatalf("got %v beside the error %#v", s, err)
		}
		return
	}
	sum := study.Summary(s)
	size := s.Blocks + s.Probes
	for _, n := range s.Further {
		size = max(size, n+s.Probes)
	}
	for _, v := range sum.Vary {
		size *= len(v.Levels) + 1
	}
	if size > 200 {
		return // planning is bounded, but too slow for a fuzzer
	}
	if trials, _, err := s.Plan(); err != nil || len(trials) == 0 {
		t.Fatalf("a study that parsed plans %d trials, %v", len(trials), err)
	}
	data, err := YAML(s)
	if err != nil {
		return // larger than a file may be
	}
	back, err := ParseFile("back.yaml", data)
	if err != nil || text(back) != text(s) {
		t.Fatalf("%v: %s\nreads back as\n%s\nfrom\n%s", err, text(s), text(back), data)
	}
}
