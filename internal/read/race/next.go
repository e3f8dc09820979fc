package race

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// course is what a race has come to before a block.
type course struct {
	racing  bool // the block is one of the race
	winner  string
	ended   string   // why the race ended, in half a sentence; "" while it goes on
	run     []string // arms of the block
	dropped []string // arms that were left out after the block before, each with its reason
	behind  []string // arms for which the trials do not suffice
}

// Next decides which arms run in a block of a race: the arms that may still be the best,
// and the baseline; after the race the winner and the baseline, in as many blocks as the
// study declares for the confirmation; then none. Blocks count from 1. The words say what
// was decided, "" where nothing changed.
func Next(s *cells.Dataset, block int) (record.Allocation, string) {
	spec := s.Header.Study.Race
	a := record.Allocation{Block: block}
	if block <= 1 || spec == nil {
		return a, ""
	}
	c := confirmation(s, *spec, block)
	if c.winner == "" {
		c = before(s, *spec, block)
	}
	if len(c.run) == 0 {
		a.Ended, a.Why = true, part.Sentence(c.ended)
		return a, a.Why
	}
	for _, t := range s.Trials {
		if t.Plan.Block == block && t.Plan.Arm != s.Header.Study.Compare.Baseline && !slices.Contains(c.run, t.Plan.Arm) {
			a.Left = append(a.Left, t.Plan.ID)
		}
	}
	if !c.racing {
		a.Confirms = c.winner
	}
	var words []string
	if len(c.dropped) > 0 {
		words = append(words, part.Sentence("left out: "+strings.Join(c.dropped, "; ")))
	}
	if len(c.behind) > 0 {
		words = append(words, part.Sentence("left out, as trials or time do not suffice for all: "+strings.Join(c.behind, ", ")))
	}
	if c.ended != "" {
		words = append(words, part.Sentence(c.ended), fmt.Sprintf("%s is now compared with %s in %s fresh blocks.", c.winner, s.Header.Study.Compare.Baseline, confirms(*spec)))
	}
	a.Why = strings.Join(words, " ")
	return a, a.Why
}

// confirmation goes on with the blocks that compare the winner with the baseline, once the
// first of them has run. A study that declares confirm=10 gets 10 such blocks, and one more
// for each block in which a trial is not valid, but no more than 20 in all and none for
// which no trials are left. Where the study has a time, the time may end the confirmation
// after leastConfirm blocks. Figures never end it, so that no figure chooses how many
// blocks there are.
func confirmation(s *cells.Dataset, spec record.Race, block int) course {
	var c course
	blocks := 0
	for _, a := range s.Header.Allocations {
		if a.Confirms != "" {
			c.winner, blocks = a.Confirms, blocks+1
		}
	}
	if c.winner == "" {
		return c
	}
	lost := map[int]bool{}
	confirms := confirming(s.Header.Allocations)
	for _, v := range s.Trials {
		if confirms[v.Plan.Block] && v.Record != nil && v.Trial.Status != trial.Valid {
			lost[v.Plan.Block] = true
		}
	}
	rest, _ := remaining(s, spec, block)
	enough := min(spec.Confirm, leastConfirm)
	if spec.TimeS == 0 {
		enough = spec.Confirm
	}
	if blocks < enough || blocks < 2*spec.Confirm && blocks-len(lost) < spec.Confirm && rest >= 2 {
		c.run = []string{c.winner}
		return c
	}
	c.ended = fmt.Sprintf("the %d blocks that compare %s with the baseline are measured", blocks, c.winner)
	return c
}

// before judges the race by the blocks before one.
func before(s *cells.Dataset, spec record.Race, block int) course {
	f := gather(s, spec, block)
	return f.nextCourse(f.judge(block-1), spec, limitsOf(s, spec, block))
}

// nextCourse decides which arms of a block run.
func (f field) nextCourse(st standing, spec record.Race, to limits) course {
	c := course{racing: true}
	for _, r := range f.runners {
		switch fate, runs := st.fates[r.name]; {
		case !runs:
		case fate.Fate == Stayed:
			c.run = append(c.run, r.name)
		case !r.base:
			c.dropped = append(c.dropped, r.name+" "+why(fate, r.reason))
		}
	}
	c.ended = f.ends(st, c.run, spec)
	if c.ended == "" && to.rest != unbounded {
		c.trim(f, st, spec, to)
	}
	switch {
	case c.ended != "":
	case to.block+spec.Confirm > to.blocks:
		c.ended = "the blocks of the race are spent"
	default:
		return c
	}
	c.racing, c.run = false, nil
	if base := f.baseline(); st.leader != nil && !st.plain && base != nil && !base.breaks() {
		c.winner, c.run = st.leader.name, []string{st.leader.name}
	}
	return c
}

