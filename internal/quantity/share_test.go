package quantity

import "testing"

func TestAChosenShareHasNoExponent(t *testing.T) {
	for share, want := range map[float64]string{0.02: "2 %", 0.0003: "0.03 %", 0.999: "99.9 %", 9.99: "999 %", 97.7: "9770 %"} {
		if got := ChosenShare(share); got != want {
			t.Errorf("ChosenShare(%v) = %q, want %q", share, got, want)
		}
	}
}
