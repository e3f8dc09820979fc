package finding_test

import (
	"slices"
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/expect"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// Of studies in which much goes wrong, with blocks lost at random: a reader can read
// every verdict off the interval beside it, a statement on the same ratio rests on that
// interval, and the two figures beside a ratio are those that it is the quotient of.
func TestVerdictsStatementsAndFiguresAgree(t *testing.T) {
	decided, statements, quotients, unknown := 0, 0, 0, 0
	for seed := range few(120) {
		h, trials, records := synthetic.Random(seed)
		h.Study.Expect = statementsOn(h)
		f, err := finding.Find(h, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		margin := compare.Margin(h.Study.Compare)
		of := map[string]compare.Comparison{}
		for _, c := range f.Comparisons {
			if c.Ratio > 0 && c.Blocks > 1 {
				quotients++
				value, base := over(f, c, c.Arm), over(f, c, c.Base)
				if !near(c.Value/c.BaseValue, c.Ratio) || !near(value, c.Value) || !near(base, c.BaseValue) {
					t.Errorf("seed %d: %s of %s ÷ %s: %v ÷ %v is not %v, the blocks have %v and %v", seed, c.Metric, c.Arm, c.Base, c.Value, c.BaseValue, c.Ratio, value, base)
				}
			}
			if !c.Known() && c.Blocks > 1 {
				unknown++
			}
			if !c.Primary {
				if c.Interval != c.Level && c.Ratio > 0 {
					t.Errorf("seed %d: an explored interval at level %v", seed, c.Interval)
				}
				continue
			}
			of[c.Metric+c.Cell+c.Arm+c.Base] = c
			outside, inside := c.Low > 1+c.Bound || c.High < 1/(1+c.Bound), c.Low >= 1/(1+margin) && c.High <= 1+margin
			enough := c.Blocks >= compare.LeastBlocks(c.Level) && c.Known() && c.Verdict != compare.Invalid
			want := c.Verdict == compare.Better || c.Verdict == compare.Worse
			if want != (enough && outside) || (c.Verdict == compare.Equivalent) != (enough && inside) {
				t.Errorf("seed %d: %s of %v–%v, bound %v, %d blocks: %s", seed, c.Verdict, c.Low, c.High, c.Bound, c.Blocks, c.Reason)
			}
			if want {
				decided++
				if m, _ := metric.Named(c.Metric); (c.Verdict == compare.Better) != ((c.Ratio > 1) == (m.Better == metric.Higher)) {
					t.Errorf("seed %d: %v is %s", seed, c.Ratio, c.Verdict)
				}
			}
			if c.NeedsMore > 0 && c.NeedsMore <= c.Of {
				t.Errorf("seed %d: after %d blocks %d would decide it", seed, c.Of, c.NeedsMore)
			}
		}
		for _, judged := range f.Expect {
			for _, e := range judged.Evidence {
				c := of[judged.Spec.Title]
				if e.Blocks < 2 || c.Blocks < 2 {
					continue
				}
				statements++
				if e.Low != c.Low || e.High != c.High {
					t.Errorf("seed %d: a statement rests on %v–%v, the comparison has %v–%v", seed, e.Low, e.High, c.Low, c.High)
				}
				above := e.Low > 1.1
				if (e.State == expect.Holds) != (above && e.Known() && e.Blocks >= compare.LeastBlocks(c.Level) && c.Verdict != compare.Invalid) {
					t.Errorf("seed %d: %v–%v above 1.1: %s", seed, e.Low, e.High, e.State)
				}
			}
		}
	}
	if least := int(few(50)); decided < least || statements < least || quotients < 20*least || unknown < least {
		t.Errorf("%d decided, %d statements on judged ratios, %d quotients, %d unknown", decided, statements, quotients, unknown)
	}
}

// statementsOn says of every arm, cell and primary metric that it is above 1.1.
func statementsOn(h record.Header) []record.Expectation {
	var all []record.Expectation
	base := h.Study.Compare.Baseline
	for _, cell := range h.Study.Vary[len(h.Study.Vary)-1].Levels {
		for _, arm := range h.Study.Vary[0].Levels {
			for _, name := range h.Study.Compare.Primary {
				if arm != base {
					all = append(all, record.Expectation{Title: name + "connections=" + cell + arm + base, That: []string{name + " of " + arm + " > " + base + " ± 10 % at connections=" + cell}})
				}
			}
		}
	}
	return all
}

// over is an arm's figure over the blocks of a comparison.
func over(f finding.Findings, c compare.Comparison, arm string) float64 {
	for _, cell := range f.Cells {
		for _, a := range cell.Arms {
			if cell.Name == c.Cell && a.Name == arm {
				m, _ := cells.SummaryOf(metric.Shown(c.Metric), cells.PoolOf(func(yield func(*trial.Trial) bool) {
					for t := range a.All() {
						if slices.Contains(c.In, t.Block) && !yield(t) {
							return
						}
					}
				}, c.Metric))
				return m.Value
			}
		}
	}
	return 0
}
