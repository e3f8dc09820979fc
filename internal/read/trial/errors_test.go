package trial_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A trial of a foreign server counts up to a share of failed exchanges, one of our
// own server up to none; factor max_errors says another share of either. Its reason names
// the reasons.
func TestFailedExchangesUpToAShare(t *testing.T) {
	const done = 2000 // exchanges that completed
	foreign := func(r *record.Record) { r.Workers[0].Ready.Elsewhere = true }
	level := func(share string) func(*record.Record) {
		return func(r *record.Record) { r.Trial.Levels["max_errors"] = share }
	}
	for name, c := range map[string]struct {
		failed int64
		change []func(*record.Record)
		want   string // of the reason; "" where the trial is valid
	}{
		"ours, one":                   {1, nil, "1 exchange failed: 429 Too Many Requests (1)"},
		"foreign, just below 1 %":     {20, []func(*record.Record){foreign}, ""},
		"foreign, above 1 %":          {40, []func(*record.Record){foreign}, "40 exchanges failed: 429 Too Many Requests (40), 2% of all, and at most 1% may"},
		"foreign, none allowed":       {1, []func(*record.Record){foreign, level("0%")}, "1 exchange failed"},
		"ours, 5 % allowed":           {100, []func(*record.Record){level("5%")}, ""},
		"foreign, a connection broke": {1, []func(*record.Record){foreign, func(r *record.Record) { broken(&r.Workers[1], 1) }}, "client-1 lost 1 of its 50 connections"},
	} {
		judged := examined(t, synthetic.Options{Rate: 1000, Window: 2 * time.Second}, func(r *record.Record) {
			client := &r.Workers[1]
			client.Result.Counts.Errors = map[contract.ErrorKind]int64{contract.Invalid: c.failed}
			client.Result.Reasons = []contract.Reason{{Kind: contract.Invalid, Text: "429 Too Many Requests", Count: c.failed}}
			for _, change := range c.change {
				change(r)
			}
		})
		status := trial.Valid
		if c.want != "" {
			status = trial.StatusInvalid
		}
		if judged.Status != status || !strings.Contains(judged.Reason, c.want) {
			t.Errorf("%s: %s, %q; want %s, %q", name, judged.Status, judged.Reason, status, c.want)
		}
		if judged.Errors != c.failed || judged.Values.At(metric.ErrorShare) != float64(c.failed)/float64(done+c.failed) {
			t.Errorf("%s: %d failed, %v of all", name, judged.Errors, judged.Values.At(metric.ErrorShare))
		}
	}
}

// A share that may fail bounds an arm's trials together: chance rejects none of them.
func TestErrorsAreBoundedOverTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		failed  []int64 // of 2,000 that completed, by block
		invalid int
	}{
		"0.5 % in the mean":          {[]int64{25, 2, 1, 12, 10}, 0},
		"one bad block, 2 % in all":  {[]int64{200, 0, 1, 0, 0}, 1},
		"each above 1 %":             {[]int64{40, 40, 41, 42, 43}, 5},
		"one block at the bound":     {[]int64{20, 20, 21, 20, 20}, 0},
		"one block, too many failed": {[]int64{21}, 1},
	} {
		_, trials, records := synthetic.Run(synthetic.Options{Rate: 1000, Window: 2 * time.Second, Blocks: len(c.failed), Connections: []int{50}, Arms: []synthetic.Arm{{Name: "go-net"}}})
		var judged []*trial.Judged
		for i := range trials {
			if trials[i].Repeat {
				continue
			}
			records[i].Workers[0].Ready.Elsewhere = true
			records[i].Workers[1].Result.Counts.Errors = map[contract.ErrorKind]int64{contract.Invalid: c.failed[trials[i].Block-1]}
			judged = append(judged, &trial.Judged{Plan: trials[i], Record: &records[i]})
		}
		trial.JudgeAll(judged)
		invalid := 0
		for _, v := range judged {
			if v.Trial.Status == trial.StatusInvalid {
				if invalid++; !strings.Contains(v.Trial.Reason, "at most 1% may") || trial.Checks()[v.Passed].Name != "errors" {
					t.Errorf("%s: check %d, %s", name, v.Passed, v.Trial.Reason)
				}
			}
		}
		if invalid != c.invalid {
			t.Errorf("%s: %d trials are invalid, want %d", name, invalid, c.invalid)
		}
	}
}

// broken says that so many of a client's exchanges broke their connections.
func broken(c *record.Worker, n int64) {
	c.Result.Counts.Errors = map[contract.ErrorKind]int64{contract.Peer: n}
	c.Result.Reasons = nil
	c.Close.Reading.Counts.Connections = int64(c.Ready.Connections) - n
}

// Whatever a worker says of its reasons, they add up to its counts and can be shown.
func TestReasonsAddUpToTheCounts(t *testing.T) {
	var many []contract.Reason
	for i := range 40 {
		many = append(many, contract.Reason{Kind: contract.Peer, Text: strings.Repeat("x", 100+i), Count: 1})
	}
	for name, given := range map[string][]contract.Reason{
		"none":       nil,
		"too many":   {{Kind: contract.Peer, Text: "reset", Count: 1 << 40}},
		"negative":   {{Kind: contract.Peer, Text: "reset", Count: -7}},
		"a terminal": {{Kind: contract.Peer, Text: "\x1b[2Jreset\n", Count: 3}},
		"endless":    many,
	} {
		judged := examined(t, synthetic.Options{}, func(r *record.Record) {
			r.Workers[1].Result.Counts.Errors = map[contract.ErrorKind]int64{contract.Peer: 40, contract.Timeout: 2}
			r.Workers[1].Result.Reasons = given
		})
		sum := int64(0)
		for _, r := range judged.Reasons {
			sum += r.Count
			if len(r.Text) > contract.MostReasonText || strings.ContainsFunc(r.Text, func(c rune) bool { return c < ' ' }) {
				t.Errorf("%s: reason %q", name, r.Text)
			}
		}
		if sum != 42 || len(judged.Reasons) > contract.MostReasons+1 {
			t.Errorf("%s: %d reasons of %d exchanges: %+v", name, len(judged.Reasons), sum, judged.Reasons)
		}
		if !slices.IsSortedFunc(judged.Reasons[:min(len(judged.Reasons), contract.MostReasons)], func(a, b contract.Reason) int { return int(b.Count - a.Count) }) {
			t.Errorf("%s: not the most frequent first: %+v", name, judged.Reasons)
		}
	}
}
