package compare

import (
	"fmt"
	"math"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
)

// precisely completes the stage of a study of one arm, which ends when the rate
// of every cell is known within the share that the study declares. Looking again
// costs nothing here: no difference is claimed that chance could bring about.
func precisely(s *cells.Dataset) cells.Stage {
	out, within := *s.Stage, s.Header.Study.Settle
	known, asked := 0, 0
	for _, cell := range s.Cells {
		for _, arm := range s.Arms {
			asked++
			known += oneIf(knownWithin(s, cell, arm, within))
		}
	}
	out.Settled = asked > 0 && known == asked && out.Done == out.Blocks
	out.Sentence = precisionWords(s, out, known, asked)
	return out
}

// rateMetric is the metric whose interval settles a study of one arm.
const rateMetric = "exchanges_per_s"

// knownWithin tells whether the interval of a rate lies within a share of it.
func knownWithin(s *cells.Dataset, cell, arm string, within float64) bool {
	rate, err := metric.Named(rateMetric)
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
func precisionWords(s *cells.Dataset, g cells.Stage, known, asked int) string {
	within := "within ±" + Percent(s.Header.Study.Settle)
	blocks := fmt.Sprintf("%d blocks", g.Done)
	if g.Done == 1 {
		blocks = "1 block"
	}
	switch {
	case g.Settled:
		return fmt.Sprintf("every rate is known %s after %s", within, blocks)
	case g.Stopped: // a look on the way
		return fmt.Sprintf("after %s, %d of %d rates are known %s", blocks, known, asked, within)
	case g.Done < g.Blocks || g.Number < g.Own:
		return fmt.Sprintf("after %s, %d of %d rates are known %s; continue with %s", blocks, known, asked, within, goOn(s))
	}
	return fmt.Sprintf("after all %s, %d of %d rates are known %s", blocks, known, asked, within)
}
