package study

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// asksSlowdown tells whether a metric that the study declares, draws or requires is a
// slowdown.
func (s *Study) asksSlowdown() bool {
	names := slices.Clone(s.Compare.Primary)
	for _, c := range s.Charts {
		names = append(names, c.Metric, c.Against)
	}
	for _, r := range s.Requires {
		names = append(names, r.Metric)
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(metric.SlowdownNames(), name) })
}

// unloaded returns the trials of a block that tell each arm's times without load, by which
// slowdowns are divided: one of each arm for all cells that differ only in their load.
// It is in the first of these cells, and has that cell's seed.
func (s *Study) unloaded(once []record.Trial) ([]record.Trial, error) {
	if !s.asksSlowdown() {
		return nil, nil
	}
	if s.Mesh || s.Steered() {
		return nil, Errorf(s.At, "a slowdown is compared in blocks that run whole, and neither a mesh nor a search for a capacity nor a race has these; expected another metric")
	}
	var trials []record.Trial
	seen := map[string]bool{}
	for _, t := range once {
		if key := t.UnloadedKey(); !seen[key] {
			seen[key] = true
			t.Levels, t.Unloaded = t.Unload(), true
			trials = append(trials, t)
		}
	}
	return trials, nil
}
