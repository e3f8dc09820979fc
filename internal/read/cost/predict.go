package cost

import (
	"fmt"
	"math"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
)

// Predict returns what each block's coefficients give at some levels, in the order of
// Model.Blocks; false where one gives nothing positive.
func (m *Model) Predict(x map[string]float64) ([]float64, bool) { return m.predict(x, nil) }

// predict is Predict for an average exchange where sizes are distributed: every column is
// one factor's, so the mean of what a model gives is what it gives for the columns' means.
func (m *Model) predict(x map[string]float64, sizes map[string]contract.Table) ([]float64, bool) {
	byBlock := make([]float64, len(m.Blocks))
	for _, c := range m.Coefficients {
		v := column{c.Of, c.Above}.value(x, m.per)
		if table, distributed := sizes[c.Of]; distributed {
			if v = table.MeanAbove(c.Above); m.per != "" {
				v *= x[m.per]
			}
		}
		for i := range byBlock {
			byBlock[i] += v * c.ByBlock[i]
		}
	}
	return byBlock, len(byBlock) > 0 && !slices.ContainsFunc(byBlock, func(y float64) bool { return !cells.Usable(y) })
}

// Expected is the mean over blocks of what a model predicts, with its interval; false
// where it gives nothing positive.
func (m *Model) Expected(x map[string]float64) (Figure, bool) {
	b, ok := m.blocksAt(x, nil)
	return b.figure(), ok
}

// Corner is a place at the end of what was fitted: every factor at its least, and one,
// if it is named, at its most.
func (m *Model) Corner(most string) (x map[string]float64, highest float64) {
	x = map[string]float64{}
	for _, r := range m.Ranges {
		x[r.Factor] = r.Low
		if r.Factor == most {
			x[r.Factor], highest = r.High, r.High
		}
	}
	return x, highest
}

// validate holds the model to the cells of its range that it has not seen.
func (m *Model) validate(points []point) string {
	byCell := map[string][]point{}
	for _, p := range points {
		if p.held && m.reaches(p.x) {
			byCell[p.view.Plan.Cell] = append(byCell[p.view.Plan.Cell], p)
		}
	}
	var sizes, logs, halves []float64
	for _, cell := range sorted(byCell) {
		h, half, why := m.predicted(cell, byCell[cell])
		if why != "" {
			return why
		}
		if h.Measured == 0 {
			continue // none of its blocks could be fitted
		}
		m.HeldOut = append(m.HeldOut, h)
		sizes, logs, halves = append(sizes, math.Abs(h.Error)), append(logs, math.Log1p(h.Error)), append(halves, half)
	}
	if len(sizes) < leastHeldOut {
		return tooFewHeld(len(sizes))
	}
	m.Median, m.P90, m.Spread = stat.Median(sizes), stat.Quantile(sizes, judgedAt), spreadOf(logs)
	m.Noise, m.Rough = math.Expm1(stat.Median(halves)), m.P90 > Tolerance
	if m.P90 <= Unusable {
		return ""
	}
	missed := fmt.Sprintf("one in ten of the cells that it has not seen by more than %.3g %%, and beyond %.3g %% a plan is of no use", 100*m.P90, 100*Unusable)
	if m.NoiseMayBeWhy() {
		return fmt.Sprintf("it seems to miss %s; but half of these errors are themselves known within ±%.3g %% only, so whether it holds a quieter machine would tell, or more blocks", missed, 100*m.Noise)
	}
	return "it misses " + missed
}

// NoiseMayBeWhy tells whether the errors of a model that is not good are known too badly
// to be the model's own.
func (m *Model) NoiseMayBeWhy() bool { return m.P90 > Tolerance && m.Noise > Tolerance }

// spreadOf is the standard deviation that a forecast allows for the model's errors. It is
// the larger of two: Student's t of so few errors around 0, and the size within which nine
// of ten errors lie, however they are distributed, cells that were not held out included:
// of 9 errors the largest, of 19 the second largest.
//
// Source: V. Vovk, A. Gammerman and G. Shafer, Algorithmic Learning in a Random World,
// 2005 (the rank of a further error among n is one of n + 1).
func spreadOf(logs []float64) float64 {
	square, sizes := 0.0, make([]float64, len(logs))
	for i, log := range logs {
		square += log * log
		sizes[i] = math.Abs(log)
	}
	slices.Sort(sizes)
	n := len(logs)
	rank := min(n, int(math.Ceil(judgedAt*float64(n+1))))
	return max(math.Sqrt(square/float64(n))*stat.TQuantile(float64(n)), sizes[rank-1]) / normal
}

// reaches tells whether some levels are in the range of the model.
func (m *Model) reaches(x map[string]float64) bool {
	return !slices.ContainsFunc(m.Ranges, func(r Range) bool { return x[r.Factor] < r.Low || x[r.Factor] > r.High })
}

// predicted compares a held-out cell with the model in the blocks that both have, so
// that what changes from block to block is no error. Half is the half-width of the
// interval of the error's logarithm.
func (m *Model) predicted(cell string, points []point) (h HeldOut, half float64, why string) {
	pool := cells.Pool{}
	for _, p := range points {
		pool.Add(p.block, p.y)
	}
	byBlock, ok := m.Predict(points[0].x)
	if !ok {
		return h, 0, "it gives no positive figure at " + cell
	}
	var measured, predicted, off []float64
	for i, block := range m.Blocks {
		if log, has := pool.Log(block); has {
			measured, predicted, off = append(measured, log), append(predicted, math.Log(byBlock[i])), append(off, math.Log(byBlock[i])-log)
		}
	}
	if len(measured) == 0 {
		return h, 0, ""
	}
	h = HeldOut{Cell: cell, Measured: math.Exp(stat.Mean(measured)), Predicted: math.Exp(stat.Mean(predicted))}
	h.Error = h.Predicted/h.Measured - 1
	return h, halfWidth(off), ""
}

// Worst returns the held-out cell at which the model is off most; false for none.
func (m *Model) Worst() (HeldOut, bool) {
	var worst HeldOut
	for _, h := range m.HeldOut {
		if math.Abs(h.Error) > math.Abs(worst.Error) {
			worst = h
		}
	}
	return worst, len(m.HeldOut) > 0
}
