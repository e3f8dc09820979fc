package main

import (
	"testing"

	"netdyno/test/synthetic"
)

// A study counts when any of its looks calls its arms different, and not when
// none does.
func TestAtLooks(t *testing.T) {
	for cost, want := range map[float64]bool{1: false, 1.5: true} {
		header, trials, records := synthetic.Run(synthetic.Options{
			Bare: true, Connections: []int{50}, Rate: 20000, Blocks: 16, SD: 0.01, Seed: 4,
			Primary: []string{"server.cpu_us_per_exchange"}, Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: cost}},
		})
		header.Study.OwnLooks = []int{6, 10, 16}
		differs, unshared, err := atLooks(header, trials, records)
		if err != nil || differs != want || unshared != want {
			t.Errorf("an arm that costs %v times the other: differs %t, at the full level %t, %v; want %t", cost, differs, unshared, err, want)
		}
	}
}
