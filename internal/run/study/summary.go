package study

import (
	"slices"

	"netdyno/internal/record"
)

// Summary returns what readers need of the study. Hold has every level that
// all trials share, defaults included; Vary begins with the compared factor and
// has what sweeps hold differently too. The planner's warnings are the caller's
// to add.
func Summary(s *Study) record.Study {
	out := record.Study{
		Name: s.Name, Question: s.Question, Hold: map[string]string{}, Compare: s.Compare, Recommend: slices.Clone(s.Recommend),
		Blocks: s.Blocks, Stages: slices.Clone(s.Stages), Further: slices.Clone(s.Further), Settle: s.Settle, SettleS: s.SettleS, Mesh: s.Mesh, Seed: s.Seed, Capacity: s.Capacity, Race: s.Race,
		Requires: slices.Clone(s.Requires), Published: slices.Clone(s.Published),
		Charts: slices.Clone(s.Charts), Fits: slices.Clone(s.Fits), Reaches: slices.Clone(s.Reaches), Pays: slices.Clone(s.Pays), Costs: slices.Clone(s.Costs), Claims: slices.Clone(s.Claims), Ladders: slices.Clone(s.Ladders),
	}
	others := s.others()
	shared := defaults()
	for _, h := range s.designs()[0].hold {
		set(shared, h.Factor, h.Level)
	}
	settle(shared)
	for factor, level := range shared {
		if !s.differs(factor, others) {
			out.Hold[factor] = level.Text
		}
	}
	out.Labels = s.labels()
	out.Vary = append(out.Vary, factorOf(s.Compared()))
	for _, v := range others {
		out.Vary = append(out.Vary, factorOf(v))
	}
	return out
}

// differs reports whether a trial's factor is not the study's to hold: it is
// compared or names cells, is bundled in an arm, or follows from one that is.
func (s *Study) differs(factor string, others []Varied) bool {
	for _, source := range append([]string{factor}, follows[factor]...) {
		if s.Varies(source) || FindVaried(others, source) != nil {
			return true
		}
		for i := range s.Arms {
			if _, ok := Find(s.Arms[i].Settings, source); ok {
				return true
			}
		}
	}
	return false
}
