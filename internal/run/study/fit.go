package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// TooLongError is the error of a study that does not fit into a time.
type TooLongError struct {
	Study   string
	Limit   time.Duration
	Least   time.Duration // that the least of it takes
	LeftOut []string      // without these already
}

func (e *TooLongError) Error() string {
	text := fmt.Sprintf("study %s does not fit into %s: it needs at least %s", e.Study, quantity.DurationText(e.Limit), quantity.DurationText(upToSecond(e.Least)))
	if len(e.LeftOut) > 0 {
		text += ", without " + strings.Join(e.LeftOut, ", ")
	}
	return text
}

// upToSecond is a time that is printed as one that suffices.
func upToSecond(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// Fit returns the study as it fits into a time by an estimate, by one rule (docs/studies.md,
// In less time), and what of it is left out, in words. Later looks go first, and blocks down to as
// many as a verdict needs; then probes; then levels between the least and the most of
// factors that are numbers, from the middle; then sweeps, the last first. What claims name
// stays, and so do all arms. Time that is left over goes into blocks. The error is a
// *TooLongError where the least of the study takes longer, and says how long that is.
//
// It is pure. The views of the study are as they were: what they can no longer show is the
// caller's to leave out.
func (s *Study) Fit(limit time.Duration, estimate func([]record.Trial) Estimate) (*Study, []string, error) {
	all := &fitting{original: s, study: s.copied(), limit: limit, estimate: estimate, names: s.others(), prices: map[[2]string]time.Duration{}}
	if fits, err := all.fits(); fits || err != nil {
		return s, nil, err
	}
	if s.Steered() || s.SettleS > 0 {
		return nil, nil, Errorf(s.At, "study %s bounds its own time; change its key capacity.time, race.time or settle", s.Name)
	}
	all.claimed = s.claimed(all.names)
	all.blocks(1)
	done, err := all.fits()
	for !done && err == nil && all.shrink() {
		done, err = all.fits()
	}
	if err != nil {
		return nil, nil, err
	}
	if !done {
		return nil, nil, &TooLongError{Study: s.Name, Limit: limit, Least: all.takes, LeftOut: all.words()}
	}
	if err := all.refill(); err != nil {
		return nil, nil, err
	}
	words := all.words()
	all.study.leftOut = all.cells()
	all.study.fitted = fmt.Sprintf("to fit into %s it is run without %s", quantity.DurationText(limit), strings.Join(words, ", "))
	return all.study, words, nil
}

// fitting is a study on its way into a time.
type fitting struct {
	original, study *Study
	limit, takes    time.Duration
	estimate        func([]record.Trial) Estimate
	names           []Varied                    // factors by which the original names its cells, as is done here
	prices          map[[2]string]time.Duration // of one trial, by cell and arm, as far as it was asked
	claimed         map[string]bool             // cells that claims name
}

// copied is the study with levels, sweeps and looks of its own.
func (s *Study) copied() *Study {
	c := *s
	c.Vary, c.Sweeps, c.OwnLooks = slices.Clone(s.Vary), slices.Clone(s.Sweeps), slices.Clone(s.OwnLooks)
	for i := range c.Sweeps {
		c.Sweeps[i].Vary = slices.Clone(c.Sweeps[i].Vary)
	}
	return &c
}

// fits tells whether the study takes no longer than it may: all blocks take as long as the
// first, and all rounds of probes.
func (f *fitting) fits() (bool, error) {
	one := *f.study
	one.Blocks, one.OwnLooks, one.Further, one.Probes = 1, nil, nil, min(f.study.Probes, 1)
	if err := one.CheckSize(); err != nil {
		return false, err
	}
	before, block, probes, err := f.price(&one)
	f.takes = before + time.Duration(f.study.Blocks)*block + time.Duration(f.study.Probes)*probes
	return f.takes <= f.limit, err
}

// price returns how long the trials before a study's first block take, a block, and a round
// of its probes.
func (f *fitting) price(one *Study) (before, block, probes time.Duration, err error) {
	const rounded = time.Microsecond // more than an estimate loses by rounding
	if one.Mesh {                    // its trials run at once, so that one has no time of its own
		trials, _, err := one.Plan()
		first := len(Before(trials, 1)) - one.Probes*len(one.pairs())
		return 0, f.estimate(trials[:first]).Total + rounded, f.estimate(trials[first:]).Total + rounded, err
	}
	var once []record.Trial
	asks := one.asksSlowdown() || one.asksFlatOut()
	for _, v := range one.cells(f.names) {
		for i, l := range one.Compared().Levels {
			if !v.runs[i] {
				continue
			}
			of := [2]string{v.name, l.Text}
			if _, known := f.prices[of]; !known {
				f.prices[of] = f.one(v.trial(l))
			}
			block, probes = block+f.prices[of], probes+f.prices[of]
			if l.Text == one.Compare.Baseline && one.compares() {
				block += f.prices[of]
			}
			if asks {
				once = append(once, v.trial(l))
			}
		}
	}
	unloaded, err := one.unloaded(once)
	for _, t := range unloaded {
		block += f.one(t)
	}
	if err != nil {
		return 0, 0, 0, err
	}
	flatOut, err := one.flatOut(once)
	for _, t := range flatOut {
		before += flatOutRounds * f.one(t)
	}
	return before, block, probes, err
}

// one returns how long a trial takes by itself.
func (f *fitting) one(t record.Trial) time.Duration {
	return f.estimate([]record.Trial{t}).Total + time.Nanosecond // it rounds down
}

// claimed returns the cells that a claim names by levels, by their names with these factors.
func (s *Study) claimed(names []Varied) map[string]bool {
	cells := map[string]bool{}
	for _, v := range s.cells(names) {
		for i, l := range s.Compared().Levels {
			if !v.runs[i] || cells[v.name] {
				continue
			}
			levels := v.trial(l).Levels
			for _, c := range s.Claims {
				for _, p := range c.Parts {
					for _, where := range []map[string]string{p.Where, p.From} {
						cells[v.name] = cells[v.name] || len(where) > 0 && hasLevels(levels, where)
					}
				}
			}
		}
	}
	return cells
}

func hasLevels(levels, where map[string]string) bool {
	for factor, level := range where {
		if levels[factor] != level {
			return false
		}
	}
	return true
}

// blocks leaves some looks of the original for the run itself, and the others for
// netdyno run DIR --continue; of one look as many blocks as a verdict needs.
func (f *fitting) blocks(looks int) {
	all := append(slices.Clone(f.original.OwnLooks), f.original.Further...)
	if len(f.original.OwnLooks) == 0 {
		all = append([]int{f.original.Blocks}, all...)
	}
	if looks == 1 && all[0] > fewestBlocks && len(all) < MaxLooks {
		all = append([]int{fewestBlocks}, all...)
	}
	f.study.Blocks, f.study.OwnLooks, f.study.Further = all[looks-1], nil, all[looks:]
	if looks > 1 {
		f.study.OwnLooks = all[:looks]
	}
}

// refill gives the time that is left over to looks or blocks, then to the probes.
func (f *fitting) refill() error {
	tries := []func(){}
	for looks := len(f.original.OwnLooks); looks > 1; looks-- {
		tries = append(tries, func() { f.blocks(looks) })
	}
	if one := len(f.original.OwnLooks) == 0; one {
		for blocks := f.original.Blocks; blocks > f.study.Blocks; blocks-- {
			tries = append(tries, func() {
				f.study.Blocks = blocks
				if blocks == f.original.Blocks {
					f.study.Further = f.original.Further
				}
			})
		}
	}
	for _, try := range tries {
		before := *f.study
		try()
		if fits, err := f.fits(); fits || err != nil {
			return err
		}
		*f.study = before
	}
	return nil
}

// shrink takes the next thing away; false when there is nothing left that may go.
func (f *fitting) shrink() bool {
	if f.study.Probes > 0 {
		f.study.Probes = 0
		return true
	}
	return f.thin() || f.dropSweep()
}

// middle is a level that may go: of a factor of a design, the place of both.
type middle struct {
	sweep  int // -1 for the study's own design
	factor string
	level  string
	levels int     // that the factor has there
	off    float64 // from the middle of them
}

// thin takes one level away: from the factor with the most levels, the level nearest to
// the middle that no claim names. Of factors, or levels, that are equal in this the first
// one loses.
func (f *fitting) thin() bool {
	var all []middle
	for i, d := range f.study.designs() {
		sweep, named := i, f.named(d)
		if len(f.study.Sweeps) == 0 {
			sweep = -1
		}
		for _, v := range d.crossed() {
			order := ordered(v)
			for at, level := range order {
				if at == 0 || at == len(order)-1 || named[[2]string{v.Factor, level.Text}] {
					continue
				}
				off := float64(2*at-len(order)+1) / 2
				all = append(all, middle{sweep, v.Factor, level.Text, len(order), max(off, -off)})
			}
		}
	}
	if len(all) == 0 {
		return false
	}
	best := slices.MaxFunc(all, func(a, b middle) int {
		return cmp.Or(cmp.Compare(a.levels, b.levels), cmp.Compare(b.off, a.off), cmp.Compare(a.sweep, b.sweep))
	})
	f.without(best)
	return true
}

// ordered are the levels of a factor of numbers, in their order; nil for any other
// factor.
func ordered(v Varied) []Level {
	f, err := FactorNamed(v.Factor)
	if err != nil || slices.ContainsFunc(v.Levels, func(l Level) bool { return !numeric(l.Text) }) {
		return nil
	}
	levels := slices.Clone(v.Levels)
	if f.Kind != Text { // an option's stay as they were written
		slices.SortStableFunc(levels, func(a, b Level) int { return cmp.Compare(a.Value, b.Value) })
	}
	return levels
}

// named returns the settings of a design's cells that a claim names.
func (f *fitting) named(d *design) map[[2]string]bool {
	all := map[[2]string]bool{}
	if len(f.claimed) == 0 {
		return all
	}
	name := d.naming(f.names)
	d.eachCell(func(cell []Setting) {
		if f.claimed[name(cell)] {
			for _, x := range cell {
				all[[2]string{x.Factor, x.Level.Text}] = true
			}
		}
	})
	return all
}

// without takes a level away from a factor, of a sweep in that sweep alone.
func (f *fitting) without(m middle) {
	vary := &f.study.Vary
	if m.sweep >= 0 {
		w := &f.study.Sweeps[m.sweep]
		if own := FindVaried(w.Vary, m.factor); own == nil {
			w.Vary = append(w.Vary, *FindVaried(f.study.Vary, m.factor))
		}
		vary = &w.Vary
	}
	v := FindVaried(*vary, m.factor)
	v.Levels = slices.DeleteFunc(slices.Clone(v.Levels), func(l Level) bool { return l.Text == m.level })
}

// dropSweep takes the last sweep away of which no claim names a cell; the first one stays.
func (f *fitting) dropSweep() bool {
	for i := len(f.study.Sweeps) - 1; i > 0; i-- {
		d, claimed := f.study.designs()[i], false
		name := d.naming(f.names)
		d.eachCell(func(cell []Setting) { claimed = claimed || f.claimed[name(cell)] })
		if !claimed {
			f.study.Sweeps = slices.Delete(f.study.Sweeps, i, i+1)
			return true
		}
	}
	return false
}

// words say what the study lacks of the original.
func (f *fitting) words() []string {
	all := f.cells()
	if f.study.Blocks < f.original.Blocks {
		all = append(all, fmt.Sprintf("%d of %s", f.original.Blocks-f.study.Blocks, quantity.Plural(f.original.Blocks, "block")))
	}
	if f.study.Probes < f.original.Probes {
		all = append(all, "probes")
	}
	return all
}

// cells say which cells of the original the study lacks, by sweeps and levels.
func (f *fitting) cells() (all []string) {
	was, is := f.original.designs(), f.study.designs()
	if len(f.original.Sweeps) > 0 {
		kept := was[:0:0]
		var gone []string
		for i, w := range f.original.Sweeps {
			if slices.ContainsFunc(f.study.Sweeps, func(other Sweep) bool { return other.Name == w.Name }) {
				kept = append(kept, was[i])
			} else {
				gone = append(gone, w.Name)
			}
		}
		was = kept
		if len(gone) > 0 {
			all = append(all, "sweeps "+strings.Join(gone, " and "))
		}
	}
	for i, d := range was {
		for _, v := range d.crossed() {
			var gone []string
			for _, l := range v.Levels {
				if left := FindVaried(is[i].vary, v.Factor); !hasText(left.Levels, l.Text) {
					gone = append(gone, l.Text)
				}
			}
			if len(gone) == 0 {
				continue
			}
			text := v.Factor + "=" + strings.Join(gone, ",")
			if len(f.study.Sweeps) > 0 {
				text += " of sweep " + f.study.Sweeps[i].Name
			}
			all = append(all, text)
		}
	}
	return all
}
