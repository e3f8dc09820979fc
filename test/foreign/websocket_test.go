package foreign_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/websocket"

	"netdyno/test/loopback"
)

// Another's server of WebSocket takes the messages that netdyno says it sent.
func TestAWebSocketOfAnothersIsMeasured(t *testing.T) {
	need(t, nil, "go-websocket")
	var taken atomic.Int64
	var met sync.Map // messages
	handler := websocket.Server{Handler: func(c *websocket.Conn) {
		for {
			var message string
			if websocket.Message.Receive(c, &message) != nil {
				return
			}
			taken.Add(1)
			met.Store(message, true)
			for range 1 + strings.Count(message, "+") {
				_ = websocket.Message.Send(c, message) // an end shows in the next one
			}
		}
	}}
	s := loopback.HTTP(t, func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) })
	rows := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(rows, []byte("id,name\n1,ann\n2,\"b\"\"ob\"\n3,cy\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, args := range map[string][]string{
		"messages":         {"--data", "hello", "-n", "200", "-c", "4"},
		"a new connection": {"--data", "hello", "-n", "40", "-c", "4", "-H", "Connection: close"},
		"rows":             {"--data", `{"id": {id}, "name": "{name}"}`, "--data-from", rows, "-n", "30", "-c", "3"},
		"events":           {"--data", "1+2+3", "--events", "3", "-n", "20", "-c", "2"},
	} {
		t.Run(what, func(t *testing.T) {
			taken.Store(0)
			sent, screen := measure(t, append([]string{"ws://" + s.Addr + "/"}, args...)...)
			sent.agrees(t, taken.Load(), false)
			if what == "events" && !strings.Contains(screen, "first event") {
				t.Errorf("it says nothing of events: %s", screen)
			}
			if what == "rows" {
				for _, want := range []string{`{"id": 1, "name": "ann"}`, `{"id": 2, "name": "b\"ob"}`, `{"id": 3, "name": "cy"}`} {
					if _, came := met.Load(want); !came {
						t.Errorf("nobody sent %s: %s", want, screen)
					}
				}
			}
		})
	}
}
