package report

import (
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/test/synthetic"
)

// A report of trials that stood still says so before its figures, prints none that
// they falsify, and tells when each stood still.
func TestAStandstillIsToldAndLeavesNoRate(t *testing.T) {
	header, trials, records := synthetic.Run(synthetic.Options{
		Rate: 20_000, Seed: 7, Connections: []int{50}, Arms: []synthetic.Arm{{Name: "steady"}, {Name: "still"}},
	})
	for i := range records {
		if c := &records[i].Workers[1]; records[i].Trial.Arm == "still" {
			synthetic.Still(c, 0.5, 1.3)
		}
	}
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	page := New(f)
	main := page.Cells[0].Main
	for i, c := range main.Columns {
		lacks := strings.HasSuffix(c.Metric, "_per_s") || strings.HasSuffix(c.Metric, "_per_exchange")
		if c.Metric != "" && (shown(main.Rows[1][i]) == "–") != lacks || shown(main.Rows[0][i]) == "–" {
			t.Errorf("%s reads %q beside %q", c.Metric, shown(main.Rows[0][i]), shown(main.Rows[1][i]))
		}
	}
	var b strings.Builder
	if err := page.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"8 of them without rates",
		"8 of 24 trials did not run for a while: a worker, or the machine, stood still", "costs, times from the send and, unless the load went on, rates are left out",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(text[:min(len(text), 3000)])
	}
}
