package trial

import (
	"fmt"
	"math"
	"slices"
	"strings"

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

// turnsShare is the share of all that was offered in turns which a load must reach that goes
// on: what is in flight at its end is short of it.
const turnsShare = 0.98

// PaceOfTurns takes flag Overloaded from turns of loads that reached their rate over all
// turns together: a server that stands still in one makes up for it in the next.
func PaceOfTurns(judged []*Judged) {
	type load struct{ arm, cell string }
	done, due := map[load]float64{}, map[load]float64{}
	for _, v := range judged {
		if v.Record == nil || v.Trial.TurnS == 0 || v.Trial.Status == StatusWarmUp {
			continue
		}
		for i := range v.Record.Workers {
			g := &v.Record.Workers[i]
			if g.Result == nil || g.Setup == nil || !(g.Setup.Load.Rate > 0) {
				continue
			}
			at := load{v.Plan.Arm, v.Plan.Cell}
			done[at] += float64(g.Result.Counts.Exchanges + g.Result.Drained)
			due[at] += g.Setup.Load.Rate * windowOf(g)
		}
	}
	for _, v := range judged {
		at := load{v.Plan.Arm, v.Plan.Cell}
		if v.Trial.TurnS > 0 && done[at] >= turnsShare*due[at] {
			v.drop(Overloaded)
		}
	}
}

// drop takes a flag from a trial.
func (v *Judged) drop(flag string) {
	at := slices.Index(v.Trial.Flags, flag)
	if at < 0 {
		return
	}
	if v.Trial.Reason == strings.Join(v.Why, "; ") {
		v.Trial.Reason = strings.Join(slices.Delete(slices.Clone(v.Why), at, at+1), "; ")
	}
	v.Trial.Flags, v.Why = slices.Delete(v.Trial.Flags, at, at+1), slices.Delete(v.Why, at, at+1)
}
