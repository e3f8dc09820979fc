package main

import "testing"

// A simulated search finds the capacity of each server whose runs are judged live.
func TestSimulatedSearches(t *testing.T) {
	for _, s := range servers {
		in := 0
		const searches = 4
		for seed := range uint64(searches) {
			found, why := simulatedSearch(seed, s.queue, s.allowed)
			if why == "" && found.Low <= s.capacity && s.capacity <= found.High {
				in++
			}
		}
		if in < searches-1 {
			t.Errorf("%s: %d of %d intervals hold %.0f/s", s.what, in, searches, s.capacity)
		}
	}
}
