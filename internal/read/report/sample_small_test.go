package report

import (
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/profile"
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
	f.Ladders[0].Steps = f.Ladders[0].Steps[:1]
	f.Expect = f.Expect[2:]
	f.Requirements = stopped().Requirements[:2]
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
