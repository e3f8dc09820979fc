package target_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"

	"netdyno/internal/run/target"
	"netdyno/internal/websocket/websockettest"
	"netdyno/test/loopback"
)

// sockets is a server of WebSocket by another library.
func sockets() http.Handler {
	mux := http.NewServeMux()
	handle := func(path string, conversation func(*websocket.Conn)) {
		mux.Handle(path, websocket.Server{Handler: conversation})
	}
	answers := func(c *websocket.Conn, answer func(string) string) {
		for message := ""; websocket.Message.Receive(c, &message) == nil; {
			_ = websocket.Message.Send(c, answer(message)) // an end shows in the next message
		}
	}
	handle("/echo", func(c *websocket.Conn) {
		for message := []byte(nil); websocket.Message.Receive(c, &message) == nil; {
			_ = websocket.Message.Send(c, message) // as above
		}
	})
	handle("/json", func(c *websocket.Conn) {
		answers(c, func(m string) string {
			return fmt.Sprintf(`{"ok":true,"was":%q,"key":%q}`, m, c.Request().Header.Get("X-Key"))
		})
	})
	handle("/greets", func(c *websocket.Conn) {
		_ = websocket.Message.Send(c, "hello") // as above
		answers(c, func(m string) string { return m })
	})
	handle("/three", func(c *websocket.Conn) {
		for range 3 {
			_ = websocket.Message.Send(c, "event")
		}
		_ = c.WriteClose(1000)
		_, _ = io.Copy(io.Discard, c)
	})
	handle("/feed", func(c *websocket.Conn) {
		for websocket.Message.Send(c, "event") == nil {
			time.Sleep(time.Millisecond)
		}
	})
	handle("/mute", func(c *websocket.Conn) { _, _ = io.Copy(io.Discard, c) })
	handle("/closes", func(c *websocket.Conn) { _ = c.WriteClose(1011) })
	mux.Handle("/moved", http.RedirectHandler("/echo", http.StatusFound))
	return mux
}

func TestWebSocket(t *testing.T) {
	s := httptest.NewServer(sockets())
	defer s.Close()
	at := strings.Replace(s.URL, "http", "ws", 1)
	f := levels(t, target.Target{URL: at + "/echo"}, map[string]string{
		"client": "go-websocket", "opt.server.wire": "websocket", "request": "100B", "response": "100B", "opt.client.message": "text", "opt.client.path": "/echo",
		"opt.client.verify": "status", "fresh": "", "events": "",
	})
	if f.Asked != 3 || !strings.Contains(f.Words, "101 Switching Protocols, echo of 100 bytes") {
		t.Errorf("%d messages, %q", f.Asked, f.Words)
	}
	levels(t, target.Target{URL: at + "/echo?a=1", Body: "\xff\x00", Close: true}, map[string]string{"opt.client.message": "binary", "request": "2B", "fresh": "yes", "opt.client.path": "/echo?a=1"})
	levels(t, target.Target{URL: at + "/json", Body: "hi", Headers: []string{"X-Key: 7"}, Expect: "json:$.key == \"7\""}, map[string]string{
		"opt.client.verify": "json", "opt.client.headers": "X-Key: 7", "opt.client.body": "hi",
	})
	refused(t, target.Target{URL: at + "/json", Expect: "regexp:none"}, "--expect regexp:none needs it of every reply")
	refused(t, target.Target{URL: at + "/greets"}, "sends messages that answer none")
	refused(t, target.Target{URL: at + "/mute", Limit: 100 * time.Millisecond}, "answered 0 of 1 messages within 100ms")
	refused(t, target.Target{URL: at + "/mute", Limit: 100 * time.Millisecond, Events: target.Events{Follow: true}}, "sent no message within 100ms")
	refused(t, target.Target{URL: at + "/closes"}, "closes the connection with 1011")
	refused(t, target.Target{URL: at + "/moved"}, "redirects to /echo")
	refused(t, target.Target{URL: at + "/none"}, "answers 404 Not Found")
	refused(t, target.Target{URL: strings.Replace(at, "ws", "wss", 1) + "/echo"}, "speaks no TLS; measure ws://")
	refused(t, target.Target{URL: at + "/feed", Expect: "length", Events: target.Events{Follow: true}}, "each message is an event")
}

func TestMessagesAreFollowedAsEvents(t *testing.T) {
	s := httptest.NewTLSServer(sockets())
	defer s.Close()
	at := strings.Replace(s.URL, "http", "ws", 1)
	for url, c := range map[string]struct {
		events     target.Events
		most, time string
	}{
		"/three": {target.Events{Follow: true}, "", ""},
		"/feed":  {target.Events{Follow: true, Most: 5}, "5", ""},
		"/feed?": {target.Events{Follow: true, Lasts: 50 * time.Millisecond}, "", "50ms"},
	} {
		f := levels(t, target.Target{URL: at + url, Insecure: true, Events: c.events}, map[string]string{
			"events": "yes", "fresh": "yes", "tls": "yes", "opt.client.message": "none", "request": "0B", "opt.client.events": "",
			"opt.client.most_events": c.most, "opt.client.events_for": c.time,
		})
		if !strings.Contains(f.Words, "messages in ") {
			t.Errorf("%s: it says %q", url, f.Words)
		}
	}
	refused(t, target.Target{URL: at + "/feed"}, "signed by itself")
	refused(t, target.Target{URL: strings.Replace(at, "wss", "ws", 1) + "/feed"}, "speaks TLS: measure wss://")
}

func TestAWebSocketWithoutEndIsRefused(t *testing.T) {
	for what, endless := range map[string]string{"handshake": "H", "pings": "\x89\x00", "fragments": strings.Repeat("\x00\x00", 1000)} {
		at := loopback.Serve(t, func(conn net.Conn) {
			if what != "handshake" {
				websockettest.Shake(conn, "")
			}
			go func() { _, _ = io.Copy(io.Discard, conn) }() // pongs
			if what == "fragments" {
				_, _ = io.WriteString(conn, "\x02\x00")
			}
			for err := error(nil); err == nil; _, err = io.WriteString(conn, endless) {
				time.Sleep(time.Millisecond) // slowly
			}
		})
		refused(t, target.Target{URL: "ws://" + at + "/", Body: "hello", Limit: 100 * time.Millisecond}, "within 100ms")
	}
}

// Every server that misbehaves is refused in words, within the limit.
func TestWhatAWebSocketDoesWrongIsSaid(t *testing.T) {
	for what, wrong := range websockettest.Servers {
		t.Run(what, func(t *testing.T) {
			_, err := target.Ask(t.Context(), target.Target{URL: "ws://" + wrong.Serve(t) + "/", Body: "hello", Limit: 10 * time.Second})
			if err == nil || strings.ContainsAny(err.Error(), "\x00\x1b\n") {
				t.Errorf("%q", err)
			}
		})
	}
}
