package cost

import (
	"math"
	"slices"

	"netdyno/internal/read/stat"
)

// evens finds the sizes of the larger direction's message at which two transports of
// one run take the same CPU, within the sizes that both were fitted at: in every block
// once, or it is left out.
func evens(arms []arm, n Load) []Even {
	var all []Even
	for i, a := range arms {
		for _, b := range arms[i+1:] {
			if a.run != b.run {
				continue
			}
			if e, ok := even(a, b, n); ok {
				all = append(all, e)
			}
		}
	}
	return all
}

// sized is the load with another size of its larger direction.
func (n Load) sized(size float64) Load {
	if n.Up > n.Down {
		n.Up = size
	} else {
		n.Down = size
	}
	return n
}

// sizes is from where to where both arms were fitted, in the load's larger direction.
func (n Load) sizes(a, b arm) (low, high float64) {
	factor := "response"
	if n.Up > n.Down {
		factor = "request"
	}
	low, high = 1, math.Inf(1)
	for _, m := range slices.Concat(a.models(), b.models()) {
		for _, r := range m.Ranges {
			if r.Factor == factor {
				low, high = max(low, r.Low), min(high, r.High)
			}
		}
	}
	return low, high
}

// steps is how many sizes are looked at, each by the same factor larger than the one
// before.
const steps = 200

func even(a, b arm, n Load) (Even, bool) {
	low, high := n.sizes(a, b)
	if !(low < high) || math.IsInf(high, 1) {
		return Even{}, false
	}
	connections := max(leastHost, a.lowest())
	var crossings []float64
	var began []float64 // logarithms of the ratios at the least size, by block
	before := []float64(nil)
	for i := range steps + 1 {
		size := math.Exp(math.Log(low) + float64(i)/steps*math.Log(high/low))
		ratios, ok := logRatios(a, b, n.sized(size), connections)
		if !ok || before != nil && len(ratios) != len(before) {
			return Even{}, false
		}
		if before == nil {
			began, crossings = ratios, make([]float64, len(ratios))
		}
		for k := range before {
			if before[k]*ratios[k] >= 0 {
				continue
			}
			if crossings[k] != 0 || began[k]*began[0] < 0 {
				return Even{}, false // twice, or not the same way in every block
			}
			crossings[k] = math.Log(size)
		}
		before = ratios
	}
	for _, at := range crossings {
		if at == 0 {
			return Even{}, false
		}
	}
	e, ok := stat.ArithmeticMean(crossings)
	if !ok {
		return Even{}, false
	}
	out := Even{Below: a.String(), Above: b.String(), Size: Figure{math.Exp(e.Point), math.Exp(e.Low), math.Exp(e.High)}}
	if began[0] > 0 {
		out.Below, out.Above = out.Above, out.Below
	}
	return out, true
}

// logRatios are the logarithms of what a takes at both ends divided by what b does, in
// the blocks that both have.
func logRatios(a, b arm, n Load, connections float64) ([]float64, bool) {
	var both [2]blocks
	for i, one := range []arm{a, b} {
		var ok bool
		if both[i], ok = one.cpu(n, connections, connections); !ok {
			return nil, false
		}
	}
	ratios := both[0].both(both[1], func(x, y float64) float64 { return math.Log(x / y) })
	return ratios.value, len(ratios.value) >= leastBlocks
}
