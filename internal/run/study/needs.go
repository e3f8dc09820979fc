package study

import (
	"slices"

	"netdyno/internal/condition"
	"netdyno/internal/record"
)

// rare are levels of arms that not every host can run, with what the hosts must have.
var rare = []struct{ factor, level, needs string }{
	{"opt.fabric", "rdma", "RDMA devices"}, {"opt.tls", "rdma", "RDMA devices"}, {"transport", "verbs", "RDMA devices"},
	{"opt.memory", "cuda", "GPUs"},
	{"transport", "muduo", "muduo's programs"}, {"transport", "evpp", "evpp's programs"},
}

// Needs returns what the hosts must have for the arms of a statement, beside its
// conditions: "RDMA devices", "GPUs".
func (s *Study) Needs(x record.Expectation) (all []string) {
	designs := s.designs()
	for _, c := range conditionsOf(x) {
		for _, name := range c.Arms() {
			for _, d := range designs {
				all = append(all, d.bundle(name).needs(all)...)
			}
		}
	}
	return all
}

// conditionsOf are those of a statement that was checked when the study was read.
func conditionsOf(x record.Expectation) (all []condition.Condition) {
	for _, text := range x.That {
		if c, err := condition.Parse(text, nil); err == nil {
			all = append(all, c)
		}
	}
	return all
}

// needs returns what hosts must have for an arm, less what is known already.
func (a *Arm) needs(known []string) (more []string) {
	if a == nil {
		return nil
	}
	for _, r := range rare {
		if l, set := Find(a.Settings, r.factor); set && l.Text == r.level && !slices.Contains(known, r.needs) && !slices.Contains(more, r.needs) {
			more = append(more, r.needs)
		}
	}
	return more
}
