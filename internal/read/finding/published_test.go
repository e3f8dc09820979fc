package finding_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/published"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// figure is a published ratio of go-epoll to go-net, of which 0.61 is measured.
func figure(under map[string]string) record.Published {
	return record.Published{Metric: serverCPU, Arm: "go-epoll", Base: "go-net", Ratio: 0.2, Under: under}
}

func told(p published.Figure) string {
	if len(p.Unmet) == 0 {
		return fmt.Sprintf("%s %.1f", p.Cell, p.Measured)
	}
	var parts []string
	for _, d := range p.Unmet {
		parts = append(parts, fmt.Sprintf("%s=%s (here %s)", d.Condition, d.Published, strings.Join(d.Here, ", ")))
	}
	return strings.Join(parts, "; ")
}

func toldOf(f finding.Findings) string {
	var all []string
	for _, p := range f.Published {
		all = append(all, told(p))
		if len(p.Unmet) > 0 && (p.Measured != 0 || p.Cell != "") {
			all = append(all, fmt.Sprintf("measured %v in %q under other conditions", p.Measured, p.Cell))
		}
	}
	return strings.Join(all, " | ")
}

// A published figure stands beside a measurement where every condition of the
// publication holds, and nowhere else.
func TestPublishedNeedsItsConditions(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, SD: 0.005, Bare: true})
	for want, under := range map[string]map[string]string{
		"connections=50 0.6":                                       {"connections": "50", "request": "100B", "rig": "loopback", "hosts": "1"},
		"connections=50 0.6 | connections=1000 0.6":                {"request": "100B"},
		"request=4MiB (here 100B)":                                 {"connections": "50", "request": "4MiB"},
		"connections=40 (here 50, 1000)":                           {"connections": "40", "request": "100B"},
		"connections=40 (here 50, 1000); request=4MiB (here 100B)": {"connections": "40", "request": "4MiB"},
		"hosts=3 (here 1)":                                         {"connections": "50", "hosts": "3"},
		"hosts=2+ (here 1)":                                        {"connections": "50", "hosts": "2+"},
		"rig=netns (here loopback)":                                {"rig": "netns"},
		"link.rate=20Gbit/s (here max)":                            {"link.rate": "20Gbit/s"},
		"opt.server.b=1 (here )":                                   {"connections": "50", "opt.server.b": "1"},
		"server=go-epoll (here go-epoll, go-net)":                  {"connections": "50", "server": "go-epoll"},
	} {
		h.Study.Published = []record.Published{figure(under)}
		if got := toldOf(find(t, h, trials, records)); got != want {
			t.Errorf("under %v:\ngot  %s\nwant %s", under, got, want)
		}
	}
}

// One ratio has one interval: a figure beside a comparison's at a look has its
// confidence.
func TestPublishedHasTheIntervalOfItsComparison(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, SD: 0.05, Bare: true})
	h.Study.Blocks, h.Study.OwnLooks = 10, []int{6, 10}
	h.Study.Published = []record.Published{figure(nil)}
	f := find(t, h, trials, records)
	p := f.Published[0]
	i := slices.IndexFunc(f.Comparisons, func(c compare.Comparison) bool {
		return c.Cell == p.Cell && c.Metric == p.Metric && c.Arm == p.Arm
	})
	if c := f.Comparisons[i]; p.Measured != c.Ratio || p.Low != c.Low || p.High != c.High || !(c.Level < cells.Level) {
		t.Errorf("published beside %v (%v to %v), the comparison says %v (%v to %v) at level %v", p.Measured, p.Low, p.High, c.Ratio, c.Low, c.High, c.Level)
	}
}

// Headers of runs before conditions were recorded: the cell alone decides.
func TestPublishedOfOldRunsHasItsCell(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, SD: 0.005, Bare: true})
	p := figure(nil)
	p.Cell = "connections=50"
	h.Study.Published = []record.Published{p}
	if got := toldOf(find(t, h, trials, records)); got != "connections=50 0.6" {
		t.Error(got)
	}
}