// trim leaves the worse half of the arms out when the trials that are left, by number or
// by time, are too few for one block after each halving of the arms: 8 arms can be halved
// three times, so they need 3 blocks of 8 trials. Which half is the worse is a guess by
// the figures so far.
//
// Source: sequential halving, Karnin, Koren and Somekh, Almost optimal exploration in
// multi-armed bandits, ICML 2013.
func (c *course) trim(f field, st standing, spec record.Race, to limits) {
	left := to.rest - 2*spec.Confirm
	cost := func() int { return len(c.run) + oneIf(!slices.Contains(c.run, f.baseline().name)) }
	if halvings := bits.Len(uint(len(c.run) - 1)); len(c.run) > 1 && left < len(c.run)*halvings {
		// An arm without a valid figure yet is no worse than others for that.
		measured := slices.DeleteFunc(slices.Clone(c.run), func(name string) bool { _, has := st.levels[name]; return !has })
		slices.SortStableFunc(measured, func(a, b string) int { return st.rank(f, a, b) })
		keep := max(2, (len(c.run)+1)/2) - (len(c.run) - len(measured))
		for _, name := range measured[min(max(keep, 0), len(measured)):] {
			if name != f.baseline().name {
				c.behind = append(c.behind, name)
			}
			c.run = slices.DeleteFunc(c.run, func(other string) bool { return other == name })
		}
	}
	if left < cost() {
		c.ended = "the " + to.scarce + " spent"
	}
}

// ends says why a race is decided; "" while it is not.
func (f field) ends(s standing, run []string, spec record.Race) string {
	others := slices.DeleteFunc(slices.Clone(run), func(name string) bool { return s.leader != nil && name == s.leader.name })
	switch base := f.baseline(); {
	case base == nil || s.fates[base.name].Fate == Fell:
		return "the baseline's trials failed or are not valid, so nothing can be compared with it"
	case f.silent():
		return "no trial has a valid " + spec.Best
	case len(run) == 0:
		return "no arm is left that keeps " + boundsText(spec.Within)
	case s.leader == nil:
		return ""
	case s.plain && s.close:
		return fmt.Sprintf("no arm is better than the baseline by more than %s", quantity.ShareText(f.margin))
	case len(others) == 0:
		return s.leader.name + " is the only arm left"
	case s.close:
		return fmt.Sprintf("nothing is better than %s by more than %s", s.leader.name, quantity.ShareText(f.margin))
	}
	return ""
}

// silent tells whether arms had two valid trials or more without a figure to race by.
func (f field) silent() bool {
	return !slices.ContainsFunc(f.runners, func(r *runner) bool { return len(r.pace) > 0 || r.invalid > 0 || r.last < mostFailed })
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// why says why an arm was left out.
func why(f fate, reason string) string {
	switch f.Fate {
	case Slower:
		return "is worse than " + f.by
	case Broken:
		return "breaks a bound"
	case Fell:
		return "has no trials that count: " + reason
	}
	return "stays"
}

// boundsText prints bounds as a study has them.
func boundsText(bounds []record.Bound) string {
	texts := make([]string, len(bounds))
	for i, b := range bounds {
		sign := "<="
		if b.AtLeast {
			sign = ">="
		}
		texts[i] = b.Metric + " " + sign + " " + b.Text
	}
	return strings.Join(texts, " and ")
}

// confirms is how many blocks confirm a winner, for a sentence.
func confirms(spec record.Race) string {
	if spec.TimeS > 0 && spec.Confirm > leastConfirm {
		return fmt.Sprintf("%d to %d", leastConfirm, spec.Confirm)
	}
	return strconv.Itoa(spec.Confirm)
}

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

// remaining is how many trials a race may still run before a block, and which bound says
// so: the study's number of trials, or the time that is left. With 300 s left and 10 s
// for each trial so far the time allows 30 trials. A machine slower than expected thus
// gets fewer trials, not a longer race.
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
