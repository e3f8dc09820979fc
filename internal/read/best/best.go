// Package best judges which arms may be the best of a cell on a metric, and what to use
// by that. A comparison with a baseline cannot say so: two arms that are both better than
// the baseline are not compared.
//
// An arm leaves the set of those that may be best where another arm is shown to be
// better. With the study's confidence the set holds the truly best arm of every cell and
// metric at once, whatever the arms' noise is and whatever depends on what: in each cell
// and metric only the comparisons of the best arm with the others can put it out, and the
// level is divided by the number of these comparisons and by the number of sets. With 4
// arms in 2 cells on 1 metric each comparison is judged at 5 % ÷ 3 ÷ 2.
//
// Source: J. C. Hsu, Multiple Comparisons: Theory and Methods, 1996, chapter 4
// (constrained comparisons with the best), with Bonferroni's inequality in the place of
// one common variance, as the variances of arms differ, and two-sided intervals, so that
// no arm is Worse here on less than a verdict takes.
package best

import (
	"cmp"
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
)

// Standing is what is known of an arm beside the best of its cell on a metric.
type Standing string

// The standings. Of one set either one arm is Best and the others are Worse, or those
// that are not Worse are each Level or Open.
const (
	Best    Standing = "best"    // every other arm is shown to be worse than some arm
	Level   Standing = "level"   // the best is better by less than the margin, whichever it is
	Open    Standing = "open"    // may be the best, or worse by more than the margin
	Worse   Standing = "worse"   // another is better by more than the bound
	Unknown Standing = "unknown" // its figures may not be compared
)

// Set are the arms of a cell beside the best of them on a metric.
type Set struct {
	Cell   string  `json:"cell"`
	Metric string  `json:"metric"`
	Level  float64 `json:"level"` // of the set: the chance that the best arm is Worse in it
	Arms   []Arm   `json:"arms"`  // the highest mean first; those that are Unknown last
}

// Arm is an arm in a set.
type Arm struct {
	Name     string   `json:"name"`
	Standing Standing `json:"standing"`
	By       string   `json:"by,omitempty"`     // of Worse: the arm that is better most surely
	Reason   string   `json:"reason,omitempty"` // of Unknown
	Value    float64  `json:"value"`            // in the metric's unit, over the blocks that it shares with the first
	Ratio    float64  `json:"ratio"`            // to the first arm of the set; 1 of that arm, 0 where there is none
	Low      float64  `json:"low"`              // the ratio's interval of confidence 1 − Level ÷ the number of others
	High     float64  `json:"high"`
	Blocks   int      `json:"blocks,omitempty"` // of the ratio, and in how many both arms ran
	Of       int      `json:"of,omitempty"`
	Hidden   float64  `json:"hidden,omitempty"` // of Level and Open: by what share another may be better at most, 0.04 for 4 %; large where one is not compared with it
}

// gatherAll compares the arms of every cell on every primary metric that has a better
// direction. There is none where figures chose what was run, and where a look decides
// nothing.
func gatherAll(s *cells.Dataset, noise []compare.Noise, out []Out) []*judging {
	if !s.Kind.Compares || s.NoVerdict() {
		return nil
	}
	var all []*judging
	for _, name := range s.Compare.Primary {
		m, err := metric.Named(name)
		if err != nil || m.Better == "" {
			continue
		}
		all = append(all, cells.EachCell(s, func(cell string) []*judging {
			if j := gather(s, cell, m, out); len(j.arms) > 1 {
				return []*judging{j}
			}
			return nil
		})...)
	}
	bounds := compare.BoundsOf(noise)
	for _, j := range all {
		j.margin = compare.Margin(s.Compare)
		j.bound = max(j.margin, bounds[[2]string{j.cell, j.metric}])
		j.level, j.whole = s.Level()/float64(len(all)), s.Level()
	}
	return all
}

// judging is a set on its way to its standings.
type judging struct {
	cell, metric  string
	arms          []string
	pairs         [][]pair // of arm by other arm
	lower         bool     // is better
	margin, bound float64  // ratios − 1
	level         float64  // of the set
	whole         float64  // of all sets: fewer blocks than it takes say nothing, as of a verdict
}

// pair is what is known of one arm against another.
type pair struct {
	ratio   stat.Uncertain // its logarithm; no Degrees where there is none
	value   float64        // the arm's figure over the blocks of both
	blocks  int
	of      int // blocks in which both ran
	refusal string
}

