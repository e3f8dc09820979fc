package quantity

import (
	"math"
	"testing"
)

func TestFormatFigure(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1.00", 0.6123: "0.612", 9.996: "10.0", 99.96: "100", 0.09996: "0.100", 45.67: "45.7", 1234: "1230",
		12345: "12,300", 1234567: "1,230,000", -12345: "-12,300", -0.5: "-0.500", 1e-9: "1.00e-09", 2e12: "2.00e+12",
		math.NaN(): "–", math.Inf(-1): "–", 0.000123: "0.000123", 999.6: "1000",
	} {
		if got := FormatFigure(x); got != want {
			t.Errorf("FormatFigure(%v) = %q, want %q", x, got, want)
		}
	}
}
