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
	for _, p := range c.Parts {
		for _, name := range slices.Concat(p.Arms, p.Than, []string{p.Base}) {
			for _, d := range s.designs() {
				i := slices.IndexFunc(d.bundles, func(a Arm) bool { return a.Name == name })
				if i < 0 {
					continue
				}
				for _, r := range rare {
					if l, set := Find(d.bundles[i].Settings, r.factor); set && l.Text == r.level && !slices.Contains(all, r.needs) {
						all = append(all, r.needs)
					}
				}
			}
		}
	}
	return all
}
