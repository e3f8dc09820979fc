package foreign_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/test/loopback"
)

// Clients that follow replies in events count the same ones, and end the same replies.
func TestRepliesInEventsAreFollowed(t *testing.T) {
	const amount = 20
	part := func(w http.ResponseWriter, text string) {
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
	}
	server := loopback.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		switch r.URL.Path {
		case "/five":
			for range 5 {
				part(w, ": ping\n\ndata: a\n\n")
			}
		case "/lines":
			part(w, "{}\n{}\n")
			part(w, "{}")
		case "/endless":
			for r.Context().Err() == nil {
				part(w, "data: a\n\n")
			}
		case "/still":
			part(w, "{}\n{}\n")
			<-r.Context().Done()
		case "/chat":
			for _, text := range []string{`{"delta":{"role":"assistant"}}`, `{"delta":{"content":"a"}}`, `{"text":"b"}`} {
				part(w, `data: {"choices":[`+text+"]}\n\n")
			}
			part(w, "data: [DONE]\n\n")
		}
	})
	for name, c := range map[string]struct {
		path, options string
		events        int64 // of a reply
	}{
		"server-sent events": {"/five", "events=sse", 5},
		"whole bodies":       {"/five", `events=sse verify=regexp expected=data.*\n\n$`, 5},
		"lines":              {"/lines", "events=lines", 3},
		"a chat":             {"/chat", "events=chat", 2},
		"so many":            {"/endless", "events=sse most_events=3", 3},
		"still for so long":  {"/still", `events=lines verify=regexp expected=^{}\n{}\n$ events_for=50ms`, 2},
		"so long":            {"/endless", "events=sse events_for=10ms", 0},
	} {
		for _, client := range []string{"go-http1", "http1-uring", "http1-asio"} {
			t.Run(name+", "+client, func(t *testing.T) {
				t.Parallel()
				need(t, nil, "address", client)
				argv := []string{"client=" + client, "server=address", "opt.server.wire=http/1.1", "opt.server.address=" + server.Addr,
					"events=yes", "request=0B", fmt.Sprint("amount=", amount), "opt.client.path=" + c.path}
				options := "verify=status " + c.options
				if strings.Contains(c.options, "verify=") {
					options = c.options
				}
				for _, option := range strings.Fields(options) {
					argv = append(argv, "opt.client."+option)
				}
				r := trial(t, argv...)
				completed(t, r, 2*amount)
				for _, w := range r.Workers {
					if w.Role != contract.Client {
						continue
					}
					if n := w.Result.Events.Count; c.events == 0 && n < 2*amount || c.events > 0 && n != 2*amount*c.events {
						t.Errorf("%d events of %d replies; expected %d of each", n, 2*amount, c.events)
					}
					if w.Result.Counts.ReceivedBytes == 0 {
						t.Error("no bytes came")
					}
				}
			})
		}
	}
}
