package serve

import (
	"net/http"
	"time"
)

const (
	// slowTimeout is how long a reader may take for what is sent to it.
	slowTimeout = 10 * time.Second

	// beatEvery is how often something is sent at the least, so that a reader who is
	// gone is noticed.
	beatEvery = 15 * time.Second
)

// The ends of a stream: the browser is to come back after an interruption, and not
// after the run's end.
var (
	beginning = []byte("retry: 2000\n\n")
	beat      = []byte(":\n\n")
	ending    = event("over", []byte("over"))
)

// events follows a run for one reader. A reader who is too slow is dropped; the
// browser comes back and takes the latest state.
func (s *server) events(w http.ResponseWriter, r *http.Request, name string) {
	feed, err := s.feeds.join(name)
	if err != nil {
		fail(w, err)
		return
	}
	defer s.feeds.leave(name, feed)
	to := http.NewResponseController(w)
	if err := to.SetReadDeadline(time.Time{}); err != nil { // the request's own would end the stream
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	send := func(messages ...[]byte) bool {
		if to.SetWriteDeadline(time.Now().Add(s.slow)) != nil {
			return false
		}
		for _, m := range messages {
			if _, err := w.Write(m); err != nil {
				return false
			}
		}
		return to.Flush() == nil
	}
	for version, alive := 0, send(beginning); alive; {
		messages, now, over, next := feed.since(version)
		version = now
		if over {
			messages = append(messages, ending)
		}
		if len(messages) > 0 {
			alive = send(messages...)
		}
		if over {
			return
		}
		wait := time.NewTimer(beatEvery)
		select {
		case <-r.Context().Done():
			alive = false
		case <-next:
		case <-wait.C:
			alive = alive && send(beat)
		}
		wait.Stop()
	}
}
