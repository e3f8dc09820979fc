package cells

import (
	"iter"
	"math"
	"slices"

	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// timed is what the times of a kind of some trials say together.
type timed struct {
	pools  map[string]*Pool // by metric, of those that are percentiles of the kind
	points []hist.Point     // by percentile, as far as enough values lie beyond
	bars   []Bar
	maxUs  float64
	longer bool // some of them may be longer than is known
}

// whole is where a pool of a percentile comes from.
type whole struct {
	of     metric.Metric
	trials []*trial.Trial // valid ones with such times; nil of times by class, path, step or size
	n      int            // trials
	values []float64      // of the trials that have enough times by themselves
}

// timed is timedOf an arm in a cell, worked out once.
func (s *Dataset) timed(cell, arm, kind string) *timed {
	at := [3]string{cell, arm, kind}
	known, ok := s.times.Load(at)
	if !ok {
		known, _ = s.times.LoadOrStore(at, timedOf(s.TrialsOf(cell, arm), kind))
	}
	return known.(*timed)
}

// Pool is PoolOf an arm in a cell.
func (s *Dataset) Pool(cell, arm, name string) *Pool {
	if m, err := metric.Named(name); err == nil && m.Kind != "" {
		return s.timed(cell, arm, m.Kind).pools[name]
	}
	return PoolOf(s.TrialsOf(cell, arm), name)
}

// timedOf merges the times of a kind of all valid trials.
func timedOf(trials iter.Seq[*trial.Trial], kind string) *timed {
	var with []*trial.Trial
	var packed, most []hist.Packed
	bounded := false
	for v := range trials {
		if v.Status != trial.Valid {
			continue
		}
		if least, longest := v.Times.Of(kind); len(least) > 0 {
			with, packed, most = append(with, v), append(packed, least), append(most, longest)
			bounded = bounded || &least[0] != &longest[0]
		}
	}
	t := record.Times{Least: hist.Unpack(packed...)}
	if t.Most = t.Least; bounded {
		t.Most = hist.Unpack(most...)
	}
	all := &timed{pools: map[string]*Pool{}, bars: bars(t), maxUs: float64(t.Least.MaxNs()) / 1e3, longer: bounded}
	exact := metric.Exact(t, trial.Shares)
	for i, ns := range t.Least.Percentiles(trial.Shares) {
		all.points = append(all.points, hist.Point{Share: trial.Shares[i], Ns: ns, AtLeast: i >= exact})
	}
	of := metric.PercentilesOf(kind)
	shares := make([]float64, len(of))
	for i, m := range of {
		shares[i] = m.Share
	}
	at := t.Least.Percentiles(shares)
	blocks := make([]int, len(with))
	for i, v := range with {
		blocks[i] = v.Block
	}
	by := blocksOf(blocks, packed, at)
	for i, m := range of {
		p := &Pool{whole: &whole{of: m, trials: with, n: len(with)}}
		if all.pools[m.Name] = p; i >= len(at) {
			continue
		}
		for _, v := range with {
			if x, has := v.Values.Of(m.Name); has {
				p.whole.values = append(p.whole.values, x)
			}
		}
		p.Bounds = 1 - metric.Exact(t, []float64{m.Share})
		by.enter(p, i, t.Least, float64(at[i]))
	}
	return all
}

// Percentiles are those of times of several trials together, each of which is of a block, in µs;
// their shares rise. One beyond which too few times lie, or that lies at hist.MaxNs, which
// stands for an exchange that was left unfinished, has no blocks.
func Percentiles(blocks []int, packed []hist.Packed, shares []float64) []Figure {
	all, figures := hist.Unpack(packed...), make([]Figure, len(shares))
	at := all.Percentiles(shares)
	at = at[:len(at)-len(beyond(at))]
	by := blocksOf(blocks, packed, at)
	for i, ns := range at {
		p := &Pool{whole: &whole{of: metric.Metric{Share: shares[i]}, n: len(blocks)}}
		by.enter(p, i, all, float64(ns))
		figures[i], _ = p.Figure()
	}
	return figures
}

// beyond are the percentiles, rising, that stand for exchanges that were left unfinished.
func beyond(at []int64) []int64 {
	k := slices.IndexFunc(at, func(ns int64) bool { return ns >= hist.MaxNs })
	if k < 0 {
		return nil
	}
	return at[k:]
}

// byBlock counts the times of each block.
type byBlock struct {
	blocks []int // rising
	all    []float64
	below  [][]float64 // by percentile and block: those at or below it
	near   [][]float64 // … and those at or below half of it
}

func blocksOf(blocks []int, packed []hist.Packed, at []int64) byBlock {
	by := byBlock{
		blocks: slices.Compact(slices.Sorted(slices.Values(blocks))),
		below:  make([][]float64, len(at)), near: make([][]float64, len(at)),
	}
	half := make([]int64, len(at))
	by.all = make([]float64, len(by.blocks))
	for i := range at {
		by.below[i], by.near[i] = make([]float64, len(by.blocks)), make([]float64, len(by.blocks))
		half[i] = at[i] / 2
	}
	for k, block := range blocks {
		b, _ := slices.BinarySearch(by.blocks, block)
		below, all := packed[k].UpTo(at)
		near, _ := packed[k].UpTo(half)
		by.all[b] += float64(all)
		for i, n := range below {
			by.below[i][b] += float64(n)
			by.near[i][b] += float64(near[i])
		}
	}
	return by
}

// enter makes the pool of the percentile of all times together, in ns. A block's value
// there is what it adds to the percentile, so that the mean of all is the percentile itself
// and their scatter is its uncertainty: by how much the share of the block's times that lie
// at or below the percentile is off, times the slope of the logarithm of the percentile by
// the share. The slope is that to the ends of the interval of the share, the steeper one:
// times that gather in two places far apart have none at a point. A delete-one jackknife
// covers less (TestWholeCoverage).
//
// Source: R. S. Woodruff, Confidence intervals for medians and other position measures,
// 1952; W. G. Cochran, Sampling Techniques, 1977, section 6.3, for a share over blocks of
// different size.
func (by byBlock) enter(p *Pool, i int, h *hist.Histogram, ns float64) {
	n, sum := float64(h.Count()), 0.0
	for _, below := range by.below[i] {
		sum += below
	}
	off := make([]float64, len(by.blocks))
	for b := range off {
		off[b] = (by.below[i][b] - sum/n*by.all[b]) * float64(len(off)) / n
	}
	sd, share := stat.SD(off), p.whole.of.Share
	uncertain := stat.HalfWidth(len(off), sd)
	slope := slopeAt(h, share, uncertain)
	if sd > clumped*math.Sqrt(share*(1-share)*float64(len(off))/n) && uncertain > much*min(share, 1-share) {
		slope *= stat.TQuantile(float64(max(len(off)-4, 1))) / stat.TQuantile(float64(len(off)-1))
	}
	if by.reached(i, 1-share) < min(leastReached, len(off)) && uncertain > 0 {
		slope = max(slope, 1.01*math.Log(mostApart)/uncertain)
	}
	for b, block := range by.blocks {
		p.Add(block, math.Exp(math.Log(ns)-slope*off[b])/1e3)
	}
}

// Where times come in clumps, as in pauses, so that blocks differ in the share that lies
// below a percentile by several times as much as chance has it and the share beyond is known
// but roughly, t of three degrees of freedom fewer is taken: of six blocks Student's own
// covers 88 %.
const (
	clumped = 3
	much    = 0.25
)

// leastReached is how many blocks must have times near a percentile. One that rests on pauses
// of fewer is known to no factor: of two like servers that pause in every third block, six
// blocks of the one may hold none, and nothing in them says so.
const leastReached = 4

// reached counts the blocks that have times beyond half of a percentile, a tenth at least of
// the share that lies beyond it in all.
func (by byBlock) reached(i int, beyond float64) (n int) {
	for b, all := range by.all {
		if all > 0 && all-by.near[i][b] >= beyond*all/10 {
			n++
		}
	}
	return n
}

// slopeAt returns by how much the logarithm of a percentile changes with its share, over
// as much of the share as it is uncertain by.
func slopeAt(h *hist.Histogram, share, uncertain float64) float64 {
	if !(uncertain > 0) || math.IsInf(uncertain, 1) {
		return 0
	}
	down, up := min(uncertain, share), min(uncertain, 1-share)
	at := h.Quantiles([]float64{share - down, share, share + up})
	log := func(i int) float64 { return math.Log(max(float64(at[i]), 1)) }
	return max((log(1)-log(0))/down, (log(2)-log(1))/up)
}

// Over is the pool of some of the blocks.
func (p *Pool) Over(blocks []int) *Pool {
	if p.whole == nil || len(blocks) == p.Count() {
		return p
	}
	return timedOf(func(yield func(*trial.Trial) bool) {
		for _, t := range p.whole.trials {
			if slices.Contains(blocks, t.Block) && !yield(t) {
				return
			}
		}
	}, p.whole.of.Kind).pools[p.whole.of.Name]
}
