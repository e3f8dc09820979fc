package stat

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// DependentError says that a column of a design is a combination of the columns before
// it, so that no data could tell their coefficients apart: with columns 1, x and 2x, y =
// 4x is 4·x or 2·2x.
type DependentError struct {
	Column int // from 0
}

func (e *DependentError) Error() string {
	return fmt.Sprintf("column %d depends on those before it", e.Column)
}

// dependence is how much of a column of unit length must stand perpendicular
// to those before it: far above what rounding leaves, far below any design that
// somebody meant.
const dependence = 1e-9

// LeastSquares returns the coefficients c that minimise the sum of squares of
// scaleᵢ·(yᵢ − Σⱼ rowᵢⱼ·cⱼ). A *DependentError names a column that cannot be
// told from those before it; any other error, what is not a finite number or
// that there are fewer rows than coefficients. All rows have the length of the
// first.
//
// Source: Golub and Van Loan, Matrix Computations, section 5.3.2 (Householder
// QR), after scaling the columns to unit length (section 5.3.7).
func LeastSquares(rows [][]float64, ys, scale []float64) ([]float64, error) {
	f, err := factored(rows, ys, scale)
	if err != nil {
		return nil, err
	}
	coefficients := f.solve()
	for j := range coefficients {
		coefficients[j] /= f.lengths[j]
	}
	return coefficients, nil
}

// Rises returns by how much the least sum of squares rises when each column by itself
// is left out: the square of its coefficient ÷ its entry in (XᵀX)⁻¹. Errors are those
// of LeastSquares.
//
// Source: Seber and Lee, Linear Regression Analysis, 2003, section 3.8 (the F test of
// one linear restriction).
func Rises(rows [][]float64, ys, scale []float64) ([]float64, error) {
	f, err := factored(rows, ys, scale) // a column's length cancels
	if err != nil {
		return nil, err
	}
	rises := f.solve()
	for j := range rises {
		rises[j] *= rises[j] / f.inverted(j)
	}
	return rises, nil
}

// factors are a design whose columns have unit length, as Q times an upper triangle R, so
// that bytes beside counts do not cost digits. Written out because gonum's mat, of which
// this is all that is needed, takes longer to compile than net/http.
type factors struct {
	triangle [][]float64 // by column, down to the diagonal
	right    []float64   // Qᵀy
	lengths  []float64   // that the columns had
}

func factored(rows [][]float64, ys, scale []float64) (*factors, error) {
	if len(rows) == 0 || len(rows) < len(rows[0]) {
		return nil, fmt.Errorf("fit %d values: expected at least as many as coefficients", len(rows))
	}
	n, p := len(rows), len(rows[0])
	f := &factors{right: make([]float64, n), lengths: make([]float64, p)}
	for i := range f.right {
		f.right[i] = ys[i] * scale[i]
	}
	for j := range p {
		column := make([]float64, n)
		for i, row := range rows {
			column[i] = row[j] * scale[i]
		}
		length := norm(column)
		switch {
		case math.IsNaN(length) || math.IsInf(length, 1):
			return nil, fmt.Errorf("fit column %d: a value is not a finite number", j)
		case length == 0:
			return nil, &DependentError{j}
		}
		for i := range column {
			column[i] /= length
		}
		f.triangle, f.lengths[j] = append(f.triangle, column), length
	}
	if length := norm(f.right); math.IsNaN(length) || math.IsInf(length, 1) {
		return nil, errors.New("fit values: one is not a finite number")
	}
	return f, f.reflect()
}

// reflect makes the design's columns those of the triangle, by Householder's reflections.
func (f *factors) reflect() error {
	for j, column := range f.triangle {
		mirror := slices.Clone(column[j:])
		diagonal := -math.Copysign(norm(mirror), mirror[0])
		if math.Abs(diagonal) < dependence {
			return &DependentError{j}
		}
		mirror[0] -= diagonal
		half := -diagonal * mirror[0] // of the square of its length
		for _, other := range append(f.triangle[j+1:len(f.triangle):len(f.triangle)], f.right) {
			share := Linear(mirror, other[j:]) / half
			for i, x := range mirror {
				other[j+i] -= share * x
			}
		}
		column[j] = diagonal
		f.triangle[j] = column[:j+1]
	}
	return nil
}

