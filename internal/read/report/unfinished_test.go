package report

import (
	"strings"
	"testing"

	"netdyno/internal/hist"
	"netdyno/internal/read/finding"
	"netdyno/test/synthetic"
)

// A server that stalls at the end of every trial of one arm: its tables say how
// much was left and mark what the rest cannot tell; the other arm's are as ever.
func TestTablesSayWhatWasLeftUnfinished(t *testing.T) {
	header, trials, records := synthetic.Run(synthetic.Options{
		Rate: 20_000, Seed: 7, Connections: []int{50}, Arms: []synthetic.Arm{{Name: "steady"}, {Name: "stalls"}},
	})
	h := hist.New()
	h.Record(3_200_000_000, 600)
	ages, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if records[i].Trial.Arm == "stalls" {
			records[i].Workers[1].Result.Unfinished, records[i].Workers[1].Result.Ages = 600, ages
		}
	}
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	main := New(f).Cells[0].Main
	columns := map[string]int{}
	for i, c := range main.Columns {
		columns[c.Metric] = i
	}
	for metric, want := range map[string][2]string{"unfinished": {"0", "600"}, "unfinished_age_max_us": {"–", "3.20"}} {
		for row, text := range want {
			if got := shown(main.Rows[row][columns[metric]]); columns[metric] == 0 || got != text {
				t.Errorf("%s of arm %d is %q, want %q", metric, row, got, text)
			}
		}
	}
	for metric, marked := range map[string]bool{"response_p99_us": true, "response_p50_us": false} {
		at := columns[metric]
		if at == 0 || strings.HasPrefix(shown(main.Rows[1][at]), "≥ ") != marked || strings.Contains(shown(main.Rows[0][at]), "≥") {
			t.Errorf("%s reads %q beside %q; want a mark: %v", metric, shown(main.Rows[1][at]), shown(main.Rows[0][at]), marked)
		}
	}
}

func TestTablesOfWholeTrialsHaveNoColumnsForWhatWasLeft(t *testing.T) {
	main := New(found(t, synthetic.Options{Rate: 20_000, Seed: 7, Connections: []int{50}})).Cells[0].Main
	for _, c := range main.Columns {
		if strings.HasPrefix(c.Metric, "unfinished") {
			t.Errorf("column %s of trials that left nothing", c.Metric)
		}
	}
}
