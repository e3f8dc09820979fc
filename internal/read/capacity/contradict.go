package capacity

import (
	"fmt"
	"math"

	"netdyno/internal/quantity"
	"netdyno/internal/read/stat"
)

const (
	scattered   = 0.25 // a spread above which windows tell no single threshold
	enough      = 10   // outcomes without which they cannot contradict one
	driftBeyond = 0.001
)

// contradiction says how outcomes contradict a single threshold; "" when they do not. A
// server with two states, or one that something else slows at times, meets the objective
// well above rates at which it missed it; one that warms up, fills or scales moves its
// threshold from one half of the run to the other.
func contradiction(tries []Try, p posterior) string {
	if len(tries) < enough {
		return ""
	}
	wide := 0.0
	for j, w := range p.steep {
		if spreadAt(j) > scattered {
			wide += w
		}
	}
	if wide > 0.5 {
		met, missed := 0.0, math.Inf(1)
		for _, t := range tries {
			if t.Met {
				met = max(met, t.Rate)
			} else {
				missed = min(missed, t.Rate)
			}
		}
		return fmt.Sprintf("its windows contradict each other: at %s/s it missed the objective, at %s/s it met it, so it has no single capacity (two states, or pauses longer than a window?)",
			rateText(missed), rateText(met))
	}
	before, after, moved := drift(tries, p)
	if !moved {
		return ""
	}
	return fmt.Sprintf("its capacity moved while it was measured: %s–%s/s by the first half of the windows, %s–%s/s by the second (does it warm up, fill, or scale?)",
		rateText(before.Low), rateText(before.High), rateText(after.Low), rateText(after.High))
}

// drift compares the threshold by the first half of the outcomes with that by the second.
func drift(tries []Try, p posterior) (before, after stat.Estimate, moved bool) {
	low, high := extremes(tries)
	half := len(tries) / 2
	of := func(some []Try) posterior { return posteriorOf(some, math.Log(low/headroom), math.Log(high*headroom)) }
	first, second := of(tries[:half]), of(tries[half:])
	apart := first.quantile(1-driftBeyond) < second.quantile(driftBeyond) || second.quantile(1-driftBeyond) < first.quantile(driftBeyond)
	return first.interval(), second.interval(), apart
}

func rateText(rate float64) string { return quantity.FormatFigure(rate) }
