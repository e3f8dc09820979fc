package traffic_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdyno/internal/traffic"
)

const header = "# for people\nrecorded: {version: 1}\n"

// fileOf writes requests as a file.
func fileOf(t interface{ Fatal(...any) }, paths []string, requests []traffic.Request) []byte {
	var blocks, whole bytes.Buffer
	w := traffic.NewWriter(&blocks)
	for _, r := range requests {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), traffic.Assemble(&whole, header, paths, nil, &blocks)); err != nil {
		t.Fatal(err)
	}
	return whole.Bytes()
}

func readFrom(body *traffic.Body, ns int64) (all []traffic.Request, err error) {
	r, err := body.From(ns)
	for err == nil {
		var next traffic.Request
		if next, err = r.Next(); err == nil {
			all = append(all, next)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return all, err
}

// What is written is read, from any moment on.
func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		paths := []string{"/", "/a?b", "/ü"}
		n := rapid.SampledFrom([]int{0, 1, 3, 1<<14 - 1, 1 << 14, 1<<14 + 1, 40_000}).Draw(t, "requests")
		gap := rapid.SampledFrom([]int64{0, 1, 1000, 1e9}).Draw(t, "gap")
		var requests []traffic.Request
		for i := range n {
			requests = append(requests, traffic.Request{
				AtNs: int64(i/3) * gap, Class: i % 64, Up: int64(i) * 7, Down: traffic.MostBytes - int64(i), Path: i%4 - 1,
			})
		}
		body, err := traffic.Open(bytes.NewReader(fileOf(t, paths, requests)))
		if err != nil {
			t.Fatal(err)
		}
		if string(body.Header) != header || body.Requests != int64(n) || len(body.Paths) != 3 || n > 0 && body.SpanNs != requests[n-1].AtNs {
			t.Fatalf("header %q, %d requests over %d ns, %d paths", body.Header, body.Requests, body.SpanNs, len(body.Paths))
		}
		from := rapid.Int64Range(0, max(1, body.SpanNs+1)).Draw(t, "from")
		got, err := readFrom(body, from)
		want := requests
		for len(want) > 0 && want[0].AtNs < from {
			want = want[1:]
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("from %d: %d requests, want %d; %v", from, len(got), len(want), err)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("from %d: request %d is %+v, want %+v", from, i, got[i], want[i])
			}
		}
	})
}

func TestTimesThatGoBackAreRefused(t *testing.T) {
	w := traffic.NewWriter(io.Discard)
	if err := errors.Join(w.Add(traffic.Request{AtNs: 5}), w.Add(traffic.Request{AtNs: 5})); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(traffic.Request{AtNs: 4}); err == nil {
		t.Error("a request before the last one was written")
	}
}

// A file that is cut off, or in which a bit has changed, is refused where that is seen.
func TestDamageIsFound(t *testing.T) {
	var requests []traffic.Request
	for i := range 100 {
		requests = append(requests, traffic.Request{AtNs: int64(i) * 1000, Up: 10, Down: 20, Path: i % 2})
	}
	whole := fileOf(t, []string{"/a", "/b"}, requests)
	for at := len(header) + 4; at < len(whole); at++ {
		for _, damaged := range [][]byte{whole[:at], append(append(bytes.Clone(whole[:at]), whole[at]^0x10), whole[at+1:]...)} {
			body, err := traffic.Open(bytes.NewReader(damaged))
			if err == nil {
				_, err = readFrom(body, 0)
			}
			if err == nil {
				t.Fatalf("byte %d of %d (of %d now): damage was not found", at, len(whole), len(damaged))
			}
		}
	}
	if _, err := traffic.Open(strings.NewReader("127.0.0.1 - - GET /")); err == nil || !strings.Contains(err.Error(), "netdyno record") {
		t.Errorf("a log: %v", err)
	}
}

// Whatever a file holds: an error or requests that can be, in bounded memory.
func FuzzOpen(f *testing.F) {
	f.Add(fileOf(f, []string{"/a"}, []traffic.Request{{AtNs: 1, Class: 2, Up: 3, Down: 4}, {AtNs: 9, Path: -1}}))
	f.Add([]byte("\n...\nNDTRAF1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		body, err := traffic.Open(bytes.NewReader(text))
		if err != nil {
			return
		}
		all, _ := readFrom(body, 0)
		last := int64(0)
		for _, r := range all {
			if r.AtNs < last || r.Class < 0 || r.Class >= traffic.MostClasses || r.Path >= len(body.Paths) || r.Up < 0 || r.Down < 0 {
				t.Fatalf("%+v", r)
			}
			last = r.AtNs
		}
	})
}

func BenchmarkNext(b *testing.B) {
	var requests []traffic.Request
	for i := range 100_000 {
		requests = append(requests, traffic.Request{AtNs: int64(i) * 100_000, Class: i % 5, Up: 100, Down: 4000, Path: i % 3})
	}
	body, err := traffic.Open(bytes.NewReader(fileOf(b, []string{"/a", "/b", "/c"}, requests)))
	if err != nil {
		b.Fatal(err)
	}
	r, _ := body.From(0)
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			r, _ = body.From(0)
		}
	}
}

// What requests carry is read by the number of their path; a file without it, and one that is
// damaged anywhere in it, are told apart.
func TestBodiesAreRead(t *testing.T) {
	var blocks, whole bytes.Buffer
	w := traffic.NewWriter(&blocks)
	carried := map[int]traffic.Carried{0: {MediaType: "text/plain", Content: []byte("tea")}, 2: {Content: bytes.Repeat([]byte{0}, 300)}}
	if err := errors.Join(w.Add(traffic.Request{Up: 3}), w.Close(), traffic.Assemble(&whole, header, []string{"/a", "/a", ""}, carried, &blocks)); err != nil {
		t.Fatal(err)
	}
	body, err := traffic.Open(bytes.NewReader(whole.Bytes()))
	if err != nil || !reflect.DeepEqual(body.Carried, carried) || len(body.Paths) != 3 {
		t.Fatalf("%v, %+v", err, body)
	}
	plain, err := traffic.Open(bytes.NewReader(fileOf(t, []string{"/a", "/a", ""}, []traffic.Request{{Up: 3}})))
	if err != nil || plain.Carried != nil || plain.Sum() == body.Sum() {
		t.Errorf("%v, %v", err, plain)
	}
	begins := bytes.Index(whole.Bytes(), []byte("NDBODY1"))
	for at := begins; at < whole.Len(); at++ {
		damaged := bytes.Clone(whole.Bytes())
		damaged[at] ^= 1
		if _, err := traffic.Open(bytes.NewReader(damaged)); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Fatalf("byte %d changed: %v", at, err)
		}
		if _, err := traffic.Open(bytes.NewReader(whole.Bytes()[:at])); (err == nil) != (at == begins) {
			t.Fatalf("cut off at %d: %v", at, err)
		}
	}
}
