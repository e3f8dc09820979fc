package search

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/stat"
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
}

// nextRace decides which arms run in a block of a race: the arms that may still be the best,
// and the baseline; after the race the winner and the baseline, in as many blocks as the
// study declares for the confirmation; then none.
func nextRace(s *cells.Dataset, block int) (record.Allocation, string) {
	a, base := record.Allocation{Block: block}, s.Compare.Baseline
	c := confirmation(s, block)
	if c.winner == "" {
		f := gather(s, block)
		c = f.nextCourse(f.judge(block - 1))
	}
	if len(c.run) == 0 {
		a.Ended, a.Why = true, part.Sentence(c.ended)
		return a, a.Why
	}
	for _, t := range s.Trials {
		if t.Plan.Block == block && t.Plan.Arm != base && !slices.Contains(c.run, t.Plan.Arm) {
			a.Left = append(a.Left, t.Plan.ID)
		}
	}
	var words []string
	if !c.racing {
		a.Confirms = c.winner
	}
	if c.ended != "" {
		words = append(words, part.Sentence(c.ended), fmt.Sprintf("%s is now compared with %s in fresh blocks.", c.winner, base))
	}
	if len(c.dropped) > 0 {
		words = append(words, part.Sentence("left out: "+strings.Join(c.dropped, "; ")))
	}
	a.Why = strings.Join(words, " ")
	return a, a.Why
}

// leastConfirm is how many blocks confirm a winner where the time is short: with fewer no
// verdict can be reached.
const leastConfirm = 6

// confirmation goes on with the blocks that compare the winner with the baseline, once the
// first of them has run. A study that declares confirm=10 gets 10 such blocks, and one more
// for each block in which a trial is not valid, but no more than 20 in all and none for
// which no time is left. The time may end the confirmation after leastConfirm blocks.
// Figures never end it, so that no figure chooses how many blocks there are.
func confirmation(s *cells.Dataset, block int) course {
	spec, confirms := s.Kind.Race, confirming(s.Decided)
	c := course{winner: winnerOf(s.Decided)}
	if c.winner == "" {
		return c
	}
	lost := map[int]bool{}
	for _, v := range s.Trials {
		if confirms[v.Plan.Block] && v.Record != nil && v.Trial.Status != trial.Valid {
			lost[v.Plan.Block] = true
		}
	}
	blocks, enough := len(confirms), min(spec.Confirm, leastConfirm)
	if spec.TimeS == 0 {
		enough = spec.Confirm
	}
	if blocks < enough || blocks < 2*spec.Confirm && blocks-len(lost) < spec.Confirm && remaining(s, block) >= 2 {
		c.run = []string{c.winner}
		return c
	}
	c.ended = fmt.Sprintf("the %d blocks that compare %s with the baseline are measured", blocks, c.winner)
	return c
}

// winnerOf is the arm that won, once that was decided; "" before, and where nobody can win.
func winnerOf(decided []record.Allocation) string {
	if i := slices.IndexFunc(decided, func(a record.Allocation) bool { return a.Confirms != "" }); i >= 0 {
		return decided[i].Confirms
	}
	return ""
}

