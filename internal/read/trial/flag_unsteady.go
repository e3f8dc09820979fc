package trial

import (
	"fmt"
	"slices"

	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// Unsteady says that the rate has a step or a slope inside the window.
const Unsteady = "unsteady"

var flagUnsteady = Flag{
	Name:    Unsteady,
	Changes: "figures are means over a change, not of a steady state",
	Warning: "changed their rate inside the window",
	Advice:  "lengthen the warm-up (warmup=2s), or look at the series for what happened",
	raise:   unsteady,
}

// unsteady skips a fixed amount of work: its window begins with the load and
// ends with the last straggler, so its rate is never steady. A rate that was declared to
// change does.
func unsteady(e *audit) (why string) {
	if e.amount() || slices.ContainsFunc(e.generators, func(g *record.Worker) bool { return g.Setup != nil && len(g.Setup.Load.Phases) > 0 }) {
		return ""
	}
	var rates []float64
	for _, s := range e.series {
		if s.InWindow {
			rates = append(rates, s.ExchangesPerS)
		}
	}
	change, found := stat.Drift(rates)
	if !found {
		return ""
	}
	return fmt.Sprintf("the rate changed by %+.3g %% inside the window", 100*change)
}
