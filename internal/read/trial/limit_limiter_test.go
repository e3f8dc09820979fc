package trial_test

import (
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

func TestRefusalsNameTheLimiter(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int64 // beside 2000 that completed
		busy bool  // a thread of the server is
		want trial.Limit
	}{
		{"429 Too Many Requests", 100, false, trial.Limiter},
		{"429 Too Many Requests", 6000, true, trial.Limiter},
		{"429 Too Many Requests", 15, false, trial.Schedule}, // under 1 %
		{"ResourceExhausted: try later", 100, false, trial.Limiter},
		{"503 Service Unavailable", 100, false, trial.Schedule}, // may have other causes
		{"503 Service Unavailable", 100, true, trial.ServerCore},
		{"503 Service Unavailable", 6000, true, trial.Limiter},
		{"500 Internal Server Error", 6000, false, trial.Schedule},
	} {
		judged := examined(t, synthetic.Options{Rate: 1000, Window: 2 * time.Second}, func(r *record.Record) {
			client, server := &r.Workers[1], &r.Workers[0]
			client.Result.Counts.Errors = map[contract.ErrorKind]int64{contract.Invalid: c.n}
			client.Result.Reasons = []contract.Reason{{Kind: contract.Invalid, Text: c.text, Count: c.n}}
			if c.busy {
				from, to := server.Open.Meter, server.Close.Meter
				to.Threads[0].CPUNs = from.Threads[0].CPUNs + (to.AtNs-from.AtNs)*97/100
			}
		})
		says := c.want != trial.Limiter || strings.Contains(judged.LimitProof, "it answers 1000/s and refuses the rest") && strings.HasSuffix(judged.LimitProof, "by "+c.text)
		if judged.Limit != c.want || !says {
			t.Errorf("%d × %s: %s (%s), want %s", c.n, c.text, judged.Limit, judged.LimitProof, c.want)
		}
	}
}
