package finding_test

import (
	"strings"
	"testing"

	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// crossingNotes draws the rate of an arm whose share of the baseline's depends on the
// connections, and returns what the chart notes.
func crossingNotes(t *testing.T, blocks int, sd float64, shares map[string]float64) string {
	t.Helper()
	o := synthetic.Options{
		Bare: true, Connections: []int{50, 1000, 10000}, SD: sd, BlockSD: 0.3, Blocks: blocks, Primary: []string{rate},
		Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "other"}},
	}
	h, trials, records := synthetic.Run(o)
	for i := range records {
		if share, known := shares[records[i].Trial.Levels["connections"]]; known && records[i].Trial.Arm == "other" {
			for j := range records[i].Workers {
				scale(&records[i].Workers[j], share)
			}
		}
	}
	h.Study.Charts = []record.Chart{{Title: "x", Kind: record.Lines, Metric: rate, X: "connections", By: h.Study.Compare.Factor}}
	return strings.Join(find(t, h, trials, records).Charts[0].Notes, " ")
}

func TestCrossingsAreToldOrOpen(t *testing.T) {
	for name, c := range map[string]struct {
		blocks int
		sd     float64
		shares map[string]float64
		want   string
	}{
		"one arm ahead everywhere": {8, 0.004, map[string]float64{"50": 0.8, "1000": 0.9, "10000": 0.95}, "other and go-net do not cross between connections=50 and 10000: other is lower throughout."},
		"too near at one level":    {8, 0.004, map[string]float64{"50": 0.8, "1000": 0.998, "10000": 0.9}, "do not differ clearly at connections=1000"},
		"nothing differs":          {8, 0.02, nil, "at no connections do these differ clearly from go-net, so it is undecided whether they cross it: other"},
		"too few blocks":           {4, 0.004, map[string]float64{"50": 0.8}, ""},
	} {
		got := crossingNotes(t, c.blocks, c.sd, c.shares)
		if !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "cross") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The baseline is slowed at one end and the arm at the other: a planted crossing.
func TestAPlantedCrossingIsFound(t *testing.T) {
	o := synthetic.Options{
		Bare: true, Connections: []int{50, 1000, 10000}, SD: 0.004, BlockSD: 0.3, Blocks: 8, Primary: []string{rate},
		Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "other"}},
	}
	h, trials, records := synthetic.Run(o)
	for i := range records {
		arm, connections := records[i].Trial.Arm, records[i].Trial.Levels["connections"]
		if arm == "other" && connections == "50" || arm == "go-net" && connections != "50" {
			for j := range records[i].Workers {
				scale(&records[i].Workers[j], 0.8)
			}
		}
	}
	h.Study.Charts = []record.Chart{{Title: "x", Kind: record.Lines, Metric: rate, X: "connections", By: h.Study.Compare.Factor}}
	got := strings.Join(find(t, h, trials, records).Charts[0].Notes, " ")
	// Halfway between 50 and 1000 on a logarithmic axis lies 224.
	if !strings.Contains(got, "other and go-net cross at about connections=22") || !strings.Contains(got, "other is lower before and higher after") {
		t.Errorf("got %q", got)
	}
}
