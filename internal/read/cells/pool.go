package cells

import (
	"iter"
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
)

// Pool is a metric's figures by block: of an arm in a cell, or of all trials
// that a chart shows at one place. The zero value is empty.
type Pool struct {
	blocks []int     // of each figure, rising
	all    []float64 // the figures
	Plain  bool      // means are arithmetic, as a figure is 0 or the metric an error share
	Bounds int       // figures that are lower bounds

	whole *whole    // of a percentile: the times of all blocks; nil for any other metric
	turns []float64 // of a rate in turns of a load that goes on: of each turn
}

// PoolOf gathers the valid trials' figures of a metric; of a percentile, their times.
func PoolOf(trials iter.Seq[*trial.Trial], name string) *Pool {
	if m, err := metric.Named(name); err == nil && m.Kind != "" {
		return timedOf(trials, m.Kind).pools[name]
	}
	p, done, lasted := &Pool{}, map[int]float64{}, map[int]float64{}
	for t := range trials {
		if x, ok := t.Values.Of(name); ok && t.Status == trial.Valid {
			p.Add(t.Block, x)
			done[t.Block] += x * t.TurnS
			lasted[t.Block] += t.TurnS
			if t.AtLeast(name) {
				p.Bounds++
			}
		}
	}
	if name == metric.ExchangesPerS || name == metric.Goodput {
		p.Total(done, lasted)
	}
	return p
}

// Total makes the pool's figure the rate of all turns of a load together: what was done by
// block, by the time that it lasted, which a busy machine makes longer here and shorter there;
// nothing where there are no turns. A block's value becomes what it adds to that: 1 + the
// share by which the block is off, as a logarithm, so that their mean is the total and their
// scatter its uncertainty, also where a server stood still in a block.
func (p *Pool) Total(done, lasted map[int]float64) {
	rising := p.Rising()
	all, length := 0.0, 0.0
	for _, block := range rising {
		all, length = all+done[block], length+lasted[block]
	}
	total := all / length
	if !(total > 0) {
		return
	}
	p.turns = slices.Clone(p.all)
	p.blocks, p.all, p.Plain = nil, nil, false
	for _, block := range rising {
		p.Add(block, total*math.Exp((done[block]-total*lasted[block])/all*float64(len(rising))))
	}
}

// PoolWithErrors is PoolOf for an arm's own figure: it includes the error shares of invalid
// trials, and is the share of all exchanges together, to which a block's value is what it
// adds, as in Total. Comparisons never rest on it.
func PoolWithErrors(trials iter.Seq[*trial.Trial], name string) *Pool {
	if name != metric.ErrorShare {
		return PoolOf(trials, name)
	}
	p, failed, ended, all, bad := &Pool{Plain: true}, map[int]float64{}, map[int]float64{}, 0.0, 0.0
	for t := range trials {
		if x, ok := t.Values.Of(name); ok && (t.Status == trial.Valid || t.Errors > 0) {
			p.turns = append(p.turns, x)
			failed[t.Block] += float64(t.Errors)
			ended[t.Block] += t.Ended
			all, bad = all+t.Ended, bad+float64(t.Errors)
		}
	}
	for block, n := range ended {
		p.Add(block, bad/all+(failed[block]-bad/all*n)/all*float64(len(ended)))
	}
	return p
}

// Add enters one trial's figure; what is not a number is left out.
func (p *Pool) Add(block int, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	at := len(p.blocks)
	if at > 0 && p.blocks[at-1] > block {
		at, _ = slices.BinarySearch(p.blocks, block+1)
	}
	p.blocks, p.all = slices.Insert(p.blocks, at, block), slices.Insert(p.all, at, value)
	p.Plain = p.Plain || value <= 0
}

// Of returns a block's figures, which belong to the pool; none where it has none.
func (p *Pool) Of(block int) []float64 {
	from, _ := slices.BinarySearch(p.blocks, block)
	to := from
	for to < len(p.blocks) && p.blocks[to] == block {
		to++
	}
	return p.all[from:to:to]
}

// Log returns the logarithm of a block's geometric mean; false where a figure
// there is 0.
func (p *Pool) Log(block int) (float64, bool) {
	logs, ok := stat.Logs(p.Of(block))
	return stat.Mean(logs), ok && len(logs) > 0
}

// Logs returns Log of each block that has one, in the order of the blocks.
func (p *Pool) Logs() []float64 {
	var logs []float64
	for _, block := range p.Rising() {
		if log, ok := p.Log(block); ok {
			logs = append(logs, log)
		}
	}
	return logs
}

// OfBothEnds returns a trial's sum over client and server of a metric that each end has
// (metric.Cores); false unless both have it.
func OfBothEnds(t *trial.Trial, name string) (float64, bool) {
	server, one := t.Values.Of(metric.OfServer + name)
	client, both := t.Values.Of(metric.OfClient + name)
	return server + client, one && both
}

// Rising returns the blocks that have a figure.
func (p *Pool) Rising() []int { return slices.Compact(slices.Clone(p.blocks)) }

// Count returns the number of blocks that have a figure.
func (p *Pool) Count() int {
	n := 0
	for i, block := range p.blocks {
		if i == 0 || block != p.blocks[i-1] {
			n++
		}
	}
	return n
}

// Figure is the mean over blocks with its interval, kept finite; false for an
// empty pool.
func (p *Pool) Figure() (Figure, bool) {
	if len(p.all) == 0 {
		return Figure{}, false
	}
	rising := p.Rising()
	f := Figure{N: len(rising), Trials: len(p.all), AtLeast: p.Bounds > 0}
	if p.whole != nil {
		f.Mean, f.Trials = Whole, p.whole.n
	}
	if p.turns != nil {
		f.Mean, f.Trials = Whole, len(p.turns)
	}
	means := make([]float64, 0, len(rising))
	for _, block := range rising {
		if log, ok := p.Log(block); ok && !p.Plain {
			means = append(means, log)
		} else {
			means = append(means, stat.Mean(p.Of(block)))
		}
	}
	e := stat.Estimate{Point: means[0], Low: means[0], High: means[0]}
	if several, ok := stat.MeanAt(means, 1-stat.Confidence); ok {
		e = several
	}
	if !p.Plain {
		e = stat.Estimate{Point: math.Exp(e.Point), Low: math.Exp(e.Low), High: math.Exp(e.High)}
	} else {
		f.Mean = Arithmetic
		if e.Point >= 0 {
			e.Low = max(e.Low, 0) // no figure lies below
		}
	}
	f.Value = Finite(e.Point)
	f.Low, f.High = min(Finite(e.Low), f.Value), max(Finite(e.High), f.Value)
	return f, true
}

// values returns the figures of all trials.
func (p *Pool) values() []float64 {
	if p.whole != nil {
		return p.whole.values
	}
	if p.turns != nil {
		return slices.Clone(p.turns)
	}
	return slices.Clone(p.all)
}
