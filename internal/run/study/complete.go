package study

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// DefaultMargin is the ratio below which a difference is none (specification §6.3).
const DefaultMargin = 0.02

// Complete adds what the levels of a study imply, compares what it most probably
// asks about, and refuses contradictions. Only Name, Question, the levels, the
// blocks, Capacity, Probes, Seed and At are set before.
func (s *Study) Complete() error {
	s.Compare.Factor = s.likelyCompared()
	for _, check := range []func() error{s.checkTwice, s.CheckCompared, s.checkMesh, s.CheckSize, s.distinctSweeps} {
		if err := check(); err != nil {
			return err
		}
	}
	designs := s.designs()
	for _, d := range designs {
		if err := d.check(); err != nil {
			return err
		}
	}
	s.Compare.Margin, s.Compare.Primary = DefaultMargin, likelyPrimary(designs)
	if s.Capacity != nil {
		return s.checkCapacity(designs)
	}
	return checkArrival(designs)
}

// likelyCompared is the factor that a study most probably asks about. Who names
// two builds asks what changed between them, whatever else varies; of one arm nothing is
// asked but what varies beside it.
func (s *Study) likelyCompared() string {
	likely := []string{"build", ArmFactor, record.PathFactor, record.NetworkFactor, "transport", "server", "client"}
	for _, least := range []int{2, 1} {
		for _, name := range likely {
			if v := FindVaried(s.Vary, name); v != nil && len(v.Levels) >= least {
				return name
			}
		}
	}
	if len(s.Vary) > 0 && !s.Mesh { // whose pairs of hosts are cells
		return s.Vary[0].Factor
	}
	if _, ok := Find(s.Hold, "transport"); ok {
		return "transport"
	}
	return "server"
}

// likelyPrimary keeps the family of primary comparisons small: at an equal
// offered rate cost and response time differ, in a closed loop the rate does;
// of streams one asks for bytes, whatever an exchange of theirs is.
func likelyPrimary(designs []*design) []string {
	closed, open := loops(designs)
	streamed := !slices.ContainsFunc(allLevels(designs, "stream"), func(l Level) bool { return !streams(l) })
	switch {
	case streamed:
		return []string{metric.Goodput, metric.OfClient + metric.CPUPerGB, metric.OfServer + metric.CPUPerGB}
	case open && !closed:
		return []string{metric.OfServer + metric.CPUPerExchange, metric.ResponseP99}
	}
	return []string{metric.ExchangesPerS, metric.OfServer + metric.CPUPerExchange}
}
