package report

import (
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
)

func TestTrustCountsChecksAndSteadiness(t *testing.T) {
	f := finding.Findings{Run: compare.Run{Cells: []cells.Cell{{Arms: []cells.Arm{{Name: "a", Limit: trial.Latency, Trials: []trial.Trial{
		{Status: trial.Valid}, {Status: trial.Valid, Flags: []string{trial.Unsteady, trial.BusyMachine}}, {Status: trial.Valid, Flags: []string{trial.BusyMachine}},
		{Status: trial.StatusInvalid, Flags: []string{trial.BusyMachine}}, {Status: trial.StatusFailed}, {Status: trial.StatusMissing},
	}}}}}}}
	for _, s := range New(f).Evidence {
		if s.ID != "trust" {
			continue
		}
		want := []string{"all", "a", "3 of 4", "2 of 3", "busy-machine 2, unsteady 1", "latency"}
		for i, d := range s.Tables[0].Rows[0] {
			if shown(d) != want[i] {
				t.Errorf("column %s: %q, want %q", s.Tables[0].Columns[i].Title, shown(d), want[i])
			}
		}
		return
	}
	t.Error("the evidence does not say what the figures rest on")
}
