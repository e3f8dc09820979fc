package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// RateSearch is one search for a rate: what is asked, what was tried, what comes next. A
// window at a rate meets the objective or does not (outcome.go). From all outcomes follows
// how probable each rate is, from that the next one (threshold.go) and how long its window
// is (windows.go).
type RateSearch struct {
	Spec           record.Capacity
	Window, Warmup time.Duration // the shortest
	Most           float64       // the rate of the closed loop
	Tries          []Try         // that tell, as they ran
	UsedS          float64       // that all trials took
}

// Step is the next window.
type Step struct {
	Rate           float64
	Window, Warmup time.Duration
}

// Add notes the outcome of a window.
func (s *RateSearch) Add(t Try) {
	s.Tries = inParts(append(s.Tries, t))
	s.UsedS += t.Seconds
}

// Next returns the next window, or why there is none.
func (s *RateSearch) Next() (step Step, why string) {
	switch {
	case settled(s.Tries, s.Spec.Within):
		return step, "is known closely enough"
	case len(s.Tries) > 0 && s.UsedS >= s.Spec.TimeS:
		return step, "has spent its time"
	}
	rate, more := nextRate(s.Tries, s.Most)
	if !more || s.exhausted() {
		return step, "has no rate left to try"
	}
	return s.stepAt(max(rate, s.bottom())), ""
}

// stepAt is a window at a rate, to three digits, so that a record and a table show what was
// offered.
func (s *RateSearch) stepAt(rate float64) Step {
	step := Step{Rate: threeDigits(rate)}
	step.Window, step.Warmup, _ = s.lengths(step.Rate, near(s.Tries))
	return step
}

func threeDigits(rate float64) float64 {
	scale := math.Pow(10, math.Floor(math.Log10(rate))-2)
	if scale < 1 { // decimals are exact only as quotients
		return math.Round(rate/scale) / math.Round(1/scale)
	}
	return math.Round(rate/scale) * scale
}

// bottom is the lowest rate that is tried.
func (s *RateSearch) bottom() float64 { return max(s.floor(), lowest*s.Most) }

// exhausted tells whether nothing met the objective: enough windows missed it, down to
// the lowest rate.
func (s *RateSearch) exhausted() bool {
	const roundedUp = 1.01 // how far three digits may lie above a rate
	low, _ := extremes(s.Tries)
	_, met := bracketed(s.Tries)
	return !met && len(s.Tries) >= leastMissed && low <= roundedUp*s.bottom()
}

// Found returns the rate with its interval, or why there is none: the outcomes do not
// enclose one, or contradict each other.
func (s *RateSearch) Found() (Estimate, string) {
	p, enclosed := known(s.Tries)
	if !enclosed {
		return Estimate{}, "no rates enclose it"
	}
	if why := undecided(s.Tries, p); why != "" {
		return Estimate{}, why
	}
	return *estimateOf(p.capacityOf()), ""
}

// series is the search of one arm in one cell, with its trials.
type series struct {
	cells.Key
	RateSearch
	closed *trial.Judged // the first trial, flat out; nil before it ran
	untold []Try         // windows that say nothing of the objective
	judged map[string]*trial.Judged

	directory string // of the run; "" when it is not known
}

// seriesOf parts a run's trials by arm and cell, in the study's order.
func seriesOf(s *cells.Dataset) []*series {
	var all []*series
	for at, judged := range s.Places() {
		one := newSeries(at, *s.Kind.Rates, judged)
		one.directory = s.Directory
		all = append(all, one)
	}
	return all
}

func newSeries(key cells.Key, spec record.Capacity, judged []*trial.Judged) *series {
	a := &series{Key: key, RateSearch: RateSearch{Spec: spec}, judged: map[string]*trial.Judged{}}
	a.Window, _ = quantity.ParseDuration(judged[0].Plan.Levels[windowFactor]) // block 1 runs as planned
	a.Warmup, _ = quantity.ParseDuration(judged[0].Plan.Levels[warmupFactor])
	for _, v := range judged {
		if v.Record == nil {
			continue
		}
		a.judged[v.Plan.ID] = v
		switch t := tryOf(spec.Objective, v); {
		case v.Plan.Levels[record.Rate] == flatOut:
			a.closed, a.Most = v, v.Trial.Values.At(metric.ExchangesPerS)
			a.UsedS += t.Seconds
		case t.Untold:
			a.untold = append(a.untold, t)
			a.UsedS += t.Seconds
		default:
			a.Add(t)
		}
	}
	return a
}

// mostUntold bounds the windows of an arm that say nothing in a row.
const mostUntold = 4

// untoldInRow counts the latest windows that say nothing.
func (a *series) untoldInRow() (n int) {
	last := 0
	if len(a.Tries) > 0 {
		last = a.Tries[len(a.Tries)-1].Block
	}
	for _, t := range a.untold {
		if t.Block > last {
			n++
		}
	}
	return n
}

