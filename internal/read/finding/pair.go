package finding

import (
	"math"
	"slices"

	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// pairs are the within-block ratios of one metric, rising by block.
type pairs struct {
	blocks []int
	ratios []float64
	logs   []float64
}

// pair divides an arm's values by a base's, block by block, over the blocks
// where both have a valid trial. A block's value is the geometric mean of an
// arm's appearances in it, so the baseline's is of two trials.
func (s *sorted) pair(cell, metric, arm, base string) pairs {
	top, bottom := s.blockValues(cell, arm, metric), s.blockValues(cell, base, metric)
	var p pairs
	for _, block := range rising(top) {
		if other, ok := bottom[block]; ok {
			p.add(block, top[block]/other)
		}
	}
	return p
}

// pairRepeats divides the baseline's repeat by its first appearance.
func (s *sorted) pairRepeats(cell, metric, base string) pairs {
	first, repeat := map[int]float64{}, map[int]float64{}
	for _, v := range s.at[place{cell, base}] {
		value, ok := v.trial.Values[metric]
		if v.trial.Status != Valid || !ok || !usable(value) {
			continue
		}
		if v.plan.Repeat {
			repeat[v.plan.Block] = value
		} else {
			first[v.plan.Block] = value
		}
	}
	var p pairs
	for _, block := range rising(repeat) {
		if other, ok := first[block]; ok {
			p.add(block, repeat[block]/other)
		}
	}
	return p
}

func (p *pairs) add(block int, ratio float64) {
	if usable(ratio) {
		p.blocks = append(p.blocks, block)
		p.ratios = append(p.ratios, ratio)
		p.logs = append(p.logs, math.Log(ratio))
	}
}

// estimate returns the geometric mean ratio with its interval, kept finite;
// false for fewer than two blocks.
func (p pairs) estimate() (stat.Estimate, bool) {
	e, ok := stat.GeometricMean(p.ratios)
	e.Low, e.High = max(e.Low, 1/math.MaxFloat64), min(e.High, math.MaxFloat64)
	return e, ok
}

func (s *sorted) blockValues(cell, arm, metric string) map[int]float64 {
	logs := map[int][]float64{}
	for _, v := range s.at[place{cell, arm}] {
		if value, ok := v.trial.Values[metric]; ok && v.trial.Status == Valid && usable(value) {
			logs[v.plan.Block] = append(logs[v.plan.Block], math.Log(value))
		}
	}
	values := map[int]float64{}
	for block, l := range logs {
		values[block] = math.Exp(stat.Mean(l))
	}
	return values
}

func rising(values map[int]float64) []int {
	blocks := make([]int, 0, len(values))
	for block := range values {
		blocks = append(blocks, block)
	}
	slices.Sort(blocks)
	return blocks
}

// noise compares the baseline with its own repeat, in every cell and on every
// metric that has a direction or is declared primary. Nothing differs there, so
// the part of a difference that the interval cannot explain is this run's bias,
// and no comparison may claim less. The width of the interval is not part of
// it: the spread of the trials is in each comparison's own interval already.
func (s *sorted) noise() []Noise {
	var all []Noise
	base := s.header.Study.Compare.Baseline
	for _, cell := range s.cells {
		for _, m := range record.Metrics() {
			if m.Better == "" && !s.primary(m.Name) {
				continue
			}
			p := s.pairRepeats(cell, m.Name, base)
			e, ok := p.estimate()
			if !ok {
				continue
			}
			all = append(all, Noise{
				Cell: cell, Metric: m.Name, Ratio: e.Point, Low: e.Low, High: e.High, Ratios: p.ratios,
				Bound: max(e.Low, 1/e.High, 1) - 1, P: stat.SignFlip(p.logs),
			})
		}
	}
	return all
}

func (s *sorted) primary(metric string) bool {
	return slices.Contains(s.header.Study.Compare.Primary, metric)
}
