package report

import (
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/claim"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/shape"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// smallSample has every kind of section, drawing and value, each as small as it
// can be: what a golden file shows whole.
func smallSample() finding.Findings {
	f := sample(4)
	cell, baseline, other := sampleCells[0], sampleArms[0].name, sampleArms[1].name
	f.Cells = f.Cells[:1]
	arms := f.Cells[0].Arms[:2]
	for i := range arms {
		a := &arms[i]
		a.Service, a.Response = nil, a.Response[8:10]
		for k := range a.Trials {
			a.Trials[k].Series, a.Trials[k].CPU = a.Trials[k].Series[4:6], a.Trials[k].CPU[:1]
		}
	}
	arms[0].Trials[0].Flags = []string{"unsteady"}
	arms[1].Trials[1].Status, arms[1].Trials[1].Reason = "failed", "server: connection reset by peer"
	f.Header.Study.Compare.Primary = []string{sampleCost}
	f.Comparisons = slices.DeleteFunc(f.Comparisons, func(c compare.Comparison) bool {
		return c.Cell != cell || c.Arm != other || c.Metric != sampleCost && c.Metric != "exchanges_per_s"
	})
	pair := f.Comparisons[0]
	pair.Sentence = ""
	pair.Arm, pair.Base, pair.Verdict, pair.Reason = "go-epoll-shared", other, compare.CannotTell, "2 blocks are too few: at least 6 are needed"
	f.Comparisons = append(f.Comparisons, pair)
	f.Comparisons[0].Partial = true
	f.Noise = f.Noise[:2]
	f.Warnings = append(f.Warnings, record.Warning{About: "noise", Text: "the machine was noisy"})
	for i := range arms {
		arms[i].Metrics = slices.DeleteFunc(arms[i].Metrics, func(m cells.Summary) bool {
			return !slices.Contains([]string{"exchanges_per_s", "response_p50_us", sampleTail, sampleCost, "server.gc_cpu_share"}, m.Metric)
		})
	}
	f.Cells[0].Arms = arms
	f.Profiles = slices.DeleteFunc(f.Profiles, func(p profile.Profile) bool { return p.Cell != cell || p.Arm != other || p.End != "server" })
	p := &f.Profiles[0]
	p.Shares, p.Flat = p.Shares[:3], p.Flat[:2]
	smallCharts(f.Charts)
	front := &f.Charts[3]
	front.Marks = slices.DeleteFunc(front.Marks, func(m view.Mark) bool { return m.Cell != cell || m.Name != baseline && m.Name != other })
	f.Charts[0].Spec.Where = map[string]string{"in_flight": "1"}
	f.Charts = slices.Delete(f.Charts, 1, 2)
	f.Ladders[0].Splits = f.Ladders[0].Splits[:1]
	f.Fits, f.Reaches = f.Fits[:1], f.Reaches[:1]
	f.ServerReport = serverReport()
	f.Requirements = stopped().Requirements[:2]
	f.Shapes = []shape.Shape{{
		Spec: record.Published{Source: "the publication", Metric: sampleCost, Arm: other, Base: baseline, Ratio: 0.4},
		Cell: "connections=50 amount=100", Steady: "connections=50 window=2s", Level: 0.05, Blocks: 6, Told: true, Shared: true,
		Shaped: stat.Estimate{Point: 0.5, Low: 0.45, High: 0.55}, InWindow: stat.Estimate{Point: 0.625, Low: 0.6, High: 0.65},
		StartUp: stat.Estimate{Point: 0.8, Low: 0.7, High: 0.9}, Sentence: "Start-up changes it.",
	}}
	f.Claims = []claim.Claim{{
		Spec: record.Claim{
			Title: "Epoll costs less", Source: "the publication",
			Parts: []record.ClaimPart{{Metric: sampleCost, Is: record.Lower, Arms: []string{other}, Base: baseline, Margin: 0.02}},
		},
		State: claim.Holds, Outcome: claim.StillHolds, Sentence: "Holds.", Level: 0.05, Conditions: []string{"rig loopback"},
		Evidence: []claim.Evidence{
			{What: other + " ÷ " + baseline, Ratio: 0.6, Low: 0.58, High: 0.63, Interval: 0.05, Blocks: 6, State: claim.Holds},
			{What: other + " ÷ " + baseline, State: claim.Undecided, Reason: "no blocks"},
		},
	}, {
		Spec:  record.Claim{Title: "RDMA carries twice as much", Source: "the publication", Unmeasured: "no arm has a card"},
		State: claim.Undecided, Outcome: claim.NotTestable, Reason: "no arm has a card", Sentence: "Cannot be tested here: no arm has a card.", Level: 0.05,
	}}
	return f
}

// smallCharts keeps two levels along each axis.
func smallCharts(charts []view.Chart) {
	for i := range charts {
		c := &charts[i]
		c.Lines = c.Lines[:min(2, len(c.Lines))]
		for k := range c.Lines {
			c.Lines[k].Points = c.Lines[k].Points[:2]
		}
		if len(c.Tiles) > 0 {
			c.Tiles = []view.Tile{c.Tiles[0], c.Tiles[1], c.Tiles[7]} // one box is missing
		}
	}
}
