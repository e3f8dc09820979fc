package report

import (
	"testing"

	"netdyno/internal/read/finding"
)

func TestTrustCountsLedgersAndSteadiness(t *testing.T) {
	f := finding.Findings{Run: finding.Run{Cells: []finding.Cell{{Arms: []finding.Arm{{Name: "a", Limit: finding.Latency, Trials: []finding.Trial{
		{Status: finding.Valid}, {Status: finding.Valid, Flags: []string{finding.Unsteady, finding.StolenCPU}}, {Status: finding.Valid, Flags: []string{finding.StolenCPU}},
		{Status: finding.StatusInvalid, Flags: []string{finding.StolenCPU}}, {Status: finding.StatusFailed}, {Status: finding.StatusMissing},
	}}}}}}}
	for _, s := range New(f).Evidence {
		if s.ID != "trust" {
			continue
		}
		want := []string{"all", "a", "3 of 4", "2 of 3", "stolen-cpu 2, unsteady 1", "latency"}
		for i, d := range s.Tables[0].Rows[0] {
			if d.Text != want[i] {
				t.Errorf("column %s: %q, want %q", s.Tables[0].Columns[i].Title, d.Text, want[i])
			}
		}
		return
	}
	t.Error("the evidence does not say what the figures rest on")
}