func TestFiguresOfNoArmAreTold(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, SD: 0.005, Bare: true})
	h.Study.Published = []record.Published{{Metric: serverCPU, Arm: "muduo", Base: "evpp", Ratio: 1.02, Unmeasured: "neither is an arm", Under: map[string]string{"connections": "50"}}}
	f := find(t, h, trials, records)
	if len(f.Published) != 1 || f.Published[0].Measured != 0 || f.Published[0].Unmeasured != "neither is an arm" {
		t.Errorf("%+v", f.Published)
	}
}

// Two hosts: the one-host figure of the same publication is the other one.
func TestPublishedOnTwoHosts(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, SD: 0.005, Bare: true})
	h.Facts.Rig = "netns:2"
	for i := range records {
		for j := range records[i].Workers {
			if records[i].Workers[j].Role == contract.Client {
				records[i].Workers[j].Seat = "ns2"
			}
		}
	}
	h.Study.Published = []record.Published{
		figure(map[string]string{"connections": "50", "hosts": "1"}), figure(map[string]string{"connections": "50", "hosts": "2"}),
		figure(map[string]string{"connections": "50", "hosts": "2+", "rig": "netns"}),
	}
	if got, want := toldOf(find(t, h, trials, records)), "hosts=1 (here 2) | connections=50 0.6 | connections=50 0.6"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// A server that stands elsewhere might be on any host.
	for i := range records {
		records[i].Workers = slices.DeleteFunc(slices.Clone(records[i].Workers), func(w record.Worker) bool { return w.Role == contract.Server })
		records[i].Workers[0].Setup = &contract.Setup{Peers: []string{"10.0.0.1:1"}}
	}
	h.Study.Published = h.Study.Published[:1]
	if got, want := toldOf(find(t, h, trials, records)), "hosts=1 (here )"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPublishedStandsBesideMeasured(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, SD: 0.005, Bare: true})
	h.Study.Published = []record.Published{
		{Metric: serverCPU, Arm: "go-epoll", Base: "go-net", Cell: "connections=50", Ratio: 0.2},
		{Metric: serverCPU, Arm: "go-net", Base: "asio", Ratio: 2}, // the baseline on top, in every cell
		{Metric: "nothing", Arm: "x", Base: "y", Cell: "connections=50", Ratio: 1},
	}
	f := find(t, h, trials, records)
	if len(f.Published) != 4 {
		t.Fatalf("%+v", f.Published)
	}
	for i, want := range []float64{0.61, 1 / 0.55, 1 / 0.55, 0} {
		if got := f.Published[i].Measured; math.Abs(got-want) > 0.03 {
			t.Errorf("published %d: measured %v, want %v", i, got, want)
		}
	}
}

// A base may be the link, as which its rate stands, or lie in another cell.
func TestPublishedOfTheLinkAndAcrossCells(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, SD: 0.005, Bare: true, Connections: []int{1, 4}})
	for i := range records {
		trials[i].Levels["link.rate"] = "8Mbit/s"
		records[i].Trial.Levels = trials[i].Levels
	}
	one, four := map[string]string{"connections": "1", "link.rate": "8Mbit/s"}, map[string]string{"connections": "4"}
	h.Study.Published = []record.Published{
		{Metric: metric.Goodput, Arm: "go-net", Base: record.TheLink, Ratio: 1, Under: one},
		{Metric: metric.Goodput, Arm: "go-epoll", Base: "go-net", BaseWhere: four, Ratio: 1, Under: one},
		{Metric: metric.Goodput, Arm: "go-epoll", Base: "go-net", BaseWhere: four, Ratio: 1, Under: map[string]string{"connections": "1", "hosts": "2+"}},
	}
	f := find(t, h, trials, records)
	goodput := func(cell, arm int) float64 {
		for _, m := range f.Cells[cell].Arms[arm].Metrics {
			if m.Metric == metric.Goodput {
				return m.Value
			}
		}
		return math.NaN()
	}
	for i, want := range []float64{goodput(0, 0) / 1e6, goodput(0, 1) / goodput(1, 0), 0} {
		if p := f.Published[i]; math.Abs(p.Measured-want) > 1e-9*want || i < 2 && !(p.Low < want && want < p.High) || i == 2 && len(p.Unmet) != 1 {
			t.Errorf("published %d: %+v, want %v", i, p, want)
		}
	}
}
