package target

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"

	"netdyno/internal/quantity"
)

// streamed is how long the reply of a stream's type may go on after its head.
var streamed = 14 * time.Second

// course is how far a request came, each stage with how long after the one before. A
// transport tells it from goroutines of its own.
type course struct {
	mu      sync.Mutex
	last    time.Time
	stages  []string // "connected in 0.2 ms", "TLS in 3 ms"
	asked   bool
	shaking bool // a handshake of TLS has begun and not ended
	reused  bool
	conn    net.Conn

	status, kind string // of the reply, once its head is there
	bytes        int64  // of its body
	endless      bool   // it was ended here
}

func (c *course) stage(words string) {
	now := time.Now()
	c.stages = append(c.stages, words+" in "+shortly(now.Sub(c.last)))
	c.last = now
}

// shortly writes a duration with two digits.
func shortly(d time.Duration) string { return quantity.FormatDuration(max(d, 0)) }

// trace adds the course to a request's context.
func (c *course) trace(ctx context.Context) context.Context {
	locked := func(f func()) {
		c.mu.Lock()
		defer c.mu.Unlock()
		f()
	}
	c.last = time.Now()
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				locked(func() { c.stage("connected") })
			}
		},
		TLSHandshakeStart: func() { locked(func() { c.shaking = true }) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				locked(func() { c.shaking = false; c.stage("TLS") })
			}
		},
		GotConn:      func(i httptrace.GotConnInfo) { locked(func() { c.reused, c.conn = i.Reused, i.Conn }) },
		WroteRequest: func(httptrace.WroteRequestInfo) { locked(func() { c.asked, c.last = true, time.Now() }) },
	})
}

// head notes a reply's head. One whose type is of a stream is ended where it goes on for
// long; the function that is returned keeps it from that.
func (c *course) head(r *http.Response) (ended func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = quantity.Clip(r.Status, 60)
	c.stage(c.status)
	c.kind, _, _ = strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.HasPrefix(c.kind, "text/event-stream") && !strings.HasPrefix(c.kind, "multipart/x-mixed-replace") && !strings.Contains(c.kind, "ndjson") {
		return func() bool { return true }
	}
	return time.AfterFunc(streamed, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.endless = true; c.conn != nil {
			_ = c.conn.Close() // its read says so
		}
	}).Stop
}

// astray is a request's error with its course.
type astray struct {
	error
	*course
}

func (e astray) Unwrap() error { return e.error }

// answered tells whether the head of a reply came.
func (c *course) answered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status != ""
}

// ended tells whether the request was ended here, as its reply did not end.
func (c *course) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.endless
}

// soFar are the stages in words: "connected in 0.2 ms, TLS in 3 ms, no byte of a reply in 30 s",
// or "… ended 1 ms after the request" where the peer ended it.
func (c *course) soFar(ended bool) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	stages := c.stages
	if c.reused {
		stages = append([]string{"a connection that was kept"}, stages...)
	}
	after := shortly(time.Since(c.last))
	switch {
	case c.status != "":
	case ended && c.shaking:
		stages = append(stages, "ended "+after+" after the TLS handshake began")
	case ended && c.asked:
		stages = append(stages, "ended "+after+" after the request")
	case c.shaking:
		stages = append(stages, "no end of the TLS handshake in "+after)
	case c.asked:
		stages = append(stages, "no byte of a reply in "+after)
	case len(stages) == 0:
		stages = append(stages, "no connection in "+after)
	}
	return strings.Join(stages, ", ")
}

// overdue says what is true of a request that did not end in time.
func (e astray) overdue(u *url.URL, within time.Duration) error {
	so := e.soFar(false)
	if e.status == "" {
		return fmt.Errorf("%s did not answer a request within %v: %s", address(u), within, so)
	}
	if e.ended() {
		within = streamed
	}
	kind := ""
	if e.kind != "" {
		kind = " of " + quantity.Clip(e.kind, 60)
	}
	return fmt.Errorf("%s answers %s, and the reply does not end: %s%s within %v (%s). Whole replies are timed, and a stream has no end: ask for one that ends, by another path or a limit in the query",
		u, e.status, quantity.FormatBytes(float64(e.bytes)), kind, within, so)
}
