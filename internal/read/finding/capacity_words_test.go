package finding_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/capacity"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// A server carries at least a rate where the load generator was full; where nothing
// proves that, the sentence says why.
func TestWhatLimitsACapacityIsSaid(t *testing.T) {
	spec := record.Capacity{Objective: []record.Bound{{Text: "response_p99 <= 10ms", Metric: "response_p99_us", Value: 10_000}}, Within: 0.1}
	missed := []capacity.Try{{ID: "b02-001", Rate: 1200}}
	for name, c := range map[string]struct {
		arm  capacity.Arm
		want string
	}{
		"the server's":    {capacity.Arm{Limit: trial.ServerCPU, LimitOf: contract.Server}, "at response_p99 <= 10ms; its limit there is server-cpu."},
		"the generator's": {capacity.Arm{AtLeast: true, Limit: trial.ClientCPU, LimitOf: contract.Client, Tries: missed}, "carries at least 1000 exchanges a second at response_p99 <= 10ms: above that the load generator is at its own limit (client-cpu)"},
		"in few windows":  {capacity.Arm{Limit: trial.ClientCPU, LimitOf: contract.Client, Proof: "b01-001: CPU 1 was 99 % busy", Tries: missed}, "its limit there is client-cpu (b01-001: CPU 1 was 99 % busy), but not in most of the windows that missed"},
		"not known":       {capacity.Arm{Limit: trial.Unknown, Proof: "b01-001: the server runs elsewhere"}, "what limits it there is not known (b01-001: the server runs elsewhere), so it may be the load generator."},
		"of two":          {capacity.Arm{AtLeast: true, Limit: trial.ServerCPU, LimitOf: contract.Server, Tries: missed}, "in most windows that missed it above that the load generator was at its own limit."},
		"never reached":   {capacity.Arm{AtLeast: true, Limit: trial.ServerCPU, LimitOf: contract.Server}, "no rate that was tried missed it."},
	} {
		c.arm.Arm, c.arm.Rate = "a", &capacity.Estimate{Value: 1000, Low: 950, High: 1040}
		if got := finding.CapacitySentences(&capacity.Capacity{Spec: spec, Arms: []capacity.Arm{c.arm}}); len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q lacks %q", name, got, c.want)
		}
	}
}
