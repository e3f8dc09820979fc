package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// What is written out here agrees with gonum's, which weighs too much to be linked.

func TestStudentsTAgrees(t *testing.T) {
	for _, degrees := range []float64{1, 1.5, 2, 5, 9, 30, 41.7, 1000} {
		own, peer := studentsT{degrees}, distuv.StudentsT{Sigma: 1, Nu: degrees}
		for _, p := range []float64{1e-9, 1e-4, 0.025, 0.3, 0.5, 0.7, 0.95, 0.975, 0.99999} {
			if got, want := own.quantile(p), peer.Quantile(p); math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("quantile %v of %v degrees: %v, want %v", p, degrees, got, want)
			}
		}
		for _, x := range []float64{-40, -2, -0.1, 0, 0.1, 1, 2.7, 40, math.Inf(1)} {
			if got, want := own.survival(x), peer.Survival(x); math.Abs(got-want) > 1e-15 {
				t.Errorf("survival beyond %v of %v degrees: %v, want %v", x, degrees, got, want)
			}
		}
	}
}

func TestLeastSquaresAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		p := 1 + random.IntN(5)
		n := p + random.IntN(20)
		design, right := mat.NewDense(n, p, nil), mat.NewVecDense(n, nil)
		rows, ys, ones := make([][]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			rows[i], ones[i] = make([]float64, p), 1
			for j := range p {
				rows[i][j] = random.NormFloat64() * math.Pow(1000, float64(j))
				design.Set(i, j, rows[i][j])
			}
			ys[i] = random.NormFloat64()
			right.SetVec(i, ys[i])
		}
		got, err := LeastSquares(rows, ys, ones)
		if err != nil {
			t.Fatal(err)
		}
		var qr mat.QR
		qr.Factorize(design)
		var want mat.VecDense
		if err := qr.SolveVecTo(&want, false, right); err != nil {
			if _, poor := err.(mat.Condition); !poor { //nolint:errorlint // returned as it is
				t.Fatal(err)
			}
		}
		for j := range got {
			if math.Abs(got[j]-want.AtVec(j)) > 1e-7*math.Abs(want.AtVec(j)) {
				t.Errorf("%d rows: coefficient %d of %d is %v, want %v", n, j, p, got[j], want.AtVec(j))
			}
		}
	}
}
