package main

import (
	"testing"

	"netdyno/peers/result"
)

// What is asked is met or missed only where the whole interval lies on one side of it.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		asked     string
		low, high float64
		want      string
	}{
		{"≥ 1.0", 1.01, 1.2, ", met"},
		{"≥ 1.0", 0.9, 1.2, ", open"},
		{"≥ 1.0", 0.9, 0.99, ", **missed**"},
		{"≤ 1.3", 0.9, 1.2, ", met"},
		{"≤ 1.3", 1.31, 1.4, ", **missed**"},
		{"0.97 to 1.03", 0.98, 1, ""},
		{"≥ 1.0", 0, 0, ""},
		{"", 1, 2, ""},
	} {
		if got := verdict(result.Row{Asked: c.asked, Low: c.low, High: c.high}); got != c.want {
			t.Errorf("%s with %v to %v: %q, expected %q", c.asked, c.low, c.high, got, c.want)
		}
	}
}
