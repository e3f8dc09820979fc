package cost

import (
	"maps"
	"math"
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// column is what a coefficient is multiplied by: 1, a factor, or what the factor is
// above a hinge.
type column struct {
	of    string
	above float64
}

// value of a column at some levels; per is the factor that multiplies all but the
// first, "" for none.
func (c column) value(x map[string]float64, per string) float64 {
	if c.of == "" {
		return 1
	}
	v := max(0, x[c.of]-c.above)
	if per != "" && c.of != per {
		v *= x[per]
	}
	return v
}

// form finds a model's columns by the fitted cells: as many bends as these have levels,
// less what they cannot tell from noise. The error is that of a straight model, whose
// columns are returned with it.
func (m *Model) form(spec record.Cost, measured []measuredCell) ([]column, error) {
	means := make([]point, len(measured))
	for i, c := range measured {
		means[i] = c.mean
	}
	columns := m.straight(spec, means)
	if _, _, err := m.regress(columns, means); err != nil {
		return columns, err
	}
	sd, each := make([]float64, len(measured)), scatter(measured)
	for i, c := range measured {
		sd[i] = max(finest, each/math.Sqrt(float64(len(c.logs))))
	}
	return m.shortened(m.bent(spec, columns, means), means, sd), nil
}

// straight returns the columns without a hinge. A factor with one level among the
// fitted cells has none: the others' base holds it.
func (m *Model) straight(spec record.Cost, means []point) []column {
	columns := []column{{}}
	for _, factor := range factorsOf(spec) {
		if len(levelsOf(means, factor)) > 1 {
			columns = append(columns, column{of: factor})
		}
	}
	return columns
}

// levelsOf returns a factor's levels, rising.
func levelsOf(points []point, factor string) []float64 {
	seen := map[float64]bool{}
	for _, p := range points {
		seen[p.x[factor]] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// bent adds a hinge at every fitted level of a term that has a level on either side, so
// that the model goes straight from one fitted level to the next. A hinge that the
// cells cannot show apart from the others is left out.
func (m *Model) bent(spec record.Cost, columns []column, means []point) []column {
	for _, factor := range spec.Terms {
		levels := levelsOf(means, factor)
		for i := 1; i < len(levels)-1; i++ {
			more := append(slices.Clone(columns), column{factor, levels[i]})
			if _, _, err := m.regress(more, means); err == nil {
				columns = more
			}
		}
	}
	return columns
}

// shortened leaves out, one after the other, the columns that the cells do not ask for:
// each time the one without which the cells are missed least, as long as Schwarz's
// criterion falls, extended for a choice among many columns. What is missed is counted
// in the cells' standard deviations. The first column is never left out.
//
// Source: J. Chen and Z. Chen, Extended Bayesian information criteria for model
// selection with large model spaces, 2008, with γ = ½: a column has to earn the
// logarithms of the number of cells and of the number of columns to choose from.
func (m *Model) shortened(columns []column, means []point, sd []float64) []column {
	price := math.Log(float64(len(means))) + math.Log(float64(len(columns)))
	missed, rises := m.missed(columns, means, sd)
	for len(columns) > 1 {
		least := 1
		for j := range rises {
			if j > 0 && rises[j] < rises[least] {
				least = j
			}
		}
		fewer := slices.Delete(slices.Clone(columns), least, least+1)
		more, next := m.missed(fewer, means, sd)
		if more >= missed+price {
			break
		}
		columns, missed, rises = fewer, more, next
	}
	return columns
}

// missed returns the sum of squares by which columns miss the cells, and by about how
// much it rises without each of them; infinity where they cannot be fitted.
func (m *Model) missed(columns []column, means []point, sd []float64) (square float64, rises []float64) {
	coefficients, off, err := m.regress(columns, means)
	if err != nil {
		return math.Inf(1), nil
	}
	rows, scale, targets := m.rows(columns, means), make([]float64, len(means)), make([]float64, len(means))
	for i, x := range off {
		square += x * x / (sd[i] * sd[i])
		fitted := stat.Linear(rows[i], coefficients)
		if !(fitted > 0) {
			return math.Inf(1), nil
		}
		targets[i], scale[i] = fitted*(1-x), 1/(fitted*sd[i]) // a tangent at the fitted values
	}
	rises, err = stat.Rises(rows, targets, scale)
	if err != nil {
		return math.Inf(1), nil
	}
	return square, rises
}

// finest is the least standard deviation of a cell that is believed. A bend that it
// would hide is no part of a model worth telling.
const finest = 0.01

// measuredCell is a cell's mean over its blocks, and the logarithm in each of them.
type measuredCell struct {
	mean   point
	blocks []int
	logs   []float64
}

// measuredCells gathers points by their cells, in the order of these's names.
func measuredCells(points []point) []measuredCell {
	pools, first := map[string]*cells.Pool{}, map[string]point{}
	for _, p := range points {
		cell := p.view.Plan.Cell
		if pools[cell] == nil {
			pools[cell], first[cell] = &cells.Pool{}, p
		}
		pools[cell].Add(p.block, p.y)
	}
	var all []measuredCell
	for _, cell := range sorted(pools) {
		c := measuredCell{mean: first[cell], blocks: pools[cell].Rising()}
		for _, block := range c.blocks {
			log, _ := pools[cell].Log(block) // every figure is positive
			c.logs = append(c.logs, log)
		}
		c.mean.y = math.Exp(stat.Mean(c.logs))
		all = append(all, c)
	}
	return all
}

// scatter is the standard deviation of a cell's logarithm in one block, without what
// the cell has in all blocks and what the block has in all cells; 0 where too little was
// measured to tell.
func scatter(measured []measuredCell) float64 {
	off := map[int][]float64{} // of each block's cells from their means
	free := 1 - len(measured)
	for _, c := range measured {
		for i, block := range c.blocks {
			off[block] = append(off[block], c.logs[i]-stat.Mean(c.logs))
			free++
		}
	}
	square := 0.0
	for _, block := range sorted(off) {
		mean := stat.Mean(off[block])
		for _, x := range off[block] {
			square += (x - mean) * (x - mean)
		}
		free--
	}
	if free < 1 {
		return 0
	}
	return math.Sqrt(square / float64(free))
}
