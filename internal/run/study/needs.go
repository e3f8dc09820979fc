package study

import (
	"slices"

	"netdyno/internal/record"
)

// rare are levels of arms that not every host can run, with what the hosts must have.
var rare = []struct{ factor, level, needs string }{
	{"opt.fabric", "rdma", "RDMA devices"}, {"opt.tls", "rdma", "RDMA devices"}, {"transport", "verbs", "RDMA devices"},
	{"opt.memory", "cuda", "GPUs"},
	{"transport", "muduo", "muduo's programs"}, {"transport", "evpp", "evpp's programs"},
}

// Needs returns what the hosts must have for the arms of a claim, beside its conditions:
// "RDMA devices", "GPUs".
func (s *Study) Needs(c record.Claim) (all []string) {
	designs := s.designs()
	for _, p := range c.Parts {
		for _, name := range slices.Concat(p.Arms, p.Than, []string{p.Base}) {
			for _, d := range designs {
				all = append(all, d.bundle(name).needs(all)...)
			}
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
