package finding_test

import (
	"math"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// sent gives a client n gaps of a mean and a coefficient of variation.
func sent(n int64, meanNs, cv float64) *contract.Arrivals {
	return &contract.Arrivals{
		Gaps: n, SumNs: int64(float64(n) * meanNs), SumSquaresNs2: float64(n) * meanNs * meanNs * (1 + cv*cv), StretchNs: int64(float64(n) * meanNs),
	}
}

// The bounds of sends that are at most 4 ms late, worked out by hand: at 200/s
// r is 0.8 and at 20,000/s 80. A perfect Poisson sample of 10,000 gaps lies
// within 1 ± 0.04 at any rate.
func TestSendsThatDoNotComeAsDeclared(t *testing.T) {
	for _, c := range []struct {
		name    string
		rate    float64
		arrival contract.Arrival
		gaps    int64
		cv      float64
		flag    string
	}{
		{"even", 20000, "", 10000, 0, ""},
		{"bursty by a timer", 20000, contract.Constant, 10000, math.Sqrt(80) - 0.1, ""},
		{"bursty beyond it", 20000, contract.Constant, 10000, math.Sqrt(80) + 0.1, trial.Bursty},
		{"late by less than a step", 200, contract.Constant, 400, 0.79, ""},
		{"late by more", 200, contract.Constant, 400, 0.81, trial.Bursty},
		{"a declared rhythm sent as if drawn", 200, contract.Constant, 400, 1, trial.Bursty},
		{"too few to tell", 200, contract.Constant, 99, 5, ""},
		{"drawn", 20, contract.Poisson, 10000, 1, ""},
		{"drawn, and by chance", 20, contract.Poisson, 10000, 1.04, ""},
		{"drawn, in bunches", 20, contract.Poisson, 10000, 1.25, trial.Bursty},
		{"drawn as declared, sent as a rhythm", 20, contract.Poisson, 10000, 0.1, trial.TooRegular},
		{"drawn, at a rate where a timer could even it out", 20000, contract.Poisson, 10000, 0.5, ""},
	} {
		judged := examined(t, synthetic.Options{Rate: c.rate}, func(r *record.Record) {
			w := &r.Workers[1]
			w.Setup.Load.Arrival, w.Result.Arrivals = c.arrival, sent(c.gaps, 1e9/c.rate, c.cv)
		})
		if got := strings.Join(judged.Flags, " "); got != c.flag || judged.Status != trial.Valid {
			t.Errorf("%s: %s with flags %q (%s), want %q", c.name, judged.Status, got, judged.Reason, c.flag)
		}
		if declared := "arrivals at " + quantity.FormatRate(c.rate) + ""; c.flag != "" && !strings.Contains(judged.Reason, declared) {
			t.Errorf("%s: %q does not say %q", c.name, judged.Reason, declared)
		}
	}
}

// What a growing queue sends follows the server: flag overloaded says it all.
func TestAnOverloadedTrialIsNotCalledBursty(t *testing.T) {
	judged := examined(t, synthetic.Options{Rate: 20000}, func(r *record.Record) {
		r.Workers[1].Setup.Load.Rate, r.Workers[1].Result.Arrivals = 30000, sent(10000, 5e4, 20)
	})
	if got := strings.Join(judged.Flags, " "); got != trial.Overloaded {
		t.Errorf("flags %q, want overloaded alone", got)
	}
}

// A server that stalls at the window's end and never recovers: peers print a
// clean run there.
func stalled(r *record.Record) {
	h := hist.New()
	h.Record(3_200_000_000, 600)
	text, err := h.Encode()
	if err != nil {
		panic(err) // a histogram made here always encodes
	}
	r.Workers[1].Result.Unfinished, r.Workers[1].Result.Ages = 600, text
}

func TestAStallAtTheEndIsToldOfEveryTrial(t *testing.T) {
	judged := examined(t, synthetic.Options{Rate: 20000}, stalled)
	if judged.Status != trial.Valid || strings.Join(judged.Flags, " ") != trial.Unfinished {
		t.Fatalf("%s with flags %v (%s)", judged.Status, judged.Flags, judged.Reason)
	}
	for _, want := range []string{"600 exchanges due in the window never completed", "the oldest had waited 3.20 s", "response_p99_us is at least 3.20 s"} {
		if !strings.Contains(judged.Reason, want) {
			t.Errorf("%q does not say %q", judged.Reason, want)
		}
	}
	if judged.Values.At("unfinished") != 600 || judged.Moved["response_p99_us"] < 3.1e6 || judged.Moved["response_p50_us"] != 0 {
		t.Errorf("unfinished %v, moved %v; want 600, p99 and beyond moved to 3.2 s", judged.Values.At("unfinished"), judged.Moved)
	}
}

// A percentile that is a lower bound carries no verdict, and the findings warn.
func TestAStallAtTheEndForbidsTheVerdictOnWhatItMoves(t *testing.T) {
	header, trials, records := synthetic.Run(synthetic.Options{
		Rate: 20000, Seed: 1, Connections: []int{50}, Primary: []string{"response_p50_us", "response_p99_us"},
		Arms: []synthetic.Arm{{Name: "a"}, {Name: "b"}},
	})
	for i := range records {
		if records[i].Trial.Arm == "b" {
			stalled(&records[i])
		}
	}
	findings := find(t, header, trials, records)
	refused := map[string]bool{}
	for _, c := range findings.Comparisons {
		if c.Primary {
			refused[c.Metric] = c.Verdict == compare.Invalid && strings.Contains(c.Reason, "in 8 of 8 trials of b unfinished exchanges would raise it")
		}
	}
	if !refused["response_p99_us"] || refused["response_p50_us"] {
		t.Errorf("refused %v, want p99 alone", refused)
	}
	text := ""
	for _, w := range findings.Warnings {
		text += w.Text + "\n"
	}
	if want := "4800 exchanges due in the window of 8 of 24 trials were never completed; the oldest had waited 3.20 s: they count at the age that they had reached"; !strings.Contains(text, want) {
		t.Errorf("no warning %q in\n%s", want, text)
	}
}
