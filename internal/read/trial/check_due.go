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
	asked, ok := e.asked()
	for _, g := range e.generators {
		if !ok || g.Setup == nil || !(g.Setup.Load.Rate > 0) {
			continue
		}
		waited := tolerance(asked) // of a client that tells no response times
		if responses, told := e.window.HistogramOf(g, record.Response); told {
			waited = float64(responses.MaxNs()) / 1e9
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
	mean := g.Setup.Load.Rate * seconds
	most := mean + Slots(g.Setup.Load)
	if g.Setup.Load.Arrival == contract.Poisson {
		most += scatter * math.Sqrt(mean)
	}
	return most
}
