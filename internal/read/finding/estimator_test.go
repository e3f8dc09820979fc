package finding_test

import (
	"math"
	"slices"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/test/synthetic"
)

// same is how near two figures lie that are one by the rule.
const same = 1e-9

func near(a, b float64) bool { return math.Abs(a-b) <= same*max(math.Abs(a), math.Abs(b)) }

func foundAt(t *testing.T, seed uint64) finding.Findings {
	t.Helper()
	h, trials, records := synthetic.Random(seed)
	return find(t, h, trials, records)
}

// few is n, a number of random studies or of what is found in them; with -short a fifth.
func few(n uint64) uint64 {
	if testing.Short() {
		return n / 5
	}
	return n
}

func figureIn(f finding.Findings, cell, arm, metric string) (cells.Summary, bool) {
	for _, c := range f.Cells {
		for _, a := range c.Arms {
			for _, m := range a.Metrics {
				if c.Name == cell && a.Name == arm && m.Metric == metric {
					return m, true
				}
			}
		}
	}
	return cells.Summary{}, false
}

// Whatever went wrong in a study: an estimate lies inside its interval, a ratio
// is the quotient of the two figures it is of, and where the arms share all
// blocks these are the arms' own.
func TestFiguresAgreeWithEachOther(t *testing.T) {
	compared, own, partial, zeros := 0, 0, 0, 0
	for seed := range few(120) {
		f := foundAt(t, seed)
		for _, c := range f.Cells {
			for _, a := range c.Arms {
				for _, m := range a.Metrics {
					if !(m.Low <= m.Value && m.Value <= m.High) {
						t.Errorf("seed %d, %s, %s: %v lies outside %v–%v", seed, a.Name, m.Metric, m.Value, m.Low, m.High)
					}
					if zero := slices.ContainsFunc(a.Trials, func(x trial.Trial) bool { return isZero(x, m.Metric) }); (m.Mean == cells.Arithmetic) != zero && m.Metric != "error_share" {
						t.Errorf("seed %d, %s, %s: mean %q, a figure of 0: %v", seed, a.Name, m.Metric, m.Mean, zero)
					}
				}
			}
		}
		for _, c := range f.Comparisons {
			if c.Ratio == 0 {
				zeros++
				continue
			}
			compared++
			if !(c.Low <= c.Ratio && c.Ratio <= c.High) || !near(c.Ratio, c.Value/c.BaseValue) || len(c.In) != c.Blocks || len(c.Ratios) != c.Blocks {
				t.Errorf("seed %d: %+v is not the quotient of its figures, or lies outside its interval", seed, c)
			}
			arm, has := figureIn(f, c.Cell, c.Arm, c.Metric)
			base, both := figureIn(f, c.Cell, c.Base, c.Metric)
			if !has || !both {
				t.Errorf("seed %d: a ratio of %s ÷ %s on %s, of which one has no figure", seed, c.Arm, c.Base, c.Metric)
				continue
			}
			if c.Blocks < max(arm.N, base.N) {
				partial++
				continue
			}
			own++
			if !near(c.Value, arm.Value) || !near(c.BaseValue, base.Value) {
				t.Errorf("seed %d: %s on %s over %d blocks: %v ÷ %v, the arms' own are %v and %v", seed, c.Arm, c.Metric, c.Blocks, c.Value, c.BaseValue, arm.Value, base.Value)
			}
		}
	}
	if compared == 0 || own == 0 || partial == 0 || zeros == 0 {
		t.Errorf("%d comparisons, %d over all blocks, %d over some, %d without a ratio: each kind must occur", compared, own, partial, zeros)
	}
}

// isZero tells whether a valid trial has a figure and it is 0.
func isZero(t trial.Trial, metric string) bool {
	x, has := t.Values.Of(metric)
	return has && t.Status == trial.Valid && x == 0
}

// A curve passes through the percentiles of the table.
func TestACurveSaysWhatTheTableSays(t *testing.T) {
	compared := 0
	for seed := uint64(0); seed < 40; seed += 4 {
		f := foundAt(t, seed)
		for _, c := range f.Cells {
			for _, a := range c.Arms {
				for _, p := range a.Service {
					metric := map[float64]string{0.5: "service_p50_us", 0.9: "service_p90_us", 0.99: "service_p99_us", 0.999: "service_p999_us"}[p.Share]
					if metric == "" {
						continue
					}
					compared++
					if m, ok := figureIn(f, c.Name, a.Name, metric); !ok || math.Abs(float64(p.Ns)/1000-m.Value) > 0.0006 {
						t.Errorf("seed %d, %s: %d ns at %v, the table says %v µs", seed, a.Name, p.Ns, p.Share, m.Value)
					}
				}
			}
		}
	}
	if compared < 30 {
		t.Errorf("%d points compared", compared)
	}
}

// An arm without a valid trial has no figure and no ratio, also not one of 1.
func TestNoValidTrialNoRatio(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Bare: true, Blocks: 3, Connections: []int{50}})
	for i := range records {
		if records[i].Trial.Arm != "go-epoll" {
			records[i].Outcome = "failed"
		}
	}
	f := find(t, h, trials, records)
	for _, c := range f.Comparisons {
		if c.Ratio != 0 || c.Verdict != compare.Invalid {
			t.Errorf("a ratio without a valid trial of the baseline: %+v", c)
		}
	}
	for _, r := range f.Noise {
		t.Errorf("noise of a baseline without a valid trial: %+v", r)
	}
}

// Blocks in which a figure is 0 are not left out to form a ratio of the others.
func TestAFigureOfZeroHasNoRatio(t *testing.T) {
	const pauses = "server.gc_pause_us_per_s"
	h, trials, records := synthetic.Run(synthetic.Options{Bare: true, Blocks: 6, Connections: []int{50}, Primary: []string{pauses}, SD: 0.02})
	for i := range records {
		if w := &records[i].Workers[0]; records[i].Trial.Arm == "go-epoll" && records[i].Trial.Block == 2 {
			w.Close.Reading.Runtime.GCPauseNs = w.Open.Reading.Runtime.GCPauseNs
		}
	}
	f := find(t, h, trials, records)
	c := comparison(t, f, "connections=50", pauses, "go-epoll")
	if c.Ratio != 0 || c.Verdict != compare.Invalid || c.Reason != "a figure is 0 in 1 of the blocks that both arms have, so there is no ratio" {
		t.Errorf("%+v", c)
	}
	if m, ok := figureIn(f, "connections=50", "go-epoll", pauses); !ok || m.Mean != cells.Arithmetic || m.N != 6 || m.Low > m.Value || m.High < m.Value {
		t.Errorf("%+v", m)
	}
}
