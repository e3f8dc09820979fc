package trial

import (
	"fmt"
	"math"

	"netdyno/internal/record"
	"netdyno/internal/steady"
)

// Warming says that the load had not come to rest when its window opened.
const Warming = "warming"

var flagWarming = Flag{
	Name:    Warming,
	Changes: "figures are of a load that was still warming up",
	Warning: "still changed their rate, or the CPU time of an exchange, when the longest warm-up was over",
	Advice:  "allow a longer warm-up (warmup_max=30s), and look at the trial over time for what happened",
	raise:   warming,
}

func warming(e *audit) (why string) {
	w := e.window.Record.WarmUp
	if w == nil || w.Steady != record.NeverSteady {
		return ""
	}
	why = fmt.Sprintf("after %.3g s of warm-up, the most that it may take, the load had not come to rest", float64(w.MostNs)/1e9)
	changes, _ := steady.Of(e.window.Record.Workers).Changes()
	if len(changes) == 0 {
		return why
	}
	most := changes[0]
	for _, c := range changes {
		if math.Abs(c.PerS) > math.Abs(most.PerS) {
			most = c
		}
	}
	return fmt.Sprintf("%s: its %s changed by %+.2g %% a second", why, most.Of, 100*most.PerS)
}
