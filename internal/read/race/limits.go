package race

import (
	"math"

	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// unbounded is the rest of a race that neither trials nor time end.
const unbounded = math.MaxInt

// leastConfirm is how many blocks confirm a winner where the time is short: with fewer no
// verdict can be reached.
const leastConfirm = 6

// What a race can run out of, as a sentence says it.
const (
	ofTrials = "trials of the race are"
	ofTime   = "time of the race is"
)

// limits are how long a race may go on.
type limits struct {
	block  int    // that is decided about
	blocks int    // of the plan
	rest   int    // trials that may still be run, the confirmation's included
	scarce string // what bounds them
}

func limitsOf(s *cells.Dataset, spec record.Race, block int) limits {
	to := limits{block: block, blocks: s.Header.Study.Blocks}
	to.rest, to.scarce = remaining(s, spec, block)
	return to
}

// remaining is how many trials a race may still run before a block, and what bounds them:
// those that its study allows, or those that fit into the time that is left when each
// takes as long as those so far. A machine that is slower than was thought gets fewer
// trials, and not a longer race.
func remaining(s *cells.Dataset, spec record.Race, block int) (rest int, scarce string) {
	taken, timed, seconds := 0, 0, 0.0
	for _, v := range s.Trials {
		if v.Plan.Block >= block {
			continue
		}
		taken++
		if v.Record != nil {
			timed, seconds = timed+1, seconds+float64(v.Record.Timeline.EndNs)/1e9
		}
	}
	rest = unbounded
	if spec.Trials > 0 {
		rest, scarce = spec.Trials-taken, ofTrials
	}
	if spec.TimeS > 0 && seconds > 0 {
		if fit := int((spec.TimeS - seconds) / (seconds / float64(timed))); fit < rest {
			rest, scarce = fit, ofTime
		}
	}
	return rest, scarce
}