// gather compares every arm of a cell with every other.
func gather(s *cells.Dataset, cell string, m metric.Metric, out []Out) *judging {
	j := &judging{cell: cell, metric: m.Name, lower: m.Better == metric.Lower}
	for _, arm := range s.Arms {
		if len(s.Of(cell, arm)) > 0 && !slices.Contains(s.Reference, arm) && !slices.ContainsFunc(out, func(o Out) bool { return o.Cell == cell && o.Arm == arm }) {
			j.arms = append(j.arms, arm)
		}
	}
	j.pairs = make([][]pair, len(j.arms))
	for i := range j.arms {
		j.pairs[i] = make([]pair, len(j.arms))
	}
	for i, arm := range j.arms {
		for k := range i {
			p := compare.Prepare(s, cell, m, arm, j.arms[k])
			one := pair{ratio: p.Effect, value: p.Value, blocks: p.Blocks, of: p.Of, refusal: p.Refusal}
			if p.Refusal != "" {
				one.ratio = stat.Uncertain{}
			}
			other := one
			other.ratio.Point, other.value = -one.ratio.Point, p.BaseValue
			j.pairs[i][k], j.pairs[k][i] = one, other
		}
	}
	return j
}

// ahead is by how much arm k is better than arm i: the logarithm of their ratio, above 0
// where it is; no Degrees where they are not compared.
func (j *judging) ahead(k, i int) stat.Uncertain {
	u := j.pairs[k][i].ratio
	if j.lower {
		u.Point = -u.Point
	}
	return u
}

// share is the level of each comparison: the best arm's with every other are as many as
// there are others.
func (j *judging) share() float64 { return j.level / float64(max(1, len(j.arms)-1)) }

// judge gives the standings of some arms among these; nil stands for all.
func (j *judging) judge(among []string) Set {
	set := Set{Cell: j.cell, Metric: j.metric, Level: j.level}
	order, unknown := j.order(among)
	share := j.share()
	worse := map[int]int{} // arm → who is better most surely
	for _, i := range order {
		if by := j.beaten(i, order); by >= 0 {
			worse[i] = by
		}
	}
	left := slices.DeleteFunc(slices.Clone(order), func(i int) bool { _, out := worse[i]; return out })
	for _, i := range order {
		a := j.beside(i, order[0], share)
		by, out := worse[i]
		switch {
		case out:
			a.Standing, a.By = Worse, j.arms[by]
		case len(left) == 1 && len(unknown) == 0:
			a.Standing = Best
		default:
			a.Standing = Open
			if a.Hidden = j.hidden(i, left, share); a.Hidden < j.margin && len(unknown) == 0 {
				a.Standing = Level
			}
		}
		set.Arms = append(set.Arms, a)
	}
	for _, i := range unknown {
		set.Arms = append(set.Arms, Arm{Name: j.arms[i], Standing: Unknown, Reason: j.why(i)})
	}
	return set
}

// order returns the arms from the best mean to the worst, by their ratios to all others
// together, and those that are compared with none.
func (j *judging) order(among []string) (order, unknown []int) {
	for i, arm := range j.arms {
		switch {
		case among != nil && !slices.Contains(among, arm):
		case slices.ContainsFunc(j.pairs[i], func(p pair) bool { return p.ratio.Degrees > 0 }):
			order = append(order, i)
		default:
			unknown = append(unknown, i)
		}
	}
	ahead := make([]float64, len(j.arms)) // of all others together
	for _, i := range order {
		for _, k := range order {
			ahead[i] += j.ahead(i, k).Point
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ahead[b], ahead[a]) })
	return order, unknown
}

// beaten returns who is better than an arm most surely; −1 where nobody is shown to be.
func (j *judging) beaten(i int, order []int) int {
	by, surest := -1, math.Log1p(j.bound)
	for _, k := range order {
		if low := j.surely(k, i); low > surest {
			by, surest = k, low
		}
	}
	return by
}

// surely is by how much arm k is better than arm i at least, as a logarithm; −∞ where
// nobody knows.
func (j *judging) surely(k, i int) float64 {
	ahead := j.ahead(k, i)
	if k == i || ahead.Degrees == 0 || j.tooFew(k, i) {
		return math.Inf(-1)
	}
	return ahead.At(j.share()).Low
}

