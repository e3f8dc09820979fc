package foreign_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	judge "netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/bench/benchtest"
	"netdyno/test/loopback"
)

// judged is a trial of an HTTP server at an address as the reader sees it.
func judged(t *testing.T, address string, args ...string) *judge.Judged {
	t.Helper()
	if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "connections=") }) {
		args = append(args, "connections=2")
	}
	_, trials := benchtest.Plan(t, append([]string{
		"blocks=1", "placement=free", "client=http1-uring", "server=address", "opt.server.wire=http/1.1", "opt.server.address=" + address,
		"opt.client.verify=length", "request=0B", "response=5B", "warmup=100ms",
	}, args...)...)
	b := benchtest.In(bin, &catalog)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := benchtest.Conduct(ctx, t, b, trials[:1])[0]
	if r.Outcome != record.OK {
		t.Fatalf("the trial is %s: %+v", r.Outcome, r.Failure)
	}
	v := &judge.Judged{Plan: r.Trial, Record: &r}
	judge.JudgeAll([]*judge.Judged{v})
	return v
}

// A server of somebody else's is read by its own sockets: Nagle's algorithm there shows.
func TestASecondWriteThatWaitsForAnAcknowledgement(t *testing.T) {
	need(t, nil, "address", "http1-uring")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answerInParts(conn)
		}
	}()
	v := judged(t, l.Addr().String(), "window=2s")
	if !slices.ContainsFunc(v.Trial.Flags, func(f string) bool { return f == judge.PlateauDelayedACK }) {
		t.Errorf("flags %v, %q; want %s", v.Trial.Flags, v.Trial.Reason, judge.PlateauDelayedACK)
	}
	if v.Trial.Limit != judge.DelayedACK || !strings.Contains(v.Trial.LimitProof, "the server sent ") {
		t.Errorf("limit %s (%s); want %s by the server's own sockets", v.Trial.Limit, v.Trial.LimitProof, judge.DelayedACK)
	}
}

// answerInParts answers each request by a write of the head and one of the body, with
// Nagle's algorithm on.
func answerInParts(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	if err := conn.(*net.TCPConn).SetNoDelay(false); err != nil {
		return
	}
	buffer := make([]byte, 4096)
	for {
		if _, err := conn.Read(buffer); err != nil {
			return
		}
		for _, part := range []string{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "hello"} {
			if _, err := conn.Write([]byte(part)); err != nil {
				return
			}
		}
	}
}

// A limiter is named although its refusals keep every CPU busy.
func TestALimiterIsNamed(t *testing.T) {
	need(t, nil, "address", "http1-uring")
	var mu sync.Mutex
	begun, granted := time.Now(), 0.0
	server := loopback.HTTP(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if granted > 20+200*time.Since(begun).Seconds() {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		granted++
		_, _ = w.Write([]byte("hello"))
	})
	v := judged(t, server.Addr, "window=500ms", "max_errors=100%")
	if v.Trial.Limit != judge.Limiter || !strings.Contains(v.Trial.LimitProof, "429 Too Many Requests") {
		t.Errorf("limit %s (%s); want %s", v.Trial.Limit, v.Trial.LimitProof, judge.Limiter)
	}
}

// A pool shows over several numbers of connections, and one number tells nothing of it.
func TestAPoolIsNamed(t *testing.T) {
	need(t, nil, "address", "http1-uring")
	places := make(chan struct{}, 4)
	server := loopback.HTTP(t, func(w http.ResponseWriter, _ *http.Request) {
		places <- struct{}{}
		time.Sleep(50 * time.Millisecond)
		<-places
		_, _ = w.Write([]byte("hello"))
	})
	var all []*judge.Judged
	for _, n := range []string{"1", "2", "4", "8", "16"} {
		all = append(all, judged(t, server.Addr, "window=1s", "connections="+n))
	}
	if before := all[4].Trial; before.Limit != judge.Latency {
		t.Skipf("other programs disturb it: limit %s (%s)", before.Limit, before.LimitProof)
	}
	judge.LimitByPool(all)
	if last := all[4].Trial; last.Limit != judge.Pool || !strings.Contains(last.LimitProof, "serves 4 at a time") {
		t.Errorf("limit %s (%s); want a pool of 4", last.Limit, last.LimitProof)
	}
}
