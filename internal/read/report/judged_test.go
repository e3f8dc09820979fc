package report

import (
	"io"
	"strings"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/expect"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// stopped is the sample as a run that stopped at its first look would be, with
// a requirement in every state.
func stopped() finding.Findings {
	f := sample(6)
	f.Look = &cells.Look{
		Number: 1, Of: 3, Blocks: 6, Done: 6, Level: 0.03125, Settled: true, Stopped: true,
		Sentence: "stopped after 6 rounds: everything is settled",
	}
	f.Header.Study.Blocks = 16
	for i := range f.Comparisons {
		f.Comparisons[i].Level = 0.03125
	}
	f.Requirements = []compare.Requirement{
		{
			Require: record.Require{Text: "service_p99_us of a <= 5ms", Metric: "service_p99_us", Arm: "a", Bound: 5000},
			Value:   4123, Low: 4000, High: 4300, Interval: 0.03125, Level: 0.03125, Of: 6, Blocks: 6, Family: 3, State: compare.Met,
		},
		{
			Require: record.Require{Text: "exchanges_per_s of a >= 0.9 x b", Metric: "exchanges_per_s", Arm: "a", Base: "b", AtLeast: true, Bound: 0.9},
			Cell:    "connections=50", Value: 0.7, Low: 0.65, High: 0.75, Interval: 0.03125, Level: 0.03125, Of: 6, Blocks: 6, Family: 3, State: compare.Broken,
		},
		{
			Require: record.Require{Text: "server.rss_bytes of a <= 1MiB", Metric: "server.rss_bytes", Arm: "a", Bound: 1 << 20},
			Level:   0.03125, Family: 3, State: compare.Undecided, Reason: "blocks with a valid value: 0; at least 2 are needed",
		},
	}
	for _, r := range f.Requirements {
		f.Expect = append(f.Expect, expect.Must(r))
	}
	return f
}

// Every form of the report says at which look, at what level, in how large a
// family and by which method verdicts were reached, and what is not met.
func TestEveryFormSaysHowItJudged(t *testing.T) {
	p := New(stopped())
	forms := map[string]string{
		"text": string(render(t, func(w io.Writer) error { return p.Text(w, TextOptions{Width: 400}) })),
		"md":   string(render(t, p.Markdown)),
		"html": string(render(t, p.HTML)),
	}
	for name, got := range forms {
		got = strings.NewReplacer("&lt;", "<", "&gt;", ">", "\u00a0", " ", `\>`, ">").Replace(got)
		rest := got
		for _, want := range []string{
			"6 blocks",
			"Stopped after 6 rounds: everything is settled.",
			"as one family, each by the interval printed with it (Holm).",
			"Not judged: 12 comparisons on other metrics, each with its interval.",
			"Judged: 3 requirements as one family, each by the interval printed with it (Holm).",
		} {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%s does not say, in its place: %s", name, want)
				continue
			}
			rest = after
		}
		if name != "text" && !strings.Contains(got, "share the level of 0.0312 (Holm)") {
			t.Errorf("%s does not say which level is shared", name)
		}
	}
}

func TestGateSaysWhyItIsUndecided(t *testing.T) {
	f := sample(6)
	f.Tally.Failed, f.Tally.Planned = 2, 48
	failed := &f.Cells[0].Arms[0].Trials[0]
	failed.Errors, failed.Status = 3, trial.StatusInvalid
	result, all := compare.Gate(f.Run)
	g := NewGate(f, result, all)
	arm := f.Cells[0].Arms[0].Name + cells.InCell(f.Cells[0].Name)
	caveats := "2 of 48 trials failed; exchanges of " + arm + " failed, and no requirement that is met allows that"
	if md := string(render(t, g.Markdown)); !strings.Contains(md, "Undecided because: "+caveats+".") {
		t.Errorf("gate.md does not say %q:\n%s", caveats, md)
	}
	g.Result, g.words = compare.Unproven, gateWords[compare.Unproven].words
	if got := g.String(); got != "gate: cannot tell: "+caveats {
		t.Errorf("it says %q", got)
	}
}

func TestGateSaysWhatIsBroken(t *testing.T) {
	f := stopped()
	for i := range f.Comparisons {
		f.Comparisons[i].Verdict = compare.Equivalent
	}
	result, all := compare.Gate(f.Run)
	if result != compare.IsWorse {
		t.Errorf("result %v with a broken requirement", result)
	}
	g := NewGate(f, result, all)
	got := string(render(t, g.Markdown))
	for _, want := range []string{"a requirement is broken", "| no |", "| yes |", "| undecided |", "The interval decides", "3 requirements as one family"} {
		if !strings.Contains(got, want) {
			t.Errorf("gate.md does not say %q:\n%s", want, got)
		}
	}
	if g.String() != "gate: a requirement is broken" {
		t.Error(g)
	}
}
