package workertest

import (
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"netdyno/internal/contract"
)

// written is when a server began and ended what it did for one exchange.
type written struct {
	came, first time.Time // the request, and its reply's first message
	second      time.Time // the end of the second: the client has read all of the first by then
	last        time.Time // the start of the last
}

// EventsAreThoseWritten demands that a client of HTTP/1.1 tells the messages of replies between the instants at
// which a server wrote them. They are larger than what kernels keep of a connection, so that
// the server knows when the client has read on; nothing depends on how long that takes.
func EventsAreThoseWritten(t *testing.T, transport string, drive func(*testing.T, contract.Setup) contract.Result) {
	t.Helper()
	const bytes, messages, amount, held = 16 << 20, 3, 3, 20 * time.Millisecond
	var mu sync.Mutex
	var all []written // the first is verified
	message := make([]byte, bytes)
	at, _ := ServeRequests(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := written{came: time.Now()}
		_, _ = io.Copy(io.Discard, r.Body)
		for _, each := range []*time.Time{&now.first, &now.second, &now.last} {
			if each != &now.second {
				time.Sleep(held)
				*each = time.Now()
			}
			if _, err := w.Write(message); err != nil || http.NewResponseController(w).Flush() != nil {
				return // the client says why
			}
			if each == &now.second {
				*each = time.Now()
			}
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, now)
	}), false, false)
	setup := contract.Setup{
		Transport: transport, Role: contract.Client, Peers: []string{at}, Events: true,
		Exchange: contract.Exchange{Stream: contract.StreamDown, ChunkBytes: bytes, DownBytes: messages * bytes},
		Load:     contract.Load{Connections: 1, Amount: amount}, Options: map[string]any{"verify": "length"},
	}
	result := drive(t, setup)
	ended := time.Now()
	mu.Lock()
	defer mu.Unlock()
	if e := result.Events; e == nil || e.Count != amount*messages || len(all) != amount+1 {
		t.Fatalf("events %+v of %d replies, want %d of %d; counts %+v, %+v", e, len(all), amount*messages, amount+1, result.Counts, result.Reasons)
	}
	first, gaps := sum(t, result.Events.First, amount), sum(t, result.Events.Gaps, amount*(messages-1))
	var leastFirst, leastGaps, mostGaps, least time.Duration
	for i, w := range all[1:] {
		next := ended
		if i+2 < len(all) {
			next = all[i+2].came
		}
		leastFirst += w.first.Sub(w.came)
		leastGaps += w.last.Sub(w.second)
		mostGaps += next.Sub(w.first)
		least += w.last.Sub(w.came)
	}
	for _, c := range []struct {
		what             string
		got, least, most time.Duration
	}{
		{"times to first events", first, leastFirst, ended.Sub(all[0].last) - leastGaps},
		{"gaps", gaps, leastGaps, mostGaps},
		{"both", first + gaps, least, ended.Sub(all[0].last)},
	} {
		const precision = 0.01 // of histograms, and more
		if float64(c.got) < float64(c.least)*(1-precision) || float64(c.got) > float64(c.most)*(1+precision) {
			t.Errorf("%s: %s are %v in all, want %v to %v by the server's clock", transport, c.what, c.got, c.least, c.most)
		}
	}
}

// sum is that of a histogram's times, of which there are to be so many.
func sum(t *testing.T, text string, count int64) time.Duration {
	t.Helper()
	return time.Duration(histogram(t, text, count).MeanNs() * float64(count))
}
