package cost

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

const (
	leastBlocks  = 2   // for an interval
	judgedAt     = 0.9 // percentile of the held-out cells' errors
	leastHeldOut = 3   // cells, for a model to be relied on
)

// Tolerance is by how much a good model misses one in ten of its held-out cells at most;
// beyond it a model is rough. Unusable is by how much one may miss them that is given at
// all: beyond it the interval of a forecast spans more than a factor of 1.5², so that not
// even half the machines can be told from as many again.
const (
	Tolerance = 0.10
	Unusable  = 0.50
)

// fit finds the model's form by the cells that it may see, its coefficients by the
// blocks, and its errors by the cells that were held back from it. It returns why the
// model cannot be used, "" for one that can.
func (m *Model) fit(spec record.Cost, points []point) string {
	seen := slices.DeleteFunc(slices.Clone(points), func(p point) bool { return p.held })
	if len(seen) == 0 {
		return fmt.Sprintf("no valid trial has a positive %s", spec.Metric)
	}
	measured := measuredCells(seen)
	m.Ranges, m.Fitted, m.Rate = rangesOf(seen), len(measured), fastest(seen)
	columns, err := m.form(spec, measured)
	if err != nil {
		return dependence(columns, err)
	}
	if why := m.estimate(columns, seen); why != "" {
		return why
	}
	return m.validate(points)
}

// regress returns the coefficients, and the logarithms of fitted ÷ measured: infinite
// where what is fitted is not positive.
func (m *Model) regress(columns []column, points []point) (coefficients, off []float64, err error) {
	rows, ys := m.rows(columns, points), make([]float64, len(points))
	for i, p := range points {
		ys[i] = p.y
	}
	coefficients, err = stat.LogLeastSquares(rows, ys)
	if err != nil {
		return nil, nil, err
	}
	for i := range rows {
		off = append(off, math.Log(max(0, stat.Linear(rows[i], coefficients)/ys[i])))
	}
	return coefficients, off, nil
}

// rows are the values of columns at the levels of points.
func (m *Model) rows(columns []column, points []point) [][]float64 {
	rows := make([][]float64, len(points))
	for i, p := range points {
		rows[i] = make([]float64, len(columns))
		for j, c := range columns {
			rows[i][j] = c.value(p.x, m.per)
		}
	}
	return rows
}

// dependence says in words which coefficient no cell can show.
func dependence(columns []column, err error) string {
	var dependent *stat.DependentError
	if errors.As(err, &dependent) && dependent.Column > 0 && dependent.Column < len(columns) {
		return fmt.Sprintf("%s varies only together with the factors before it, so their coefficients cannot be separated", columns[dependent.Column].of)
	}
	return err.Error()
}

// estimate fits each block by itself: the block is the replicate, and the spread of
// the blocks' coefficients makes the intervals.
func (m *Model) estimate(columns []column, seen []point) string {
	byBlock := map[int][]point{}
	for _, p := range seen {
		byBlock[p.block] = append(byBlock[p.block], p)
	}
	m.Blocks, m.Coefficients = nil, make([]Coefficient, len(columns))
	for _, block := range slices.Sorted(maps.Keys(byBlock)) {
		coefficients, _, err := m.regress(columns, byBlock[block])
		if err != nil {
			continue // a block that lost trials may not show every coefficient
		}
		m.Blocks = append(m.Blocks, block)
		for j := range columns {
			m.Coefficients[j].ByBlock = append(m.Coefficients[j].ByBlock, coefficients[j])
		}
	}
	if len(m.Blocks) < leastBlocks {
		n := len(m.Blocks)
		m.Blocks, m.Coefficients = nil, nil
		return fmt.Sprintf("blocks that show every coefficient: %d of %d; at least %d are needed for an interval", n, len(byBlock), leastBlocks)
	}
	for j := range m.Coefficients {
		c := &m.Coefficients[j]
		e, ok := stat.ArithmeticMean(c.ByBlock)
		if !ok || math.IsNaN(e.High-e.Low) || math.IsInf(e.High-e.Low, 0) {
			m.Blocks, m.Coefficients = nil, nil
			return "the coefficients are not finite numbers"
		}
		c.Of, c.Above, c.Value, c.Low, c.High = columns[j].of, columns[j].above, e.Point, e.Low, e.High
	}
	return ""
}

// fastest is the highest rate of a fitted trial.
func fastest(seen []point) float64 {
	most := 0.0
	for _, p := range seen {
		if rate, ok := p.view.Trial.Values.Of(metric.ExchangesPerS); ok && cells.Usable(rate) {
			most = max(most, rate)
		}
	}
	return most
}
