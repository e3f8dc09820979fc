package main

import (
	"testing"

	"netdyno/peers/result"
)

// What is asked is met or missed only where the whole interval of enough blocks lies on one
// side of it.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		asked     string
		low, high float64
		blocks    int
		want      string
	}{
		{"≥ 1.0", 1.01, 1.2, 16, ", met"},
		{"≥ 1.0", 0.9, 1.2, 16, ", open"},
		{"≥ 1.0", 0.9, 0.99, 16, ", **missed**"},
		{"≤ 1.3", 0.9, 1.2, 16, ", met"},
		{"≤ 1.3", 1.31, 1.4, 16, ", **missed**"},
		{"0.97 to 1.03", 0.98, 1, 16, ""},
		{"≥ 1.0", 0, 0, 16, ""},
		{"", 1, 2, 16, ""},
		{"≥ 1.0", 1.01, 1.2, 15, ", under 16 blocks"},
		{"", 1, 2, 15, ""},
	} {
		if got := verdict(result.Row{Asked: c.asked, Low: c.low, High: c.high, Blocks: c.blocks}); got != c.want {
			t.Errorf("%s with %v to %v: %q, expected %q", c.asked, c.low, c.high, got, c.want)
		}
	}
}