// nextCourse decides which arms of a block run.
func (f field) nextCourse(st standing) course {
	c := course{racing: true}
	var run []*runner
	for _, r := range f.runners {
		switch fate, runs := st.fates[r.name]; {
		case !runs:
		case fate.Fate == Stayed:
			run = append(run, r)
		case !r.base:
			c.dropped = append(c.dropped, r.name+" "+fate.why)
		}
	}
	if c.ended = f.ends(st, run); c.ended == "" && f.rest != unbounded {
		run = c.trim(f, st, run)
	}
	for _, r := range run {
		c.run = append(c.run, r.name)
	}
	switch {
	case c.ended != "":
	case f.block+f.spec.Confirm > f.blocks:
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

// trim leaves the worse half of the arms out when the time that is left is too short for
// one block after each halving of the arms: 8 arms can be halved three times, so they need
// 3 blocks of 8 trials. Which half is the worse is a guess by the figures so far.
//
// Source: sequential halving, Karnin, Koren and Somekh, Almost optimal exploration in
// multi-armed bandits, ICML 2013.
func (c *course) trim(f field, st standing, run []*runner) []*runner {
	left := f.rest - 2*f.spec.Confirm
	if halvings := bits.Len(uint(len(run) - 1)); len(run) > 1 && left < len(run)*halvings {
		// An arm without a valid figure yet is no worse than others for that.
		measured := slices.DeleteFunc(slices.Clone(run), func(r *runner) bool { return len(r.pace) == 0 })
		slices.SortStableFunc(measured, st.rank)
		keep := max(2, (len(run)+1)/2) - (len(run) - len(measured))
		behind := measured[min(max(keep, 0), len(measured)):]
		run = slices.DeleteFunc(slices.Clone(run), func(r *runner) bool { return slices.Contains(behind, r) })
		for _, r := range behind {
			if !r.base {
				c.dropped = append(c.dropped, r.name+" is behind, and the time does not suffice for all")
			}
		}
	}
	cost := len(run)
	if !slices.ContainsFunc(run, func(r *runner) bool { return r.base }) {
		cost++
	}
	if left < cost {
		c.ended = "the time of the race is spent"
	}
	return run
}

// ends says why a race is decided; "" while it is not.
func (f field) ends(s standing, run []*runner) string {
	switch base := f.baseline(); {
	case base == nil || s.fates[base.name].Fate == Fell:
		return "the baseline's trials failed or are not valid, so nothing can be compared with it"
	case f.silent():
		return "no trial has a valid " + f.spec.Best
	case len(run) == 0:
		return "no arm is left that keeps " + objectiveWords(f.spec.Within)
	case s.leader == nil:
		return ""
	case s.plain && s.close:
		return "no arm is better than the baseline by more than " + quantity.ShareText(f.margin)
	case len(run) == 1 && run[0] == s.leader:
		return s.leader.name + " is the only arm left"
	case s.close:
		return fmt.Sprintf("nothing is better than %s by more than %s", s.leader.name, quantity.ShareText(f.margin))
	}
	return ""
}

// silent tells whether arms had two valid trials or more without a figure to race by.
func (f field) silent() bool {
	return f.runner(func(r *runner) bool { return len(r.pace) > 0 || r.invalid > 0 || r.last < mostFailed }) == nil
}

// unbounded is the rest of a race that no time ends.
const unbounded = math.MaxInt

// remaining is how many trials a race still has time for before a block. With 300 s left and
// 10 s for each trial so far the time allows 30 trials. A machine slower than expected thus
// gets fewer trials, not a longer race.
func remaining(s *cells.Dataset, block int) int {
	timed, seconds, whole := 0, 0.0, s.Kind.Race.TimeS
	for _, v := range s.Trials {
		if v.Plan.Block < block && v.Record != nil {
			timed, seconds = timed+1, seconds+float64(v.Record.Timeline.EndNs)/1e9
		}
	}
	if whole == 0 || seconds == 0 {
		return unbounded
	}
	return int((whole - seconds) / (seconds / float64(timed)))
}

// readRace says what became of every arm, and which to use.
func (f *Search) readRace(s *cells.Dataset) {
	decided := s.Decided
	confirms := confirming(decided)
	c := &Choice{Winner: winnerOf(decided)}
	f.Choice = c
	for _, v := range s.Trials {
		if v.Record == nil {
			continue
		}
		if c.Trials++; !confirms[v.Plan.Block] {
			c.Blocks = max(c.Blocks, v.Plan.Block)
		}
	}
	for _, a := range decided {
		if c.Ended == "" && (a.Ended || a.Confirms != "") {
			c.Ended = a.Why
		}
	}
	all := gather(s, c.Blocks+1)
	c.Margin = all.margin
	f.Arms = all.arms(c.Blocks)
	st := all.judge(c.Blocks)
	if c.Winner == "" && st.leader != nil && c.Ended != "" {
		c.Winner = st.leader.name
	}
	f.conclude(s, all, st)
	if c.Recommended != "" && c.Recommended != f.Baseline {
		c.Settings = settings(s, c.Recommended, f.Baseline)
	}
}

// arms tell what became of every arm, by the last block in which the arm ran; last is the
// last block of the race.
func (f field) arms(last int) []Arm {
	_, noise := f.paces()
	base := f.baseline()
	then := map[int]standing{}
	all := make([]Arm, 0, len(f.runners))
	for _, r := range f.runners {
		a := Arm{Arm: r.name, Fate: Stayed, Trials: r.last}
		if _, judged := then[r.last]; !judged {
			then[r.last] = f.upTo(r.last).judge(r.last)
		}
		if fate, known := then[r.last].fates[r.name]; known {
			a.Fate, a.Why = fate.Fate, fate.why
		}
		if a.Fate == Stayed && !r.base && r.last < last {
			a.Fate = Behind
		}
		with := r
		if base != nil && !r.base {
			if a.Ratio = f.ratio(r, base, noise); a.Ratio != nil {
				with = base
			}
		}
		a.Figure = f.figure(r, with)
		all = append(all, a)
	}
	return all
}

// upTo is the field as it was after a block.
func (f field) upTo(block int) field {
	earlier := func(values map[int]float64) map[int]float64 {
		kept := maps.Clone(values)
		maps.DeleteFunc(kept, func(b int, _ float64) bool { return b > block })
		return kept
	}
	then := f
	then.runners = nil
	for _, r := range f.runners {
		one := *r
		one.pace, one.excess, one.last = earlier(r.pace), nil, min(r.last, block)
		for _, excess := range r.excess {
			one.excess = append(one.excess, earlier(excess))
		}
		then.runners = append(then.runners, &one)
	}
	return then
}

// ratio is a's metric over b's with its 95 % interval; nil without a block that both have,
// and while no noise is known: one block gives no ratio.
func (f field) ratio(a, b *runner, n noise) *Estimate {
	mean, variances, ok := ahead(a, b)
	if !ok || n.degrees == 0 {
		return nil
	}
	reach := n.reach((1-stat.Confidence)/2, variances)
	mean = toward(f.better, mean)
	return &Estimate{math.Exp(mean), math.Exp(mean - reach), min(math.Exp(mean+reach), math.MaxFloat64)}
}

// figure is an arm's over the blocks of the race that another has too; nil for none.
func (f field) figure(r, with *runner) *cells.Figure {
	var p cells.Pool
	for block, x := range r.pace {
		if _, both := with.pace[block]; both {
			p.Add(block, math.Exp(toward(f.better, x)))
		}
	}
	if figure, ok := p.Figure(); ok {
		return &figure
	}
	return nil
}

// pooled are an arm's figures in some trials: of a percentile, those of all their times.
func pooled(s *cells.Dataset, arm, name string, of func(*trial.Judged) bool) *cells.Pool {
	return cells.PoolOf(func(yield func(*trial.Trial) bool) {
		for _, v := range s.Trials {
			if v.Plan.Arm == arm && of(v) && !yield(&v.Trial) {
				return
			}
		}
	}, name)
}

// conclude finds the state of a race, and what is recommended.
func (f *Search) conclude(s *cells.Dataset, all field, st standing) {
	c, base := f.Choice, all.baseline()
	switch {
	case c.Ended == "":
		c.State = Running
	case base == nil || base.breaks() || all.silent() || c.Winner == "":
		c.State, c.Why = Unkept, c.Ended
	case st.plain:
		c.State, c.Recommended = Kept, f.Baseline
		c.Why = "no other arm came out ahead of it by more than " + quantity.ChosenShare(c.Margin)
		c.Bounds = boundsOf(s, f.Objective, f.Baseline, func(*trial.Judged) bool { return true })
	default:
		f.confirm(s)
	}
}

// costs are what a gain is paid with, where the trials have it.
var costs = []string{metric.OfServer + metric.CPUPerExchange, metric.OfClient + metric.CPUPerExchange, metric.OfServer + metric.RSS, metric.OfClient + metric.RSS}

// confirm judges the winner by the fresh blocks alone.
func (f *Search) confirm(s *cells.Dataset) {
	c, confirms := f.Choice, confirming(s.Decided)
	over := slices.ContainsFunc(s.Decided, func(a record.Allocation) bool { return a.Ended })
	fresh := s.OfBlocks(confirms, s.Kind.Race.Best)
	if len(fresh.Cells) != 1 || len(confirms) < s.Kind.Race.Confirm && !over || slices.ContainsFunc(fresh.Trials, func(v *trial.Judged) bool { return v.Record == nil }) {
		c.State = Running
		return
	}
	gain := prepared(fresh, f.Metric, c.Winner, f.Baseline) // by the ordinary rule, as the only declared comparison
	gain.Bound = gain.Margin
	compare.ShareLevel([]*compare.Pending{gain})
	gain.Judge()
	c.Gain = &gain.Comparison
	for _, name := range costs {
		if b := prepared(fresh, name, c.Winner, f.Baseline); name != f.Metric && b.Ratio > 0 && b.Blocks >= 2 {
			b.LeaveUnjudged()
			c.Costs = append(c.Costs, b.Comparison)
		}
	}
	inFresh := func(v *trial.Judged) bool { return confirms[v.Plan.Block] }
	keeps := func(arm string) bool {
		return !slices.ContainsFunc(boundsOf(s, f.Objective, arm, inFresh), func(b Bound) bool { return b.State != compare.Met })
	}
	switch kept, plain := keeps(c.Winner), keeps(f.Baseline); {
	case kept && c.Gain.Verdict == compare.Better:
		c.State, c.Recommended = Confirmed, c.Winner
	case kept && !plain:
		c.State, c.Recommended = Needed, c.Winner
	case plain:
		c.State, c.Recommended, c.Why = Kept, f.Baseline, f.unproven(kept)
	default:
		c.State, c.Why = Unkept, "no arm is sure to keep "+objectiveWords(f.Objective)
	}
	c.Bounds = boundsOf(s, f.Objective, cmp.Or(c.Recommended, c.Winner), inFresh)
}

// prepared is a comparison of the winner with the baseline in the only cell of a dataset.
func prepared(fresh *cells.Dataset, name, winner, base string) *compare.Pending {
	return compare.Prepare(fresh, fresh.Cells[0], metric.Shown(name), winner, base)
}

// boundsOf holds an arm's figures against the bounds.
func boundsOf(s *cells.Dataset, bounds []record.Bound, arm string, of func(*trial.Judged) bool) []Bound {
	var all []Bound
	for _, b := range bounds {
		held := Bound{Bound: b, State: compare.Undecided}
		if figure, ok := pooled(s, arm, b.Metric, of).Figure(); ok {
			held.Figure, held.State = figure, compare.Hold(figure, b)
		}
		all = append(all, held)
	}
	return all
}

// settings are the levels of an arm that another does not have, as they are typed.
func settings(s *cells.Dataset, arm, base string) []string {
	levels := func(name string) map[string]string {
		i := slices.IndexFunc(s.Trials, func(v *trial.Judged) bool { return v.Plan.Arm == name })
		if i < 0 {
			return nil
		}
		return s.Trials[i].Plan.Levels
	}
	others := levels(base)
	var all []string
	for factor, level := range levels(arm) {
		if others[factor] != level && factor != s.Compare.Factor {
			all = append(all, factor+"="+level)
		}
	}
	slices.Sort(all)
	return all
}
