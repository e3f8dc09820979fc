package trial

import (
	"fmt"
	"math"

	"netdyno/internal/contract"
)

// Overloaded says that an open loop did not reach its offered rate.
const Overloaded = "overloaded"

// overloadShare is the share of the offered rate that a trial must reach.
const overloadShare = 0.99

var flagOverloaded = Flag{
	Name:    Overloaded,
	Warning: "did not reach the offered rate, so their times are not compared",
	Advice:  "lower the rate until every arm reaches it",
	raise:   overloaded,
}

func overloaded(e *audit) (why string) {
	share, ok := e.values["offered_share"]
	if !ok || share >= overloadShare-scheduleNoise(e) {
		return ""
	}
	return fmt.Sprintf("achieved %.3g %% of the offered rate", 100*share)
}

// scheduleNoise returns the share by which a random schedule may fall short of
// its mean rate by chance: three standard deviations of a Poisson count.
func scheduleNoise(e *audit) float64 {
	expected, poisson := 0.0, false
	for _, g := range e.generators {
		if g.Setup == nil || g.Result == nil {
			continue
		}
		expected += g.Setup.Load.Rate * windowOf(g)
		poisson = poisson || g.Setup.Load.Arrival == contract.Poisson
	}
	if !poisson || !(expected > 0) {
		return 0
	}
	return 3 / math.Sqrt(expected)
}
