package study

import "math"

// Bounds of the blocks that a search for a capacity may take, where none are given.
const (
	leastSearchBlocks = 10
	mostSearchBlocks  = 300
)

// checkCapacity refuses what contradicts a search for the highest rate: each trial gets
// its own.
func (s *Study) checkCapacity(designs []*design) error {
	for _, factor := range []string{"rate", "amount", "think"} {
		for _, d := range designs {
			for _, arm := range d.armsOrNone() {
				for _, l := range d.choices(arm, factor) {
					if explicit(l) && (factor == "rate" || positive(l)) {
						return Errorf(l.At, "%s=%s contradicts capacity, which looks for the highest rate in windows of an open loop; leave %s out", factor, l.Text, factor)
					}
				}
			}
		}
	}
	if len(s.Stages) > 0 || len(s.Further) > 0 {
		return Errorf(s.At, "capacity ends by itself: give blocks as one number, the most that it may take, or leave blocks and continue out")
	}
	s.Compare.Primary = nil
	for _, b := range s.Capacity.Objective {
		s.Compare.Primary = append(s.Compare.Primary, b.Metric)
	}
	return nil
}

// SearchBlocks returns how many blocks a search for a capacity may take: as many as its
// time has windows.
func (s *Study) SearchBlocks() int {
	trial := 0.0
	for _, factor := range []string{"window", "warmup"} {
		shortest := math.Inf(1)
		for _, l := range allLevels(s.designs(), factor) {
			shortest = min(shortest, l.Value/1e9)
		}
		trial += shortest
	}
	return max(leastSearchBlocks, min(mostSearchBlocks, 1+int(s.Capacity.TimeS/max(trial, 0.1))))
}
