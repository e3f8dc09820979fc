package capacity

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// A server carries at least a rate where the load generator was full; where nothing
// proves that, the sentence says why.
func TestWhatLimitsACapacityIsSaid(t *testing.T) {
	spec := record.Capacity{Objective: []record.Bound{{Text: "response_p99 <= 10ms", Metric: "response_p99_us", Value: 10_000}}, Within: 0.1}
	missed := []Try{{ID: "b02-001", Rate: 1200}}
	for name, c := range map[string]struct {
		arm  Arm
		want string
	}{
		"the server's":    {Arm{Limit: trial.ServerCPU, LimitOf: contract.Server}, "at response_p99 <= 10ms; its limit there is server-cpu."},
		"the generator's": {Arm{AtLeast: true, Limit: trial.ClientCPU, LimitOf: contract.Client, Tries: missed}, "carries at least 1000 exchanges a second at response_p99 <= 10ms: above that the load generator is at its own limit (client-cpu)"},
		"in few windows":  {Arm{Limit: trial.ClientCPU, LimitOf: contract.Client, Proof: "b01-001: CPU 1 was 99 % busy", Tries: missed}, "its limit there is client-cpu (b01-001: CPU 1 was 99 % busy), but not in most of the windows that missed"},
		"not known":       {Arm{Limit: trial.Unknown, Proof: "b01-001: the server runs elsewhere"}, "what limits it there is not known (b01-001: the server runs elsewhere), so it may be the load generator."},
		"of two":          {Arm{AtLeast: true, Limit: trial.ServerCPU, LimitOf: contract.Server, Tries: missed}, "in most windows that missed it above that the load generator was at its own limit."},
		"never reached":   {Arm{AtLeast: true, Limit: trial.ServerCPU, LimitOf: contract.Server}, "no window that tells missed it."},
		"ends failing":    {Arm{AtLeast: true, Untold: []Try{{Rate: 1500, Why: "it failed: the server ended"}}}, "no window that tells missed it; 1 window told nothing, the last, at 1500/s, because it failed: the server ended."},
		"nothing is full": {Arm{Limit: trial.Latency}, "; no CPU is full there, so responses wait in the server or for what stands behind it."},
	} {
		c.arm.Arm, c.arm.Rate = "a", &Estimate{Value: 1000, Low: 950, High: 1040}
		if got := (&Capacity{Spec: spec, Arms: []Arm{c.arm}}).sentences(); len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q lacks %q", name, got, c.want)
		}
	}
}

// An undecided capacity is called undecided, with the reason and what would decide it.
// That no rate meets an objective is another sentence. No sentence says "has no
// capacity".
func TestUndecidedIsNotNothing(t *testing.T) {
	spec := record.Capacity{Objective: []record.Bound{{Text: "response_p99 <= 10ms"}}}
	for want, arm := range map[string]Arm{
		"How much a carries at response_p99 <= 10ms is undecided: its windows contradict each other; the same search with --time 5m would tell more.": {Arm: "a", Why: "its windows contradict each other", Cure: "the same search with --time 5m would tell more"},
		"a meets response_p99 <= 10ms at no rate that was tried: each of 8 windows that tell missed it.":                                              {Arm: "a", None: true, Why: "each of 8 windows that tell missed it"},
	} {
		if got := (&Capacity{Spec: spec, Arms: []Arm{arm}}).sentences(); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// In a search the load is an open loop, whatever limit it meets.
func TestALimitOfASearchIsNoClosedLoop(t *testing.T) {
	for _, limit := range trial.Limits() {
		m := limitMeans(limit)
		if strings.Contains(m.Means+m.Cure, "closed loop") || strings.Contains(m.Cure, "more connections") && limit == trial.Latency || m.Means == "" {
			t.Errorf("%s means %q; %q", limit, m.Means, m.Cure)
		}
	}
}