// step is the search's next window, or why there is none. Where windows say nothing at a
// rate, it goes around that: lower before any window met the objective, nearer to the
// highest that did while none missed it.
func (a *series) step() (Step, string) {
	switch n := a.untoldInRow(); {
	case a.closed == nil:
		return Step{}, "has not run flat out"
	case !(a.Most > 0):
		return Step{}, "ended flat out without a rate: " + cmp.Or(a.closed.Trial.Reason, a.closed.Trial.Status)
	case a.Most < a.floor():
		return Step{}, fmt.Sprintf("does %s/s flat out, and below %s/s no window of this search's time holds the exchanges that the objective's percentile needs", rateText(a.Most), rateText(a.floor()))
	case n >= mostUntold:
		return Step{}, "has no window that tells: " + a.untold[len(a.untold)-1].Why
	default:
		step, why := a.Next()
		if why != "" || n == 0 {
			return step, why
		}
		return a.around(step, n), ""
	}
}

// around is the step after so many windows at its rate that say nothing.
func (a *series) around(step Step, n int) Step {
	_, high := extremes(a.Tries)
	switch missed, met := bracketed(a.Tries); {
	case missed && met:
		return step
	case met:
		return a.stepAt(high * math.Pow(upwards, math.Pow(2, -float64(n))))
	}
	return a.stepAt(max(a.bottom(), step.Rate*math.Pow(2, -float64(n))))
}

// nextRates decides what a block of a search for rates runs: in the first block every arm
// flat out, in a closed loop, which bounds its rates; in every other one each arm at its own
// next rate. Arms that need no further window are left out, and when none is left the run
// ends. The words say how far the search is.
func nextRates(s *cells.Dataset, block int) (record.Allocation, string) {
	decided := record.Allocation{Block: block, Levels: map[string]map[string]string{}}
	arms := map[cells.Key]*series{}
	var whys, soFar []string
	for _, a := range seriesOf(s) {
		arms[a.Key] = a
		if p, ok := known(a.Tries); ok {
			e := p.capacityOf()
			soFar = append(soFar, fmt.Sprintf("%s%s %s–%s/s", a.Arm, cells.InCell(a.Cell), rateText(e.Low), rateText(e.High)))
		}
	}
	for _, v := range s.Trials {
		if v.Plan.Block != block {
			continue
		}
		a := arms[cells.KeyOf(v.Plan.Cell, v.Plan.Arm)]
		step, why := a.step()
		if why != "" {
			decided.Left = append(decided.Left, v.Plan.ID)
			whys = append(whys, a.Arm+cells.InCell(a.Cell)+" "+why)
			continue
		}
		decided.Levels[v.Plan.ID] = map[string]string{
			record.Rate: quantity.RateText(step.Rate), windowFactor: quantity.DurationText(step.Window), warmupFactor: quantity.DurationText(step.Warmup),
		}
	}
	slices.Sort(whys)
	decided.Why = strings.Join(whys, "; ")
	if len(decided.Levels) == 0 {
		decided.Levels, decided.Left, decided.Ended = nil, nil, true
	}
	const saidEach = 5 // blocks
	if block%saidEach != 0 && !decided.Ended {
		return decided, ""
	}
	return decided, strings.Join(soFar, ", ")
}

// readRates says what is known of each arm, and what the arms carry against the baseline.
func (f *Search) readRates(s *cells.Dataset) {
	for _, a := range seriesOf(s) {
		f.Arms = append(f.Arms, a.read())
	}
	for i := range f.Arms {
		a := &f.Arms[i]
		base := slices.IndexFunc(f.Arms, func(b Arm) bool { return b.Cell == a.Cell && b.Arm == f.Baseline })
		if base >= 0 && f.Arms[base].Fate == Carries && a.Fate == Carries && a.Arm != f.Baseline {
			a.Ratio = estimateOf(ratio(a.posterior, f.Arms[base].posterior))
		}
	}
}

// read says what is known of an arm.
func (a *series) read() Arm {
	arm := Arm{Cell: a.Cell, Arm: a.Arm, Trials: len(a.Tries), ClosedS: a.Most, Tries: slices.Concat(a.Tries, a.untold)}
	slices.SortStableFunc(arm.Tries, func(x, y Try) int { return cmp.Compare(x.Block, y.Block) })
	if arm.Fate, arm.Why = a.nothing(); arm.Why == "" {
		a.carried(&arm)
	}
	if arm.Fate == Undecided || arm.Fate == Nothing {
		arm.Why, arm.Cure = a.busy()+arm.Why, a.cure()
	}
	return arm
}

// busy says that other processes used the machine's CPUs, which may be all that is wrong; ""
// where they did in less than a quarter of the windows.
func (a *series) busy() string {
	beside, most := 0, 0.0
	for _, t := range a.Tries {
		if others := a.judged[t.ID].Trial.Others; others > 0 {
			beside, most = beside+1, max(most, others)
		}
	}
	if 4*beside < len(a.Tries) || beside == 0 {
		return ""
	}
	return fmt.Sprintf("other processes used up to %s of the CPUs in %d of %s, and ", quantity.FormatShare(most), beside, quantity.Plural(len(a.Tries), "window"))
}

