package study

import "slices"

// allLevels returns the levels of a factor over all trials of some designs.
func allLevels(designs []*design, factor string) []Level {
	var all []Level
	for _, d := range designs {
		for _, arm := range d.armsOrNone() {
			for _, l := range d.trialLevels(arm, factor) {
				if !hasText(all, l.Text) {
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// loops reports whether any trial runs a closed loop and any an open one.
func loops(designs []*design) (closed, open bool) {
	rates := allLevels(designs, "rate")
	open = slices.ContainsFunc(rates, positive)
	closed = slices.ContainsFunc(rates, func(l Level) bool { return !positive(l) })
	return closed, open
}

// checkArrival refuses an arrival process that no trial would follow.
func checkArrival(designs []*design) error {
	if _, open := loops(designs); open {
		return nil
	}
	for _, d := range designs {
		for _, arm := range d.armsOrNone() {
			for _, l := range d.choices(arm, "arrival") {
				if explicit(l) {
					return Errorf(l.At, "arrival=%s contradicts rate=%s (%s): a closed loop has no arrival process",
						l.Text, unbounded, where(d.choices(arm, "rate")[0].At))
				}
			}
		}
	}
	return nil
}
