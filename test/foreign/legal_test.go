package foreign_test

import (
	"sync/atomic"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// counting is a server of a test, and how many requests it has taken.
type counting struct {
	address string
	taken   atomic.Int64
}

// agrees demands a valid trial whose clients counted what the server took, but for one
// verification on each connection, and that connected again or not.
func (s *counting) agrees(t *testing.T, r record.Record, verified int64, again bool) {
	t.Helper()
	if r.Outcome != record.OK {
		t.Fatalf("the trial is %s: %v", r.Outcome, r.Failure)
	}
	var counted, failed, redialled int64
	for _, w := range r.Workers {
		if w.Result != nil && w.Role == contract.Client {
			counted += w.Result.Counts.Exchanges
			redialled += w.Result.Counts.Redialled
			for _, n := range w.Result.Counts.Errors {
				failed += n
			}
		}
	}
	if taken := s.taken.Load(); counted == 0 || counted+verified != taken || failed != 0 {
		t.Errorf("the clients counted %d exchanges, %d errors and verified %d; the server took %d", counted, failed, verified, taken)
	}
	if sent, known := r.Sent(); !known || sent.All()-sent.Again != s.taken.Load() {
		t.Errorf("the clients say that they sent %+v, known: %v; the server took %d, and none of those that went out again before", sent, known, s.taken.Load())
	}
	if again != (redialled > 0) {
		t.Errorf("%d connections were made again; want any: %v", redialled, again)
	}
}
