package trial

import (
	"fmt"
	"math"

	"netdyno/internal/contract"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// Thresholds of the flags (METHOD §2.3, §3.3; DESIGN §3 for the skew).
const (
	overloadShare = 0.99
	skewShare     = 0.005
	stealShare    = 0.01
)

// unsteady: the rate has a slope or a step inside the window. A fixed amount of
// work has none to be steady: its window begins with the load and ends with
// its last straggler.
func unsteady(e *audit) (flag, why string) {
	if e.amount() {
		return "", ""
	}
	var rates []float64
	for _, s := range e.series {
		if s.InWindow {
			rates = append(rates, s.ExchangesPerS)
		}
	}
	change, found := stat.Drift(rates)
	if !found {
		return "", ""
	}
	return Unsteady, fmt.Sprintf("the rate changed by %+.3g %% inside the window", 100*change)
}

// overloaded: the open loop did not get what it offered.
func overloaded(e *audit) (flag, why string) {
	share, ok := e.values["offered_share"]
	if !ok || share >= overloadShare-scheduleNoise(e) {
		return "", ""
	}
	return Overloaded, fmt.Sprintf("achieved %.3g %% of the offered rate", 100*share)
}

// scheduleNoise is by how much a drawn schedule may fall short of its mean
// rate by chance: three standard deviations of a Poisson count.
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

// lateCounters: a worker's reading and its meter's lie too far apart, or the windows
// of two workers differ in length.
func lateCounters(e *audit) (flag, why string) {
	if why := lateReading(e); why != "" {
		return LateCounters, why
	}
	if why := unequalWindows(e); why != "" {
		return LateCounters, why
	}
	return "", ""
}

func lateReading(e *audit) string {
	workers := e.window.Record.Workers
	for i := range workers {
		span, ok := e.window.Span(&workers[i])
		if !ok {
			continue
		}
		from, to, length, ok := span.Metered()
		if !ok {
			continue
		}
		skew := math.Max(math.Abs(float64(from.SkewNs)), math.Abs(float64(to.SkewNs))) / 1e9
		if skew > skewShare*length {
			return fmt.Sprintf("%s was metered %.3g ms apart from its mark, %.2g %% of the window",
				span.Worker.Name, 1e3*skew, 100*skew/length)
		}
	}
	return ""
}

// unequalWindows compares durations, which two clocks agree on.
func unequalWindows(e *audit) string {
	if e.amount() {
		return "" // each end is done in its own time
	}
	var shortest, longest *record.Worker
	least, most := math.Inf(1), 0.0
	workers := e.window.Record.Workers
	for i := range workers {
		span, ok := e.window.Span(&workers[i])
		if !ok {
			continue
		}
		length, ok := span.Seconds()
		if !ok {
			continue
		}
		if length < least {
			least, shortest = length, span.Worker
		}
		if length > most {
			most, longest = length, span.Worker
		}
	}
	if longest == nil || most-least <= skewShare*least {
		return ""
	}
	return fmt.Sprintf("the window of %s was %.3g ms longer than that of %s", longest.Name, 1e3*(most-least), shortest.Name)
}

// generatorLate: the closed loop left slots empty, so the generator and not the
// server paced it. In a fixed amount of work slots are empty once their share
// is done.
func generatorLate(e *audit) (flag, why string) {
	busy, ok := e.inFlight()
	least := e.slots - queued(e)
	if !ok || e.open || e.thinking || e.amount() || busy >= least*(1-littleSlack) {
		return "", ""
	}
	return GeneratorLate, fmt.Sprintf("the generator kept only %.4g of %.4g slots busy", busy, least)
}

// queued counts the slots whose exchange may wait for another's bytes on the
// same connection, which is no time of its service: where exchanges stream, all
// but one of each connection's.
func queued(e *audit) float64 {
	sum := 0.0
	for _, g := range e.generators {
		if g.Setup != nil && g.Setup.Exchange.Stream != "" {
			one := g.Setup.Load
			one.InFlight = 1
			sum += Slots(g.Setup.Load) - Slots(one)
		}
	}
	return sum
}

// stolenCPU: the hypervisor gave the CPUs to somebody else.
func stolenCPU(e *audit) (flag, why string) {
	if share := e.values["host.steal_share"]; share > stealShare {
		return StolenCPU, fmt.Sprintf("%.2g %% of the host's CPU time was stolen", 100*share)
	}
	return "", ""
}

// reconnected: connections ended between exchanges and were made anew, so the
// connections of the window are not all those that were verified.
func reconnected(e *audit) (flag, why string) {
	n := int64(0)
	for _, g := range e.generators {
		if g.Result != nil && g.Setup != nil && !g.Setup.Load.Fresh {
			n += g.Result.Counts.Redialled
		}
	}
	if n <= 0 {
		return "", ""
	}
	return Reconnected, fmt.Sprintf("%d connections ended between exchanges and were made anew", n)
}
