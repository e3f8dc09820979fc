package tune

import (
	"math"
	"slices"
	"strconv"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
)

// The values that are tried of options without a grid of their own.
var (
	sizes  = []int64{0, 16 << 10, 128 << 10, 1 << 20}
	counts = []int64{1, 4, 16, 64}
)

// Grid returns the values of an option that are worth trying, as a study writes them and
// without its default: its own, else for a number a few steps between its bounds, for a
// choice the others. None for a text, a duration or a fraction, whose sense the type
// does not tell.
func Grid(o contract.Option) []string {
	all := slices.Clone(o.Grid)
	if len(all) == 0 {
		switch o.Type {
		case contract.TypeBytes:
			for _, n := range between(sizes, o) {
				all = append(all, quantity.BytesText(n))
			}
		case contract.TypeInt:
			for _, n := range between(counts, o) {
				all = append(all, strconv.FormatInt(n, 10))
			}
		case contract.TypeBool:
			all = []string{"no", "yes"}
		case contract.TypeChoice:
			all = slices.Clone(o.Choices)
		}
	}
	return slices.DeleteFunc(all, func(text string) bool { return isDefault(o, text) })
}

// between are those of some numbers that lie between an option's bounds, and its least
// one where that is above 0 and below the others.
func between(numbers []int64, o contract.Option) []int64 {
	low, high := 0.0, math.Inf(1)
	if o.Min != nil {
		low = *o.Min
	}
	if o.Max != nil {
		high = *o.Max
	}
	all := slices.DeleteFunc(slices.Clone(numbers), func(n int64) bool { return float64(n) < low || float64(n) > high })
	if low > 0 && low < float64(numbers[len(numbers)-1]) && !slices.Contains(all, int64(low)) {
		all = append([]int64{int64(low)}, all...)
	}
	return all
}

// isDefault tells whether a value is the option's default, which the arm of the defaults
// has.
func isDefault(o contract.Option, text string) bool {
	switch d := o.Default.(type) {
	case bool:
		return d == (text == "yes")
	case string:
		return d == text
	case float64: // as JSON has it
		n, err := quantity.ParseBytes(text)
		if o.Type == contract.TypeInt {
			n, err = strconv.ParseInt(text, 10, 64)
		}
		return err == nil && float64(n) == d
	}
	return false
}
