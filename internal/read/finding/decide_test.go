package finding_test

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// extended is a study of the standard looks with records of its first blocks.
func extended(o synthetic.Options, blocks int) (record.Header, []record.Trial, []record.Record) {
	o.Bare, o.Connections, o.Rate, o.Blocks, o.Primary = true, []int{50}, 20000, 42, []string{serverCPU}
	h, trials, records := synthetic.Run(o)
	h.Study.Blocks, h.Study.OwnLooks, h.Study.Further = 16, []int{6, 10, 16}, []int{26, 42}
	h.Directory = "results/one"
	records = slices.DeleteFunc(records, func(r record.Record) bool { return r.Trial.Block > blocks })
	return h, trials, records
}

// The blocks of further looks are planned and not missing until a run goes on
// to them; a run is judged at the look that it has come to.
func TestFurtherLooksAreNotMissing(t *testing.T) {
	levels := stat.LookLevels([]int{6, 10, 16, 26, 42}, 16, cells.Level)
	for _, c := range []struct {
		blocks, number, missing, horizon int
		says                             string
	}{
		{16, 3, 0, 16, "after 16 rounds: 1 of 1 question open; continue to 26 rounds: netdyno run results/one --continue"},
		{20, 4, 6 * 3, 26, "interrupted after 20 rounds: judged by these; continue: netdyno run results/one --continue"},
		{26, 4, 0, 26, "continue to 42 rounds: netdyno run results/one --continue"},
		{42, 5, 0, 42, "ended after 42 rounds: 1 of 1 question open"},
		{7, 2, 9 * 3, 16, "interrupted after 7 rounds"},
	} {
		h, trials, records := extended(synthetic.Options{Arms: nearly, SD: 0.02, Seed: 1}, c.blocks)
		if got := record.Horizon(h, trials, records); got != c.horizon {
			t.Errorf("%d blocks: the run is carried out up to %d, want %d", c.blocks, got, c.horizon)
		}
		f := find(t, h, trials, records)
		if f.Look == nil || f.Look.Number != c.number || f.Look.Level != levels[c.number-1] || !strings.Contains(f.Look.Sentence, c.says) {
			t.Errorf("%d blocks: %+v, want look %d, %q", c.blocks, f.Look, c.number, c.says)
		}
		if f.Tally.Missing != c.missing || f.Tally.Skipped != 0 || f.Tally.Planned != c.horizon*3 {
			t.Errorf("%d blocks: %+v, want %d missing of %d", c.blocks, f.Tally, c.missing, c.horizon*3)
		}
	}
}

// Whatever cannot be told says what decides it, with the command.
func TestCannotTellSaysWhatDecides(t *testing.T) {
	slightly := []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 1.05}}
	for _, c := range []struct {
		name   string
		arms   []synthetic.Arm
		sd     float64
		blocks int
		change func(*record.Header)
		says   string
	}{
		{"one look on", slightly, 0.05, 16, nil, "26 blocks would decide it: netdyno run results/one --continue."},
		{"a fixed number", nearly, 0.05, 8, func(h *record.Header) { h.Study.Blocks, h.Study.OwnLooks, h.Study.Further = 8, nil, nil }, " blocks would decide it: start a new run with blocks="},
		{"beyond all looks", nearly, 0.02, 42, nil, "not even 1000 blocks would decide it; start a new run"},
		{"on the margin", nearly, 0.02, 16, nil, "start a new run on a quieter machine (netdyno doctor) or with another margin (compare.margin)."},
		{"an odd directory", slightly, 0.05, 16, func(h *record.Header) { h.Directory = "it's here" }, `netdyno run 'it'\''s here' --continue`},
		{"no directory", slightly, 0.05, 16, func(h *record.Header) { h.Directory = "" }, "netdyno run DIR --continue"},
	} {
		h, trials, records := extended(synthetic.Options{Arms: c.arms, SD: c.sd, Seed: 3}, c.blocks)
		if c.change != nil {
			c.change(&h)
		}
		got := find(t, h, trials, records).Comparisons[0]
		if got.Verdict != compare.CannotTell || !strings.Contains(got.Sentence, c.says) || !strings.Contains(got.Sentence, got.Decides) || got.Decides == "" {
			t.Errorf("%s: %s: %s\nwant %q", c.name, got.Verdict, got.Sentence, c.says)
		}
	}
}

// Requirements do, too.
func TestAnUndecidedRequirementSaysWhatDecides(t *testing.T) {
	h, trials, records := extended(synthetic.Options{Arms: nearly, SD: 0.05, Seed: 3}, 16)
	h.Study.Requires = []record.Require{{Text: "b", Metric: serverCPU, Arm: "b", Base: "a", Bound: 1.05}}
	f := find(t, h, trials, records)
	if r := f.Requirements[0]; r.State != compare.Undecided || !strings.Contains(r.Decides, "would decide it") && !strings.Contains(r.Decides, "another bound") {
		t.Errorf("%s: %s; %s", r.State, r.Reason, r.Decides)
	}
}
