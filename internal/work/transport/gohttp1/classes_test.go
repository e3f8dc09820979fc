package gohttp1_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/traffic"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/gohttp1"
	"netdyno/internal/work/worker/workertest"
)

// site counts what it was asked for.
type site struct {
	mu    sync.Mutex
	asked map[string]int
	got   map[string]bool // bodies
	heads map[string]int  // method, media type and X-Of
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked[fmt.Sprintf("%s %s %d", r.Method, r.URL, len(body))]++
	s.got[string(body)] = true
	s.heads[strings.Join(append(r.Header.Values("X-Of"), r.Method, r.Header.Get("Content-Type"), r.Header.Get("Accept")), " ")]++
	s.mu.Unlock()
	switch {
	case strings.HasPrefix(r.URL.Path, "/missing"):
		http.NotFound(w, r)
	case r.URL.Path == "/slow":
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Second):
		}
	default:
		_, _ = io.WriteString(w, strings.Repeat("x", 100))
	}
}

// driven runs a client of a load for a while.
func driven(t *testing.T, l contract.Load) (map[string]int, contract.Result) {
	t.Helper()
	s, result := drivenBy(t, l, "")
	return s.asked, result
}

// drivenBy is driven with what classes send.
func drivenBy(t *testing.T, l contract.Load, bodies string) (*site, contract.Result) {
	t.Helper()
	s := &site{asked: map[string]int{}, got: map[string]bool{}, heads: map[string]int{}}
	server := httptest.NewServer(s)
	defer server.Close()
	options := workertest.WithDefaults(gohttp1.Transport{}.Describe().Options, map[string]any{"verify": "status", "bodies": bodies, "headers": "X-Of: all\nAccept: text/plain"})
	l.Connections = 2
	client, err := gohttp1.Transport{}.Client(contract.Setup{
		Role: contract.Client, Seed: 3, Peers: []string{strings.TrimPrefix(server.URL, "http://")}, Options: options, Load: l,
		Exchange: contract.Exchange{UpBytes: 30, DownBytes: 100, UpSizes: contract.Table{{contract.TableEnd, 0, 30}}, DownSizes: contract.Table{{contract.TableEnd, 0, 100}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	result := workertest.ResultOf(t, client, func(n contract.Counts) bool { return n.Exchanges >= 300 })
	_ = client.Close() // it has ended
	return s, result
}

// A class sends its own body, where it has one.
func TestClassesSendTheirBodies(t *testing.T) {
	s, result := drivenBy(t, contract.Load{Classes: []contract.Class{
		{Name: "order", End: contract.TableEnd / 2, UpBytes: 8, DownBytes: 100, Path: "/orders"}, {Name: "read", End: contract.TableEnd, DownBytes: 100},
	}}, base64.StdEncoding.EncodeToString([]byte(`{"id":7}`))+"\n\n")
	if len(s.got) != 2 || !s.got[""] || !s.got[`{"id":7}`] || s.asked["POST /orders 8"] == 0 {
		t.Errorf("came %v, %v", s.got, s.asked)
	}
	if c := result.Classes[0]; c.Exchanges == 0 || c.SentBytes != 8*c.Exchanges {
		t.Errorf("%+v", c)
	}
}

// A class has its own headers in place of those of all, and the others of all.
func TestClassesHaveTheirHeaders(t *testing.T) {
	s, _ := drivenBy(t, contract.Load{Classes: []contract.Class{
		{Name: "order", End: contract.TableEnd / 2, UpBytes: 8, DownBytes: 100, Headers: []string{"content-type: application/json", "x-of: order"}}, {Name: "read", End: contract.TableEnd, DownBytes: 100},
	}}, "")
	if len(s.heads) != 2 || s.heads["order POST application/json text/plain"] == 0 || s.heads["all GET  text/plain"] == 0 {
		t.Errorf("came %v", s.heads)
	}
}

// A class asks by its own method, path, key and size, takes its own status, and ends at its
// own deadline.
func TestClassesAskForTheirOwn(t *testing.T) {
	third := int64(contract.TableEnd / 100)
	asked, result := driven(t, contract.Load{
		Keys: contract.Table{{contract.TableEnd, 7, 7}},
		Classes: []contract.Class{
			{Name: "read", End: 60 * third, DownBytes: 100, Path: "/items/{key}/of/{key}"},
			{Name: "write", End: 80 * third, UpBytes: 30, DownBytes: 100, Method: "PUT", Path: "/items"},
			{Name: "missing", End: 97 * third, DownBytes: 100, Path: "/missing", Status: 404},
			{Name: "slow", End: contract.TableEnd, DownBytes: 100, Path: "/slow", DeadlineNs: 1e6},
		},
	})
	for _, want := range []string{"GET /items/7/of/7 0", "PUT /items 30", "GET /missing 0", "GET /slow 0"} {
		if asked[want] == 0 {
			t.Errorf("nobody asked for %q: %v", want, asked)
		}
	}
	for i, c := range result.Classes {
		if slow := i == 3; (c.Exchanges > 0) == slow || (c.Errors > 0) != slow {
			t.Errorf("class %s: %+v", c.Name, c)
		}
	}
	if slow := result.Classes[3]; result.Counts.Errors[contract.Timeout] != slow.Errors || slow.Late != slow.Errors || result.Reasons[0].Text != "no reply within the deadline of 1.00 ms" {
		t.Errorf("%+v, %+v", result.Counts.Errors, result.Reasons)
	}
}

// A load without classes has a deadline, too: what is given up has its age among the late
// ones, and the next exchange makes the connection anew.
func TestALoadHasADeadline(t *testing.T) {
	const limit = 5e6 // ns
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if n.Add(1)%10 == 0 {
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	client, err := gohttp1.Transport{}.Client(contract.Setup{
		Role: contract.Client, Seed: 3, Peers: []string{strings.TrimPrefix(server.URL, "http://")},
		Options: workertest.WithDefaults(gohttp1.Transport{}.Describe().Options, map[string]any{"verify": "status"}),
		Load:    contract.Load{Connections: 12, Amount: 50, DeadlineNs: limit, MaxErrors: 0.2}, // one of the first exchanges is late
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.Load().Start()
	if err := client.Run(); err != nil {
		t.Fatal(err)
	}
	result, err := client.Load().Result()
	if err != nil {
		t.Fatal(err)
	}
	late, err := hist.Decode(result.Late)
	if err != nil {
		t.Fatal(err)
	}
	failed := result.Counts.Errors[contract.Timeout]
	if failed < 60 || result.Counts.Exchanges+failed != 600 || late.Count() != failed || math.Abs(float64(late.MaxNs())-limit) > limit/500 {
		t.Errorf("%+v, %d late of at most %d ns", result.Counts, late.Count(), late.MaxNs())
	}
	first := int64(client.Ready().Repeated) // given up too, and of no result
	// Not for what was given up before its connection was there, nor for a connection's last one.
	if reconnects := client.(load.Reconnector).Reconnects(); reconnects < failed/2 || reconnects > failed+12+first {
		t.Errorf("%d connections were made anew for %d requests that were given up, and %d first ones", reconnects, failed, first)
	}
}

// Recorded traffic asks for the paths that were recorded, by its classes' methods, and sends
// the bodies that were.
func TestRecordedPathsAreAskedFor(t *testing.T) {
	name := filepath.Join(t.TempDir(), "traffic")
	blocks, err := os.Create(name + ".blocks")
	if err != nil {
		t.Fatal(err)
	}
	defer blocks.Close()
	w := traffic.NewWriter(blocks)
	for i := range 100 {
		path := i%3 - 1
		if i%6 == 5 { // a POST of /b/c
			path = 2
		}
		if err := w.Add(traffic.Request{AtNs: int64(i) * 1e5, Class: i % 2, Up: int64(i % 2 * 20), Path: path}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, _ = blocks.Seek(0, io.SeekStart)
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	const body = `{"item": 7, "of": 1}`
	carried := map[int]traffic.Carried{2: {MediaType: "application/json", Content: []byte(body)}}
	if err := traffic.Assemble(out, "", []string{"/a", "/b/c", "/b/c"}, carried, blocks); err != nil {
		t.Fatal(err)
	}
	s, result := drivenBy(t, contract.Load{
		Rate: 10_000, Arrival: contract.Recorded, Trace: &contract.Trace{File: name, Begins: 4, Speed: 1},
		Classes: []contract.Class{{Name: "GET", DownBytes: 100, Method: "GET"}, {Name: "POST", UpBytes: 20, DownBytes: 100, Method: "POST", Path: "/own"}},
	}, "")
	asked := s.asked
	if json, random := s.heads["all POST application/json text/plain"], s.heads["all POST application/octet-stream text/plain"]; !s.got[body] || len(s.got) != 3 || json != asked["POST /b/c 20"] || random == 0 {
		t.Errorf("came %v, %v", s.got, s.heads)
	}
	for _, want := range []string{"GET /a 0", "GET /b/c 0", "POST /a 20", "POST /b/c 20", "GET /exchange 0", "POST /own 20"} {
		if asked[want] == 0 {
			t.Errorf("nobody asked for %q: %v", want, asked)
		}
	}
	if len(asked) != 6 || result.Classes[0].Exchanges == 0 || result.Classes[1].SentBytes != 20*result.Classes[1].Exchanges {
		t.Errorf("%v, %+v", asked, result.Classes)
	}
}
