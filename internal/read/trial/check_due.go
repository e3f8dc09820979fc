package trial

import (
	"fmt"
	"math"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// scatter is how many standard deviations of a Poisson count a drawn schedule may
// exceed its mean by.
const scatter = 4

// checkDue demands of every open loop that it completed no more than had fallen due:
// in its window, before it by as long as its exchanges had waited at most, and one
// exchange for each slot.
func checkDue(e *audit) string {
	for _, g := range e.generators {
		if g.Setup == nil || !(g.Setup.Load.Rate > 0) || e.amount() || Foreign(g) {
			continue
		}
		waited := tolerance(windowOf(g)) // of a client that tells no response times
		if responses, told := e.window.HistogramOf(g, record.Response); told {
			waited = float64(responses.MaxNs()) / 1e9
		} else if e.window.Record.Turn {
			continue
		}
		most := fallsDue(g, windowOf(g)+waited)
		if done := float64(g.Result.Counts.Exchanges); done > most {
			return fmt.Sprintf("%s completed %.0f exchanges in its window, but at most %.0f had fallen due", g.Name, done, most)
		}
	}
	return ""
}

// fallsDue is how much an open loop may complete of what falls due in some seconds:
// one exchange for each slot may have been under way.
func fallsDue(g *record.Worker, seconds float64) float64 {
	load := g.Setup.Load
	mean := load.Rate * seconds
	if len(load.Phases) > 0 {
		mean = phasesMost(load, seconds)
	}
	return mean + load.Slots() + scatter*variation(load)*math.Sqrt(mean)
}

// variation is the coefficient of variation of an open loop's gaps, as far as they are
// random.
func variation(load contract.Load) float64 {
	switch load.Arrival {
	case contract.Poisson:
		return 1
	case contract.Drawn, contract.Recorded:
		return load.GapsCV
	}
	return 0
}

// phasesMost is how many exchanges fall due in any so many seconds of a rate that goes
// through phases.
func phasesMost(load contract.Load, seconds float64) float64 {
	peak, period, holds := 0.0, 0.0, 0.0
	for _, p := range load.Phases {
		peak = max(peak, p[1], p[2])
		period += p[0] / 1e9
		holds += p.Holds()
	}
	if load.Repeat {
		return min(peak*seconds, math.Ceil(seconds/period)*holds)
	}
	return peak * seconds
}