// carried says what an arm carries of which some window met the objective.
func (a *series) carried(arm *Arm) {
	highest := highestMet(a.Tries)
	if _, _, short := a.lengths(max(highest, lowest*a.Most), true); short {
		for _, t := range arm.Tries {
			arm.Short = max(arm.Short, t.Window)
		}
	}
	arm.Fate = Undecided
	e := Estimate{highest, highest, highest}
	p, enclosed := known(a.Tries)
	if enclosed {
		e, arm.posterior = *estimateOf(p.capacityOf()), p
		arm.Why = undecided(a.Tries, p)
	}
	if arm.Why = cmp.Or(arm.Why, a.paused(e.Low, e.Value)); arm.Why != "" {
		return
	}
	arm.Fate = Carries
	arm.Limit, arm.LimitOf, arm.Proof = limitAt(a.Tries, a.judged, e.Value, a.closed)
	switch {
	case !enclosed:
		arm.Fate = AtLeast
	case generatorEnded(a.Tries, e.Value): // both together carry that; the server may carry more
		arm.Fate, e = AtLeast, Estimate{e.Low, e.Low, e.Low}
	default:
		arm.Wide = e.High-e.Low > a.Spec.Within*e.Value
	}
	arm.Figure = &cells.Figure{N: len(a.Tries), Trials: len(a.Tries), Value: e.Value, Low: e.Low, High: e.High, Mean: cells.Whole, AtLeast: arm.Fate == AtLeast}
}

// nothing says why there is no rate, or why that is not decided; "" when there may be one.
func (a *series) nothing() (fate Fate, why string) {
	_, met := bracketed(a.Tries)
	untold := ""
	if n := len(a.untold); n > 0 {
		untold = fmt.Sprintf("%s told nothing, the last because %s", quantity.Plural(n, "window"), a.untold[n-1].Why)
	}
	switch {
	case a.closed == nil:
		return Undecided, "it has not run yet"
	case met:
		return Undecided, ""
	case len(a.Tries) == 0 && untold != "":
		return Undecided, untold
	case len(a.Tries) == 0:
		_, why := a.step()
		return Undecided, "it " + cmp.Or(why, "has tried no rate")
	}
	lowest := slices.MinFunc(a.Tries, func(x, y Try) int { return cmp.Compare(x.Rate, y.Rate) })
	missed := fmt.Sprintf("each of %s that tell missed it; at %s/s, the lowest, the reason was: %s", quantity.Plural(len(a.Tries), "window"), rateText(lowest.Rate), lowest.Why)
	byClient := 0
	for _, t := range a.Tries {
		if t.client {
			byClient++
		}
	}
	switch {
	case 2*byClient > len(a.Tries):
		return Undecided, fmt.Sprintf("%s, and in %d of them the load generator was at its own limit", missed, byClient)
	case a.exhausted():
		return Nothing, missed
	case untold != "":
		missed += "; " + untold
	}
	return Undecided, missed
}

// cure is what would decide about an arm without a rate: to see why a window tells nothing,
// else longer windows.
func (a *series) cure() string {
	account := func(id string) string {
		return fmt.Sprintf("netdyno report %s --trial %s shows it", cmp.Or(a.directory, "DIR"), id)
	}
	_, met := bracketed(a.Tries)
	switch {
	case a.closed != nil && !(a.Most > 0):
		return account(a.closed.Plan.ID)
	case len(a.untold) > 0 && !met && !a.exhausted():
		return account(a.untold[len(a.untold)-1].ID)
	}
	const times = 5
	return fmt.Sprintf("the same search with --time %s, whose windows may be %d times as long, would tell more", quantity.DurationText(time.Duration(times*a.Spec.TimeS*float64(time.Second))), times)
}

// highestMet is the highest rate at which a window met the objective and, counted from
// below, no more windows missed it than met it; 0 for none.
func highestMet(tries []Try) float64 {
	sorted := slices.SortedStableFunc(slices.Values(tries), func(x, y Try) int { return cmp.Compare(x.Rate, y.Rate) })
	best, ahead := 0.0, 0
	for _, t := range sorted {
		if !t.Met {
			ahead--
		} else if ahead++; ahead > 0 {
			best = t.Rate
		}
	}
	return best
}

// generatorEnded tells whether most windows that missed near a rate did so while the load
// generator was at its own limit.
func generatorEnded(tries []Try, rate float64) bool {
	const nearby = 1.3
	client, all := 0, 0
	for _, t := range tries {
		if t.Met || t.Rate > nearby*rate {
			continue
		}
		if all++; t.client {
			client++
		}
	}
	return 2*client > all
}
