package search

import (
	"fmt"
	"math"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
)

const (
	scattered   = 0.25 // a spread above which windows tell no single threshold
	enough      = 10   // outcomes without which they cannot contradict one
	byChance    = 1    // windows that may go the other way before they do: something disturbed the machine
	driftBeyond = 0.001
)

// undecided says why outcomes that both meet and miss the objective tell no capacity;
// "" when they do.
func undecided(tries []Try, p posterior) string {
	if len(tries) < least {
		return fmt.Sprintf("%d windows that tell are too few, at least %d are needed", len(tries), least)
	}
	if why := contradiction(tries, p); why != "" {
		return why
	}
	low, high := extremes(tries)
	if e := p.interval(); e.Low*beyondTried < low || e.High > high*beyondTried {
		return fmt.Sprintf("the windows, from %s/s to %s/s, do not enclose it: by their outcomes it may lie anywhere from %s/s to %s/s", rateText(low), rateText(high), rateText(e.Low), rateText(e.High))
	}
	return ""
}

// beyondTried is how far beyond the rates tried, as a factor, an interval may reach: what
// it says there is what the prior says.
const beyondTried = 1.1

// contradiction says how outcomes contradict a single threshold; "" when they do not. Two
// kinds of server do: one with two states, or slowed at times by something else, meets
// the objective well above rates at which it missed it; one that warms up, fills or
// scales has another threshold in the second half of the run than in the first.
func contradiction(tries []Try, p posterior) string {
	odd := otherWay(tries)
	if len(tries) < enough || odd <= byChance {
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
		return fmt.Sprintf("its windows contradict each other: it missed the objective from %s/s on and met it up to %s/s, and %d of %d windows fit no single threshold (two states, or pauses longer than a window?)",
			rateText(missed), rateText(met), odd, len(tries))
	}
	before, after, moved := drift(tries, p)
	if !moved {
		return ""
	}
	return fmt.Sprintf("its capacity moved while it was measured: %s–%s/s by the first half of the windows, %s–%s/s by the second (does it warm up, fill, or scale?)",
		rateText(before.Low), rateText(before.High), rateText(after.Low), rateText(after.High))
}

// otherWay counts the windows that no single threshold explains: the fewest that missed
// the objective below one, and met it above.
func otherWay(tries []Try) int {
	least := len(tries)
	for _, at := range tries {
		below, above := 0, 0 // with the threshold just below this rate, and just above it
		for _, t := range tries {
			if t.Met && t.Rate >= at.Rate || !t.Met && t.Rate < at.Rate {
				below++
			}
			if t.Met && t.Rate > at.Rate || !t.Met && t.Rate <= at.Rate {
				above++
			}
		}
		least = min(least, below, above)
	}
	return least
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

// By how many times the windows up to the lower end of a capacity's interval, and up to the
// capacity itself, may miss the objective together before that speaks against the capacity:
// their times scatter about it.
const (
	littleMissed = 1.3
	farMissed    = 2
)

// paused says that windows miss an objective together that most of them met: a server that
// stands still now and then, which a short window may not see. All times of the windows up
// to the lower end of a capacity's interval, missed ones among them, must nearly meet it, and
// those up to the capacity itself roughly. Windows in which the generator was at its own limit
// say nothing of that. "" where they do.
func (a *series) paused(low, capacity float64) string {
	for _, b := range a.Spec.Objective {
		if metric.Shown(b.Metric).Kind == "" || b.AtLeast {
			continue
		}
		for _, level := range []struct{ upTo, most float64 }{{low, littleMissed * b.Value}, {capacity, farMissed * b.Value}} {
			f, told := cells.PoolOf(func(yield func(*trial.Trial) bool) {
				for _, t := range a.Tries {
					if t.Rate <= level.upTo && !t.client && !yield(&a.judged[t.ID].Trial) {
						return
					}
				}
			}, b.Metric).Figure()
			if told && f.Value > level.most {
				return fmt.Sprintf("of all %s up to %s/s together it is %s, though single windows met the objective (pauses that most windows do not see?)",
					quantity.Plural(f.Trials, "window"), rateText(level.upTo), shown(b.Metric, f.Value))
			}
		}
	}
	return ""
}
