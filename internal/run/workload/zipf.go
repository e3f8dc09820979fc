package workload

import (
	"math"

	"netdyno/internal/contract"
)

// Zipf is a distribution of the numbers 1 to N: that of number k is proportional to
// 1/k^S.
type Zipf struct {
	N int64   `json:"n" key:"n" must:"yes" is:"number" min:"1" max:"1000000000"`
	S float64 `json:"s" key:"s" is:"skew"`
}

// exactKeys is how many of the most frequent keys have a segment of their own.
const exactKeys = 2048

// Table returns Zipf's distribution in pieces: each of the first 2,048 numbers by itself,
// the others in as many pieces whose numbers lie within 1 % of each other up to 10⁹, and
// count as equally likely in it.
func (z Zipf) Table() contract.Table {
	var high []int64 // of each piece
	for k := int64(1); k <= min(z.N, exactKeys); k++ {
		high = append(high, k)
	}
	pieces := float64(contract.MostSegments - exactKeys)
	for i, last := 1.0, int64(exactKeys); last < z.N; i++ {
		next := min(z.N, max(last+1, int64(exactKeys*math.Pow(float64(z.N)/exactKeys, i/pieces))))
		high = append(high, next)
		last = next
	}
	weights, sum, last := make([]float64, len(high)), 0.0, int64(0)
	for i, h := range high {
		weights[i] = z.weight(last+1, h)
		sum += weights[i]
		last = h
	}
	return tableOf(weights, func(i int) (low, up int64) {
		if i == 0 {
			return 1, high[0]
		}
		return high[i-1] + 1, high[i]
	})
}

// weight is the sum of 1/k^S over low to high, which lie close to each other.
func (z Zipf) weight(low, high int64) float64 {
	if high-low < 16 {
		sum := 0.0
		for k := low; k <= high; k++ {
			sum += math.Pow(float64(k), -z.S)
		}
		return sum
	}
	// The midpoint rule: off by less than a millionth for numbers within 1 %.
	a, b := float64(low)-0.5, float64(high)+0.5
	if z.S == 1 {
		return math.Log(b / a)
	}
	return (math.Pow(b, 1-z.S) - math.Pow(a, 1-z.S)) / (1 - z.S)
}
