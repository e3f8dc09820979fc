package draw

import (
	"math"

	"netdyno/internal/contract"
)

// binsPerDoubling is how finely Cut cuts: numbers within 4 % of each other are equally
// likely, which puts no share off by more than 0.0005.
const binsPerDoubling = 16

// Cut makes a table of the whole numbers from least to most of a distribution, whose share
// up to x is below(x). What lies outside of them is left out.
func Cut(below func(x float64) float64, least, most int64) contract.Table {
	from := below(float64(least) - 0.5)
	all := below(float64(most)+0.5) - from
	var t contract.Table
	low, last := least, int64(0)
	for low <= most {
		high := min(most, low+int64(float64(low)*(math.Exp2(1.0/binsPerDoubling)-1)))
		end := int64(math.Round((below(float64(high)+0.5) - from) / all * contract.TableEnd))
		if high == most {
			end = contract.TableEnd
		}
		if end > last {
			t = append(t, contract.Segment{end, low, high})
			last = end
		}
		low = high + 1
	}
	return t
}
