package compare

import (
	"fmt"
	"math"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
)

// precisely completes the look of a study of one arm, which ends when the rate
// of every cell is known within the share that the study declares. Looking again
// costs nothing here: no difference is claimed that chance could bring about.
func precisely(s *cells.Dataset) cells.Look {
	out, within := *s.Look, s.Within
	known, asked := 0, 0
	for _, cell := range s.Cells {
		for _, arm := range s.Arms {
			asked++
			known += oneIf(knownWithin(s, cell, arm, within))
		}
	}
	whole := out.Done == out.Blocks
	out.Settled = asked > 0 && known == asked && whole
	endInTime(s, &out)
	out.Sentence = precisionWords(s, out, known, asked)
	return out
}

// endInTime ends a run at a look with all its blocks whose next would come too late.
func endInTime(s *cells.Dataset, g *cells.Look) {
	if g.Done == g.Blocks && !g.Settled && g.Number < g.Own && late(s, *g) {
		g.Settled, g.TimeUp = true, true
	}
}

// late tells whether the next look would come after the time that the study gives its
// blocks behind the first, by how long the blocks up to this look took.
func late(s *cells.Dataset, g cells.Look) bool {
	if s.TimeS <= 0 || g.Next == 0 {
		return false
	}
	took := blockSeconds(s, g.Blocks)
	spent, longest := 0.0, took[1]
	for _, t := range took[2:] {
		spent, longest = spent+t, max(longest, t)
	}
	return spent+longest*float64(g.Next-g.Blocks) > s.TimeS
}

// blockSeconds is how long each of some blocks took, by number from 1. Trials that alternated
// began at the same moment, and took their time together.
func blockSeconds(s *cells.Dataset, blocks int) []float64 {
	took, begun := make([]float64, blocks+1), map[time.Time]bool{}
	for _, v := range s.Trials {
		if b := v.Plan.Block; v.Record != nil && b >= 1 && b <= blocks && !begun[v.Record.StartedAt] {
			took[b] += float64(max(0, v.Record.Timeline.EndNs)) / 1e9
			begun[v.Record.StartedAt] = v.Record.Turn
		}
	}
	return took
}

// reached says how precisely the rates and the tails of all cells are known.
func reached(s *cells.Dataset) string {
	var parts []string
	for _, of := range []struct{ metric, words string }{{metric.ExchangesPerS, "rates known"}, {tailMetric(s), "p99"}} {
		m, err := metric.Named(of.metric)
		if err != nil {
			continue
		}
		widest, found := 0.0, false
		for _, judged := range s.Places() {
			if f, ok := cells.Summarize(m, judged); ok {
				found = true
				if widest = max(widest, HalfWidth(f.Figure)); !f.Sure() {
					widest = math.Inf(1)
				}
			}
		}
		switch {
		case math.IsInf(widest, 1):
			parts = append(parts, of.words+" without an interval")
		case found:
			parts = append(parts, fmt.Sprintf("%s to ±%.2g %%", of.words, 100*widest))
		}
	}
	return strings.Join(parts, ", ")
}

// tailMetric is the p99 of a load: in an open loop from when an exchange was due.
func tailMetric(s *cells.Dataset) string {
	for _, v := range s.Trials {
		if _, open := v.Trial.Values.Of(metric.ResponseP99); open {
			return metric.ResponseP99
		}
	}
	return metric.ServiceP99
}

// knownWithin tells whether the interval of an arm's rate reaches no farther from the rate
// than a share of it, which settles a study of one arm.
func knownWithin(s *cells.Dataset, cell, arm string, within float64) bool {
	rate, err := metric.Named(metric.ExchangesPerS)
	if err != nil {
		return false
	}
	f, ok := cells.Summarize(rate, s.Of(cell, arm))
	return ok && f.Sure() && HalfWidth(f.Figure) <= within
}

// HalfWidth is how far an interval reaches from its figure, as a share of it, on
// the farther side; +Inf for a figure of which no share can be taken.
func HalfWidth(f cells.Figure) float64 {
	if !cells.Usable(f.Value) {
		return math.Inf(1)
	}
	return max(f.High-f.Value, f.Value-f.Low) / f.Value
}

// precisionWords says how precisely the rates are known, and how the run goes on.
func precisionWords(s *cells.Dataset, g cells.Look, known, asked int) string {
	within := "within ±" + quantity.ChosenShare(s.Within)
	blocks := quantity.Plural(g.Done, "round")
	switch {
	case g.TimeUp:
		return fmt.Sprintf("time over after %s: %s, not to ±%s", blocks, reached(s), quantity.ChosenShare(s.Within))
	case g.Settled:
		return fmt.Sprintf("every rate is known %s after %s", within, blocks)
	case g.Stopped: // a look on the way
		return fmt.Sprintf("after %s, %d of %d rates are known %s", blocks, known, asked, within)
	case g.Done < g.Blocks || g.Number < g.Own:
		return fmt.Sprintf("after %s, %d of %d rates are known %s; continue with %s", blocks, known, asked, within, s.GoOn())
	}
	return fmt.Sprintf("after all %s, %d of %d rates are known %s: %s", blocks, known, asked, within, reached(s))
}
