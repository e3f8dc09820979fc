package finding_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// No figure that a standstill falsifies reaches a comparison, a chart or a count
// of what is well.
func TestNothingComparesWhatAStallFalsifies(t *testing.T) {
	header, trials, records := synthetic.Run(synthetic.Options{
		Rate: 20_000, Blocks: 8, Connections: []int{50}, SD: 0.01, Seed: 3, Primary: []string{serverCPU, "response_p99_us"}, Window: 4 * time.Second,
	})
	stalled := 0
	for i := range records {
		if trials[i].Arm == "asio" && trials[i].Block <= 3 {
			synthetic.Still(&records[i].Workers[1], 1.2, 1.8)
			stalled++
		}
	}
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	if f.Tally.Partial != stalled || f.Tally.Valid != len(trials) {
		t.Errorf("tally %+v, want all valid, %d of them without rates", f.Tally, stalled)
	}
	for _, c := range f.Comparisons {
		want := 8
		if c.Arm == "asio" && c.Metric == serverCPU {
			want = 5
		}
		if c.Primary && c.Blocks != want {
			t.Errorf("%s on %s rests on %d blocks, want %d", c.Arm, c.Metric, c.Blocks, want)
		}
	}
	for i := range records {
		if trials[i].Arm == "asio" {
			synthetic.Still(&records[i].Workers[1], 1.2, 1.8)
		}
	}
	if f, err = finding.Find(header, trials, records); err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Comparisons {
		if c.Arm != "asio" || !c.Primary {
			continue
		}
		invalid := c.Metric == serverCPU
		if (c.Verdict == compare.Invalid) != invalid || invalid && !strings.Contains(c.Reason, "in 8 of 8 trials asio stood still") {
			t.Errorf("%s on %s: %s, %s", c.Arm, c.Metric, c.Verdict, c.Reason)
		}
	}
	if warned := slices.ContainsFunc(f.Warnings, func(w record.Warning) bool { return w.About == trial.Stalled }); !warned {
		t.Errorf("warnings %v", f.Warnings)
	}
}
