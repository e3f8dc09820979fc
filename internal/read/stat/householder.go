package stat

import "math"

// triangle is a design of independent columns brought to upper triangular form by
// reflections, and what the reflections make of the right-hand side.
type triangle struct {
	columns [][]float64 // column j has its entry of row i ≤ j at [j][i]
	right   []float64
}

// reduce reflects columns and right, whose values it overwrites. There are at
// least as many rows as columns. The error is a *DependentError where a column,
// each of unit length, depends on those before it.
//
// Source: Golub and Van Loan, Matrix Computations, algorithms 5.1.1 and 5.2.1.
func reduce(columns [][]float64, right []float64) (triangle, error) {
	for j, column := range columns {
		below := column[j:]
		length := norm(below)
		if length < dependence {
			return triangle{}, &DependentError{j}
		}
		// The reflection takes below to (∓length, 0, …, 0), away from its own sign.
		v := append([]float64(nil), below...)
		v[0] += math.Copysign(length, v[0])
		half := dot(v, v) / 2
		for _, other := range columns[j:] {
			reflectBy(v, half, other[j:])
		}
		reflectBy(v, half, right[j:])
	}
	return triangle{columns, right}, nil
}

// reflectBy takes x to x − v·(vᵀx)/half.
func reflectBy(v []float64, half float64, x []float64) {
	share := dot(v, x) / half
	for i := range v {
		x[i] -= share * v[i]
	}
}

// solve returns the coefficients that leave the least sum of squares.
func (t triangle) solve() []float64 {
	solved := make([]float64, len(t.columns))
	for i := len(solved) - 1; i >= 0; i-- {
		rest := t.right[i]
		for j := i + 1; j < len(solved); j++ {
			rest -= t.columns[j][i] * solved[j]
		}
		solved[i] = rest / t.columns[i][i]
	}
	return solved
}

// inverse returns the rows of the triangle's inverse.
func (t triangle) inverse() [][]float64 {
	n := len(t.columns)
	rows := make([][]float64, n)
	for i := n - 1; i >= 0; i-- {
		rows[i] = make([]float64, n)
		rows[i][i] = 1
		for k := i + 1; k < n; k++ {
			for j := k; j < n; j++ {
				rows[i][j] -= t.columns[k][i] * rows[k][j]
			}
		}
		for j := i; j < n; j++ {
			rows[i][j] /= t.columns[i][i]
		}
	}
	return rows
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// norm returns a vector's length, however large or small its entries are.
func norm(xs []float64) float64 {
	most := 0.0
	for _, x := range xs {
		if math.IsNaN(x) {
			return x
		}
		most = max(most, math.Abs(x))
	}
	if most == 0 || math.IsInf(most, 1) {
		return most
	}
	sum := 0.0
	for _, x := range xs {
		sum += (x / most) * (x / most)
	}
	return most * math.Sqrt(sum)
}
