package cost

import (
	"errors"
	"fmt"
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

const (
	leastBlocks  = 2    // for an interval
	maxHinges    = 3    // of one factor
	leastLevels  = 5    // of a factor whose line may be bent
	closeEnough  = 0.05 // 90th percentile of the fitted cells' errors, from which on no line is bent
	judgedAt     = 0.9  // percentile of the cells' errors
	leastHeldOut = 3    // cells, for a model to be relied on
)

// Tolerance is by how much a model may miss one in ten of its held-out cells.
const Tolerance = 0.10

// fit finds the model's form by the cells that it may see, its coefficients by the
// blocks, and its errors by the cells that it has not seen. It returns why it is none
// to rely on, "" when it is one.
func (m *Model) fit(spec record.Cost, points []point) string {
	seen := slices.DeleteFunc(slices.Clone(points), func(p point) bool { return p.held })
	if len(seen) == 0 {
		return fmt.Sprintf("no valid trial has a positive %s", spec.Metric)
	}
	columns, seen, why := m.form(spec, seen)
	if why != "" {
		return why
	}
	for {
		if why := m.estimate(columns, seen); why != "" {
			return why
		}
		i := m.undecided()
		if i < 0 {
			break
		}
		columns = slices.Delete(columns, i, i+1)
	}
	m.Rate = fastest(seen)
	return m.validate(points)
}

// form finds the columns by the fitted cells: straight, then bent. Where even the bent
// lines miss them, the range is cut from above, each time by the level without which
// they miss the rest least. It returns the points of the range.
func (m *Model) form(spec record.Cost, seen []point) ([]column, []point, string) {
	whole := seen
	columns, off, err := m.lines(spec, seen)
	if err != nil {
		return nil, nil, dependence(columns, err)
	}
	best := columns
	for off > closeEnough {
		var narrower []point
		for _, factor := range spec.Terms {
			levels := levelsOf(seen, factor)
			if len(levels) <= leastLevels {
				continue
			}
			below := slices.DeleteFunc(slices.Clone(seen), func(p point) bool { return p.x[factor] == levels[len(levels)-1] })
			if c, o, failed := m.lines(spec, below); failed == nil && o < off {
				narrower, columns, off = below, c, o
			}
		}
		if narrower == nil {
			seen, columns = whole, best // nothing is gained by it
			break
		}
		seen = narrower
	}
	m.Ranges, m.Fitted = rangesOf(seen), len(meansOf(seen))
	return columns, seen, ""
}

// lines returns the columns for some points, bent where that is needed, and by how
// much they miss the cells.
func (m *Model) lines(spec record.Cost, points []point) ([]column, float64, error) {
	means := meansOf(points)
	columns := m.straight(spec, means)
	if _, _, err := m.regress(columns, means); err != nil {
		return columns, 0, err
	}
	columns = m.bend(spec, columns, means)
	_, off, err := m.regress(columns, means)
	return columns, stat.Quantile(off, judgedAt), err
}

// meansOf returns one point for each cell: the geometric mean over its blocks.
func meansOf(points []point) []point {
	pools, first := map[string]*cells.Pool{}, map[string]point{}
	var order []string
	for _, p := range points {
		cell := p.view.Plan.Cell
		if pools[cell] == nil {
			pools[cell], first[cell] = &cells.Pool{}, p
			order = append(order, cell)
		}
		pools[cell].Add(p.block, p.y)
	}
	slices.Sort(order)
	var means []point
	for _, cell := range order {
		p := first[cell]
		f, _ := pools[cell].Figure() // it has a value
		p.y = f.Value
		means = append(means, p)
	}
	return means
}

// straight returns the columns without a hinge. A factor with one level among the
// fitted cells has none: the others' base holds it.
func (m *Model) straight(spec record.Cost, means []point) []column {
	columns := []column{{}}
	factors := spec.Terms
	if spec.Per != "" {
		factors = append([]string{spec.Per}, spec.Terms...)
	}
	for _, factor := range factors {
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

// regress returns the coefficients and the relative errors.
func (m *Model) regress(columns []column, points []point) (coefficients, errors []float64, err error) {
	rows, ys := make([][]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		rows[i], ys[i] = make([]float64, len(columns)), p.y
		for j, c := range columns {
			rows[i][j] = c.value(p.x, m.per)
		}
	}
	coefficients, err = stat.LogLeastSquares(rows, ys)
	if err != nil {
		return nil, nil, err
	}
	for i := range rows {
		errors = append(errors, math.Abs(1-stat.Linear(rows[i], coefficients)/ys[i]))
	}
	return coefficients, errors, nil
}

// dependence says in words which coefficient no cell can show.
func dependence(columns []column, err error) string {
	var dependent *stat.DependentError
	if errors.As(err, &dependent) && dependent.Column > 0 && dependent.Column < len(columns) {
		return fmt.Sprintf("%s varies only together with the factors before it, so their coefficients cannot be separated", columns[dependent.Column].of)
	}
	return err.Error()
}

// bend adds hinges at fitted levels, one or two at a time, as long as the fitted cells
// are missed and Schwarz's criterion falls: each time those that it asks for most. Two
// at once are a step, such as another system call from a buffer's size on.
//
// Source: G. Schwarz, Estimating the dimension of a model, 1978; hinges one after the
// other as in J. H. Friedman, Multivariate adaptive regression splines, 1991.
func (m *Model) bend(spec record.Cost, columns []column, means []point) []column {
	n := float64(len(means))
	criterion := func(off []float64, size int) float64 {
		square := 0.0
		for _, x := range off {
			square += x * x / n
		}
		return n*math.Log(square) + float64(size)*math.Log(n)
	}
	_, off, err := m.regress(columns, means)
	for err == nil && stat.Quantile(off, judgedAt) > closeEnough {
		best, least := columns, criterion(off, len(columns))
		for _, hinges := range m.hinges(spec, columns, means) {
			bent := append(slices.Clone(columns), hinges...)
			if len(bent) >= len(means) {
				continue
			}
			if _, so, failed := m.regress(bent, means); failed == nil && criterion(so, len(bent)) < least {
				best, least = bent, criterion(so, len(bent))
			}
		}
		if len(best) == len(columns) {
			break
		}
		columns = best
		_, off, err = m.regress(columns, means)
	}
	return columns
}

// hinges are the levels at which a term's line may be bent, single and in pairs: those
// with a level on either side, of a term with enough of them.
func (m *Model) hinges(spec record.Cost, columns []column, means []point) [][]column {
	var all [][]column
	for _, factor := range spec.Terms {
		levels := levelsOf(means, factor)
		if len(levels) < leastLevels {
			continue
		}
		var free []column
		for _, level := range levels[1 : len(levels)-1] {
			if c := (column{factor, level}); !slices.Contains(columns, c) {
				free = append(free, c)
			}
		}
		left := maxHinges - (len(levels) - 2 - len(free))
		for i, c := range free {
			if left > 0 {
				all = append(all, []column{c})
			}
			for _, other := range free[i+1:] {
				if left > 1 {
					all = append(all, []column{c, other})
				}
			}
		}
	}
	return all
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

// undecided returns the coefficient that is to be left out: of those whose interval
// holds 0 the one that is least told from it; −1 for none. The first is never left
// out.
func (m *Model) undecided() int {
	least, at := 1.0, -1
	for j, c := range m.Coefficients[1:] {
		half := (c.High - c.Low) / 2
		if half > 0 && math.Abs(c.Value)/half < least {
			least, at = math.Abs(c.Value)/half, j+1
		}
	}
	return at
}

// fastest is the highest rate of a fitted trial.
func fastest(seen []point) float64 {
	most := 0.0
	for _, p := range seen {
		if rate, ok := p.view.Trial.Values["exchanges_per_s"]; ok && cells.Usable(rate) {
			most = max(most, rate)
		}
	}
	return most
}
