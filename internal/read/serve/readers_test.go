package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netdyno/internal/read/follow"
	"netdyno/internal/read/report"
)

// Many readers cost one reading of the run, one beyond the bound is told so, and the
// server ends while all of them are there.
func TestReadersShareOneReading(t *testing.T) {
	const readers = 1000
	run := begin(t, filepath.Join(t.TempDir(), "run"), asItIs)
	results, err := follow.Open(run.dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &server{Options: options(results), feeds: newFeeds(ctx, results), built: newBuilder(), slow: slowTimeout}
	streams := make([]*stream, readers)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: s.guard(s.routes()), ReadHeaderTimeout: headerTimeout, BaseContext: func(net.Listener) context.Context { return ctx }}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	for i := range streams {
		streams[i] = opened(t, "http://"+listener.Addr().String()+"/runs/run/events")
	}
	run.add(1)
	for _, each := range streams {
		each.until("progress", "1 of 48")
	}
	s.feeds.mu.Lock()
	if followers := s.feeds.byName["run"].followers; len(s.feeds.byName) != 1 || followers != readers {
		t.Errorf("%d readings for %d followers, want one for %d", len(s.feeds.byName), followers, readers)
	}
	s.feeds.followers = maxFollowers
	s.feeds.mu.Unlock()
	if status, text := get(t, "http://"+listener.Addr().String()+"/runs/run/events"); status != http.StatusServiceUnavailable || !strings.Contains(text, fmt.Sprint(maxFollowers)) {
		t.Errorf("one reader too many: status %d: %s", status, text)
	}
	cancel()
	for _, each := range streams {
		for each.lines.Scan() {
		}
	}
	s.feeds.wait()
	http.DefaultClient.CloseIdleConnections()
	_ = web.Close()
	<-served
	run.end()
}

// A reader who takes nothing is dropped, and nobody waits for it meanwhile.
func TestASlowReaderIsDropped(t *testing.T) {
	client, connection := net.Pipe() // takes nothing until it is read
	defer client.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	one := &feed{changed: make(chan struct{}), stop: cancel, followers: 1}
	s := &server{feeds: &feeds{ctx: ctx, byName: map[string]*feed{"run": one}, followers: 1}, slow: time.Nanosecond}
	ended := make(chan struct{})
	web := &http.Server{ReadHeaderTimeout: headerTimeout, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		s.events(w, r, "run")
	})}
	listener := onlyOne(connection)
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	one.publish(report.LiveHead{}, []change{{id: "now", text: []byte("text")}}, false) // returns at once
	<-ended
	if s.feeds.followers != 1 {
		t.Errorf("%d followers, want the one that was there before", s.feeds.followers)
	}
	_ = web.Close()
	<-served
}

// oneConnection is a listener that accepts one connection and then waits for its end.
type oneConnection struct {
	net.Listener
	connections chan net.Conn
	closed      chan struct{}
}

func onlyOne(c net.Conn) *oneConnection {
	l := &oneConnection{connections: make(chan net.Conn, 1), closed: make(chan struct{})}
	l.connections <- c
	return l
}

func (l *oneConnection) Accept() (net.Conn, error) {
	select {
	case c := <-l.connections:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *oneConnection) Close() error   { close(l.closed); return nil }
func (l *oneConnection) Addr() net.Addr { return &net.TCPAddr{} }