// tooFew tells whether two arms share fewer blocks than any verdict takes.
func (j *judging) tooFew(k, i int) bool { return stat.MinP(j.pairs[k][i].blocks) > j.whole }

// hidden returns by what share one of the arms that are left may be better than arm i.
func (j *judging) hidden(i int, left []int, share float64) float64 {
	most := 0.0
	for _, k := range left {
		if k == i {
			continue
		}
		if ahead := j.ahead(k, i); ahead.Degrees > 0 && !j.tooFew(k, i) {
			most = max(most, math.Expm1(min(ahead.At(share).High, math.Log(math.MaxFloat64))))
		} else {
			most = math.MaxFloat64
		}
	}
	return most
}

// beside is an arm with its ratio to the first.
func (j *judging) beside(i, first int, share float64) Arm {
	a := Arm{Name: j.arms[i]}
	if i == first {
		a.Ratio, a.Low, a.High = 1, 1, 1
		for k := range j.arms {
			if p := j.pairs[i][k]; p.ratio.Degrees > 0 {
				a.Value = p.value
				break
			}
		}
		return a
	}
	if p := j.pairs[i][first]; p.ratio.Degrees > 0 {
		e := p.ratio.At(share)
		a.Blocks, a.Of = p.blocks, p.of
		a.Value, a.Ratio, a.Low, a.High = p.value, math.Exp(e.Point), math.Exp(e.Low), cells.Finite(math.Exp(e.High))
	}
	return a
}

// why is the reason for which an arm is compared with none.
func (j *judging) why(i int) string {
	for _, p := range j.pairs[i] {
		if p.refusal != "" {
			return p.refusal
		}
	}
	return "no other arm has figures"
}

// Out is an arm that did not do the work of a cell, so that nothing is said of it there.
type Out struct {
	Cell   string `json:"cell"`
	Arm    string `json:"arm"`
	Why    Why    `json:"why"`
	Metric string `json:"metric,omitempty"` // of Refused
	Reason string `json:"reason,omitempty"`
}

// Why is what keeps an arm out.
type Why string

// The grounds.
const (
	Absent     Why = "absent"     // it cannot run here
	Failed     Why = "failed"     // none of its trials is valid
	Refused    Why = "refused"    // its figures of a metric may not be compared, while those of others are
	Overloaded Why = "overloaded" // it fell behind the offered rate in most trials, and another arm did not
)

// refused are the arms that may be the best or not, as nobody can tell: on a metric on which
// others are compared their comparisons are refused, and on none are they shown to be worse.
func refused(sets []Set) []Out {
	worse := map[[2]string]bool{}
	for _, s := range sets {
		for _, arm := range s.standing(Worse) {
			worse[[2]string{s.Cell, arm}] = true
		}
	}
	var out []Out
	for _, s := range sets {
		for _, a := range s.Arms {
			if a.Standing == Unknown && !s.mute() && !worse[[2]string{s.Cell, a.Name}] {
				out = append(out, Out{s.Cell, a.Name, Refused, s.Metric, a.Reason})
			}
		}
	}
	return out
}

// mute tells whether no two arms of the set can be compared.
func (s Set) mute() bool { return len(s.standing(Unknown)) == len(s.Arms) }

// leftOut are the arms of every cell that did not do its work.
func leftOut(s *cells.Dataset) []Out {
	return cells.EachCell(s, func(cell string) []Out {
		var out, behind []Out
		kept := 0
		for _, arm := range s.Arms {
			judged := s.Of(cell, arm)
			ran, valid, first := 0, 0, ""
			for _, v := range judged {
				if v.Record != nil {
					ran, first = ran+1, cmp.Or(first, v.Trial.Reason)
				}
				if v.Trial.Status == trial.Valid {
					valid++
				}
			}
			absent := compare.CannotRun(s, cell, arm)
			switch {
			case ran == 0: // it does not run here, or has not yet
			case absent != "":
				out = append(out, Out{cell, arm, Absent, "", absent})
			case valid == 0:
				out = append(out, Out{cell, arm, Failed, "", first})
			case 2*cells.Flagged(judged, trial.Overloaded) > valid:
				behind = append(behind, Out{cell, arm, Overloaded, "", ""})
			default:
				kept++
			}
		}
		if kept > 0 {
			out = append(out, behind...)
		}
		return out
	})
}
