package study

import (
	"maps"

	"netdyno/internal/record"
)

// Auto is the level of clients and of servers that leaves their number to the limits
// of the hosts, which the planner does not know.
const Auto = "auto"

// left are the factors whose number may be left to the hosts.
var left = []string{"clients", "servers"}

// checkAuto refuses a number that is left to the hosts beside others: it may be any of
// them.
func (s *Study) checkAuto() error {
	varied := s.Vary
	for _, w := range s.Sweeps {
		varied = append(varied[:len(varied):len(varied)], w.Vary...)
	}
	for _, factor := range left {
		for _, v := range varied {
			for _, l := range v.Levels {
				if v.Factor == factor && l.Text == Auto {
					return Errorf(l.At, "%s varies, and %s may be the same as any other level; expected numbers, or %s=%s alone", factor, Auto, factor, Auto)
				}
			}
		}
	}
	return nil
}

// Left tells whether a trial leaves a number of processes to the hosts.
func Left(t record.Trial) bool {
	for _, factor := range left {
		if t.Levels[factor] == Auto {
			return true
		}
	}
	return false
}

// WithProcesses returns trials in which the numbers that were left to the hosts are
// those that number returns for a trial, which it is asked of each cell and arm once.
func WithProcesses(trials []record.Trial, number func(record.Trial) (clients, servers string, err error)) ([]record.Trial, error) {
	type kind struct{ arm, cell string }
	settled := map[kind]map[string]string{}
	out := make([]record.Trial, len(trials))
	for i, t := range trials {
		out[i] = t
		if !Left(t) {
			continue
		}
		of := kind{t.Arm, t.Cell}
		if settled[of] == nil {
			clients, servers, err := number(t)
			if err != nil {
				return nil, err
			}
			levels := maps.Clone(t.Levels)
			for factor, n := range map[string]string{"clients": clients, "servers": servers} {
				if levels[factor] == Auto {
					levels[factor] = n
				}
			}
			settled[of] = levels
		}
		out[i].Levels = settled[of]
	}
	return out, nil
}
