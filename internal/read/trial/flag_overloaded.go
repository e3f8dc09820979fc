package trial

import (
	"fmt"
	"math"

	"netdyno/internal/metric"
)

// Overloaded says that an open loop did not reach its offered rate.
const Overloaded = "overloaded"

// overloadShare is the share of the offered rate that a trial must reach.
const overloadShare = 0.99

var flagOverloaded = Flag{
	Name:    Overloaded,
	Changes: "times are those of a growing queue and are not compared",
	Warning: "did not reach the offered rate",
	Advice:  "lower the rate until every arm reaches it",
	raise:   overloaded,
}

func overloaded(e *audit) (why string) {
	share, ok := e.values[metric.OfferedShare]
	if !ok || share >= overloadShare-scheduleNoise(e) {
		return ""
	}
	return fmt.Sprintf("achieved %.3g %% of the offered rate", 100*share)
}

// saturated is the share of the slots in use from which on a client has no room to
// catch up in.
const saturated = 0.9

// scheduleNoise returns the share by which completions may fall short of what fell due
// by chance, in three standard deviations. At either edge of the window as many
// exchanges are in flight as keep slots in use (Little's law), a number that scatters
// like a Poisson count, unless all slots are in use. Where a client does not tell what
// fell due, a random schedule may fall short of its mean rate too.
func scheduleNoise(e *audit) float64 {
	variance, expected := 0.0, 0.0
	for _, g := range e.generators {
		if g.Setup == nil || g.Result == nil {
			continue
		}
		due := g.Setup.Load.Rate * windowOf(g)
		expected += due
		if v := variation(g.Setup.Load); g.Result.Inside == nil {
			variance += v * v * due
		}
	}
	if used, ok := e.inFlight(); ok && used < saturated*e.slots {
		variance += 2 * used
	}
	if !(expected > 0) {
		return 0
	}
	return 3 * math.Sqrt(variance) / expected
}
