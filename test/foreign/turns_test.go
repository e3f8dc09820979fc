package foreign_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netdyno/internal/hist"
	"netdyno/internal/record"
	"netdyno/test/programs"
	"netdyno/test/trials"
)

// pausing answers at once, but for a time after each period, in which nobody is answered.
type pausing struct {
	every, stands time.Duration
	mu            sync.Mutex
	began         time.Time
	connections   atomic.Int64
}

// ServeHTTP implements http.Handler.
func (p *pausing) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock() // who comes in a pause waits for its end, as everybody does
	if at := time.Since(p.began) % p.every; at < p.stands {
		time.Sleep(p.stands - at)
	}
	p.mu.Unlock()
	_, _ = w.Write([]byte("hello"))
}

// No pause of a server hides between two trials of a run by URL: connections open once, and
// in the histograms of all trials together lie the waits of everybody who came in a pause.
func TestAPauseHidesInNoGap(t *testing.T) {
	programs.Whole(t)
	for _, client := range []string{"go-http1", "http1-uring"} {
		t.Run(client, func(t *testing.T) {
			p := &pausing{every: time.Second, stands: 300 * time.Millisecond, began: time.Now()}
			s := httptest.NewUnstartedServer(p)
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					p.connections.Add(1)
				}
			}
			s.Start()
			defer s.Close()
			out, probes := "", int64(0)
			trials.Repeat(func() bool {
				out, probes = filepath.Join(t.TempDir(), "out"), p.connections.Load()
				c := exec.CommandContext(t.Context(), filepath.Join(bin, "netdyno"), s.URL+"/", "-c", "4", "-q", "100", "-d", "6s", "client="+client, "--out", out)
				screen, err := c.CombinedOutput()
				if err != nil && c.ProcessState.ExitCode() != 1 {
					t.Fatalf("%v: %s", err, screen)
				}
				return err != nil // a busy machine left no valid trial
			})
			run, err := record.Read(filepath.Join(out, "records.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			all, stood := hist.New(), 0
			for _, r := range run.Records {
				for i := range r.Workers {
					if w := &r.Workers[i]; w.Name == "client-1" && w.Result != nil {
						h, err := hist.Decode(w.Result.Response)
						if err != nil || h.Count() != w.Result.Counts.Exchanges+w.Result.Drained {
							t.Errorf("%s: %d times of %d exchanges (%v)", r.Trial.ID, h.Count(), w.Result.Counts.Exchanges, err)
						}
						all.Merge(h)
					}
				}
			}
			for ns, n := range all.Steps().All() {
				if ns > int64(100*time.Millisecond) {
					stood += int(n)
				}
			}
			// Of each second 300 ms stand; who comes in the first 200 ms of them waits 100 ms or more.
			if share := float64(stood) / float64(all.Count()); share < 0.15 || all.Count() < 500 {
				t.Errorf("%.3f of %d requests waited for a pause, want 0.2", share, all.Count())
			}
			if n := p.connections.Load() - probes; n > 4+12 { // those of the probes, each its own
				t.Errorf("%d connections were made, want those of one load", n)
			}
		})
	}
}
