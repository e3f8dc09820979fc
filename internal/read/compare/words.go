package compare

import "fmt"

// Confidence prints that of an interval: "95 %".
func Confidence(level float64) string { return fmt.Sprintf("%.3g %%", 100*(1-level)) }

// Percent prints a share: "2 %".
func Percent(share float64) string {
	if share >= 10 { // %g would write an exponent
		return fmt.Sprintf("%.0f %%", 100*share)
	}
	return fmt.Sprintf("%.3g %%", 100*share)
}
