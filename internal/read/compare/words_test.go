package compare

import "testing"

func TestPercentHasNoExponent(t *testing.T) {
	for share, want := range map[float64]string{0.02: "2 %", 0.0003: "0.03 %", 0.999: "99.9 %", 9.99: "999 %", 97.7: "9770 %"} {
		if got := Percent(share); got != want {
			t.Errorf("Percent(%v) = %q, want %q", share, got, want)
		}
	}
}
