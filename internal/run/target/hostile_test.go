package target_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netdyno/internal/run/target"

	"netdyno/test/loopback"
)

// framed is a message of gRPC as it crosses the wire, which says that it has n bytes.
func framed(flag byte, n int, message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(n)), message...)
}

// A server that breaks the protocol within a stream is refused in one sentence.
func TestAHostileStreamIsOneSentence(t *testing.T) {
	proto := filepath.Join(t.TempDir(), "s.proto")
	if err := os.WriteFile(proto, []byte(`syntax = "proto3"; package p; message M { string text = 1; } service S { rpc Down(M) returns (stream M); }`), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := framed(0, 3, []byte("\x0a\x01a"))
	for name, c := range map[string]struct {
		encoding, kind string
		body           []byte
		ends, abort    bool
		want           string
	}{
		"no message of the type":      {body: framed(0, 3, []byte("\x0a\x09a")), ends: true, want: "do not decode"},
		"text that is no UTF-8":       {body: framed(0, 3, []byte("\x0a\x01\xff")), ends: true, want: "do not decode"},
		"packed, no encoding said":    {body: framed(1, 3, []byte("abc")), ends: true, want: "answers Internal"},
		"packed by what is unknown":   {body: framed(1, 3, []byte("abc")), encoding: "br", ends: true, want: "packs its reply by"},
		"packed, a lie":               {body: framed(1, 3, []byte("abc")), encoding: "gzip", ends: true, want: "answers Internal"},
		"a prefix of 4 GiB":           {body: framed(0, 1<<32-1, nil), ends: true, want: "answers ResourceExhausted"},
		"a prefix beyond the body":    {body: framed(0, 9, []byte("abc")), ends: true, want: "answers Internal"},
		"no trailers":                 {body: whole, want: "answers Internal"},
		"a page of HTML":              {kind: "text/html", body: []byte("<html>\x1b[31m"), ends: true, want: "text/html"},
		"a reset within a message":    {body: framed(0, 9, []byte("abc")), abort: true, want: "answers Internal"},
		"nothing, and a status of OK": {ends: true, want: "brings no events"},
	} {
		t.Run(name, func(t *testing.T) {
			at := loopback.HTTP(t, func(w http.ResponseWriter, _ *http.Request) {
				h := w.Header()
				if h.Set("Content-Type", "application/grpc"); c.kind != "" {
					h.Set("Content-Type", c.kind)
				}
				if c.encoding != "" {
					h.Set("Grpc-Encoding", c.encoding)
				}
				w.WriteHeader(http.StatusOK)
				_, _ = w.Write(c.body)
				_ = http.NewResponseController(w).Flush()
				if c.abort {
					panic(http.ErrAbortHandler)
				}
				if c.ends {
					h.Set(http.TrailerPrefix+"Grpc-Status", "0")
				}
			}).Addr
			refused(t, target.Target{URL: "grpc://" + at + "/p.S/Down", Proto: proto}, c.want)
		})
	}
	flood := loopback.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		for data := bytes.Repeat(whole, 1000); r.Context().Err() == nil; {
			if _, err := w.Write(data); err != nil {
				return
			}
		}
	}).Addr
	asked := target.Target{URL: "grpc://" + flood + "/p.S/Down", Proto: proto, Events: target.Events{Follow: true, Lasts: 100 * time.Millisecond}}
	levels(t, asked, map[string]string{"opt.client.events_for": "100ms"})
}

// So is one that breaks off a reply in events, or whose events cannot be told.
func TestEventsThatBreakOffAreOneSentence(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	chunked, event := head+"Transfer-Encoding: chunked\r\n\r\n", "9\r\ndata: a\n\n\r\n"
	data := "data: {\"error\":{\"message\":\"out of \\u001b[31mmemory\"}}\n\n"
	for reply, want := range map[string]string{
		head + "Content-Length: 100\r\n\r\ndata: a\n\n": "ends the connection within the reply",
		chunked + event: "ends the connection within the reply",
		chunked + event + "fffffffffffffffff\r\nda":                "chunk",
		chunked + "5\r\ndata: a\n\n\r\n0\r\n\r\n":                  "chunk",
		head + "Content-Encoding: gzip\r\n\r\n\x1f\x8b":            "it is packed (Content-Encoding: gzip)",
		head + "\r\n: ping\n\n":                                    "brings no events",
		head + "\r\n" + data:                                       "breaks the reply off: out of ",
		head + "\r\ndata: {" + strings.Repeat("x", 2<<20) + "\n\n": "more than 1 MiB",
	} {
		at := loopback.Serve(t, func(conn net.Conn) {
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, reply)
		})
		asked := target.Target{URL: "http://" + at + "/", Events: target.Events{Follow: true, Chat: strings.Contains(reply, "{")}}
		refused(t, asked, want)
	}
}

// What is expected of a reply is expected of one in events, too.
func TestEventsAreMatched(t *testing.T) {
	at := loopback.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("{\"a\": 1}\n", 5))
		if r.URL.Path == "/endless" {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}).Addr
	asked := target.Target{URL: "http://" + at + "/", Events: target.Events{Follow: true, Lasts: 100 * time.Millisecond}, Expect: "regexp:a.*1"}
	levels(t, asked, map[string]string{"opt.client.verify": "regexp", "events": "yes"})
	asked.URL += "endless"
	levels(t, asked, map[string]string{"opt.client.verify": "regexp", "events": "yes"})
	asked.Expect = "regexp:b"
	refused(t, asked, `no match of "b"`)
	asked.Expect = "body"
	refused(t, asked, "looks at whole replies, and these are ended here")
}
