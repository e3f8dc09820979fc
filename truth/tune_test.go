package main

import "testing"

// A fifth of the trials finds a setting near the best of the recorded grid, and equal
// settings keep the defaults; a race that chose by chance would do neither.
func TestRacesOfTheGrid(t *testing.T) {
	const runs, sd = 100, 0.03
	won, _, most := replayed(runs, sd)
	if won < 95 || most > gridTrials {
		t.Errorf("%d of %d races end within 5 %% of the best, in up to %d trials; want 95 and %d", won, runs, most, gridTrials)
	}
	if kept := unmoved(runs, sd); kept < 95 {
		t.Errorf("%d of %d races among equal settings keep the defaults, want 95", kept, runs)
	}
	if hopeless, _, _ := replayed(runs, 1); hopeless > 70 {
		t.Errorf("with noise of 100 %% still %d of %d races end near the best: the count does not count", hopeless, runs)
	}
}
