package foreign_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/websocket"

	"netdyno/test/loopback"
)

// Another's server of WebSocket takes the messages that netdyno says it sent.
func TestAWebSocketOfAnothersIsMeasured(t *testing.T) {
	need(t, nil, "go-websocket")
	var taken atomic.Int64
	handler := websocket.Server{Handler: func(c *websocket.Conn) {
		for {
			var message string
			if websocket.Message.Receive(c, &message) != nil {
				return
			}
			taken.Add(1)
			for range 1 + strings.Count(message, "+") {
				_ = websocket.Message.Send(c, message) // an end shows in the next one
			}
		}
	}}
	s := loopback.HTTP(t, func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) })
	for what, args := range map[string][]string{
		"messages":         {"--data", "hello", "-n", "200", "-c", "4"},
		"a new connection": {"--data", "hello", "-n", "40", "-c", "4", "-H", "Connection: close"},
		"events":           {"--data", "1+2+3", "--events", "3", "-n", "20", "-c", "2"},
	} {
		t.Run(what, func(t *testing.T) {
			taken.Store(0)
			sent, screen := measure(t, append([]string{"ws://" + s.Addr + "/"}, args...)...)
			sent.agrees(t, taken.Load(), false)
			if what == "events" && !strings.Contains(screen, "first event") {
				t.Errorf("it says nothing of events: %s", screen)
			}
		})
	}
}