// solve returns the coefficients that leave the least sum of squares.
func (f *factors) solve() []float64 {
	solved := slices.Clone(f.right[:len(f.triangle)])
	for j, column := range slices.Backward(f.triangle) {
		solved[j] /= column[j]
		for i := range j {
			solved[i] -= column[i] * solved[j]
		}
	}
	return solved
}

// inverted returns the j-th diagonal entry of (RᵀR)⁻¹: the square of the length of z, where
// Rᵀz is 1 at j and 0 elsewhere.
func (f *factors) inverted(j int) float64 {
	z := make([]float64, len(f.triangle))
	z[j] = 1 / f.triangle[j][j]
	for k := j + 1; k < len(z); k++ {
		z[k] = -Linear(f.triangle[k][:k], z) / f.triangle[k][k]
	}
	return Linear(z, z)
}

// norm returns the length of a vector, whose squares may be larger than a number can be.
func norm(xs []float64) float64 {
	most, sum := 0.0, 0.0
	for _, x := range xs {
		most = max(most, math.Abs(x))
	}
	if most == 0 {
		return 0
	}
	for _, x := range xs {
		sum += (x / most) * (x / most)
	}
	return most * math.Sqrt(sum)
}

// RelativeLeastSquares fits positive ys so that what is small counts as much as
// what is large: residuals are divided by the fitted value, as noise in
// proportion to the value asks for. Errors are those of LeastSquares.
//
// Source: Carroll and Ruppert, Transformation and Weighting in Regression,
// 1988, section 2.1 (generalised least squares). Dividing by the measured
// values alone would favour those that came out low.
func RelativeLeastSquares(rows [][]float64, ys []float64) ([]float64, error) {
	const rounds = 3 // each brings the divisors closer by the noise's order; then they stand
	scale := make([]float64, len(ys))
	for i, y := range ys {
		scale[i] = 1 / y
	}
	coefficients, err := LeastSquares(rows, ys, scale)
	for round := 1; round < rounds && err == nil; round++ {
		for i, row := range rows {
			// A model that misses by a factor of two is no judge of its values.
			if fitted := Linear(row, coefficients); fitted > ys[i]/2 && fitted < 2*ys[i] {
				scale[i] = 1 / fitted
			}
		}
		coefficients, err = LeastSquares(rows, ys, scale)
	}
	return coefficients, err
}

// LogLeastSquares fits positive ys so that the logarithms of ys and of the fitted
// values differ least: the fit is of geometric means, which that of RelativeLeastSquares
// is not, and one value that came out far too high moves it less. Errors
// are those of LeastSquares.
//
// Source: Carroll and Ruppert, Transformation and Weighting in Regression, 1988,
// section 4.1 (transforming both sides), by Gauss and Newton's method.
func LogLeastSquares(rows [][]float64, ys []float64) ([]float64, error) {
	const (
		rounds = 20
		settle = 1e-9 // relative change of every fitted value, from which on nothing moves
		far    = 4    // a fitted value further off than this factor is no place for a tangent
	)
	coefficients, err := RelativeLeastSquares(rows, ys)
	targets, scale := make([]float64, len(ys)), make([]float64, len(ys))
	for range rounds {
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			fitted := min(max(Linear(row, coefficients), ys[i]/far), ys[i]*far)
			targets[i], scale[i] = fitted*(1+math.Log(ys[i]/fitted)), 1/fitted
		}
		before := coefficients
		if coefficients, err = LeastSquares(rows, targets, scale); err != nil {
			return nil, err
		}
		moved := 0.0
		for i, row := range rows {
			moved = max(moved, math.Abs(Linear(row, coefficients)-Linear(row, before))*scale[i])
		}
		if moved < settle {
			break
		}
	}
	return coefficients, err
}

// Linear returns Σⱼ rowⱼ·coefficientsⱼ.
func Linear(row, coefficients []float64) float64 {
	sum := 0.0
	for j, x := range row {
		sum += x * coefficients[j]
	}
	return sum
}

// ArithmeticMean returns the mean with its t interval; false for fewer than two
// values or one that is not finite.
//
// Source: Student, The probable error of a mean, 1908.
func ArithmeticMean(xs []float64) (Estimate, bool) {
	m := Mean(xs)
	if len(xs) < 2 || math.IsNaN(m) || math.IsInf(m, 0) {
		return Estimate{}, false
	}
	half := HalfWidth(len(xs), SD(xs))
	return Estimate{m, m - half, m + half}, true
}
