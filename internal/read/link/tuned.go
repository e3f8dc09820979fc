package link

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
)

// Tuned is an arm of TCP with options of its own beside the arm of the same transport
// that has the fewest, in a cell that both have.
type Tuned struct {
	Cell    string        `json:"cell"`
	Arm     string        `json:"arm"`
	Base    string        `json:"base"`
	Options []string      `json:"options"` // that the arm has and the base has not: "opt.client.send=sendfile"
	CPU     stat.Estimate `json:"cpu"`     // the arm's CPU time of both ends per GB ÷ the base's; the intervals of all hold together with 95 %
	Blocks  int           `json:"blocks"`
	Refusal string        `json:"refusal,omitempty"` // why the two may not be compared
}

// optionPrefix begins the factors that are a transport's options.
const optionPrefix = "opt."

// tuned compares what options cost and save, the least CPU per GB first.
func (l *Link) tuned(s *cells.Dataset) {
	cost := metric.Shown(metric.OfServer + metric.CPUPerGB)
	var divided []compare.Pairs
	for _, x := range l.Settings {
		base, options := l.plain(s, x)
		if base == "" {
			continue
		}
		pairs := compare.Divide(cpuOfBoth(s.Of(x.Cell, x.Arm)), cpuOfBoth(s.Of(x.Cell, base)))
		if len(pairs.Ratios) < leastBlocks {
			continue
		}
		divided = append(divided, pairs)
		l.Tuned = append(l.Tuned, Tuned{
			Cell: x.Cell, Arm: x.Arm, Base: base, Options: options, Blocks: len(pairs.Ratios),
			Refusal: compare.RefuseBesideOthers(s, compare.Prepare(s, x.Cell, cost, x.Arm, base)),
		})
	}
	for i := range l.Tuned {
		l.Tuned[i].CPU, _ = divided[i].EstimateAt((1 - stat.Confidence) / float64(len(l.Tuned)))
	}
	slices.SortStableFunc(l.Tuned, func(a, b Tuned) int { return cmp.Compare(a.CPU.Point, b.CPU.Point) })
}

// plain returns the arm of the same transport and cell that has the fewest options, and
// those that x has beside it; "" where x is that arm, or is no arm of TCP.
func (l *Link) plain(s *cells.Dataset, x Setting) (base string, options []string) {
	if !l.isTCP(x.Arm) {
		return "", nil
	}
	own := s.Of(x.Cell, x.Arm)[0].Plan.Levels
	few := len(optionsOf(own))
	for _, arm := range l.Spec.TCP {
		judged := s.Of(x.Cell, arm)
		if len(judged) == 0 {
			continue
		}
		levels := judged[0].Plan.Levels
		if levels["server"] == own["server"] && levels["client"] == own["client"] && len(optionsOf(levels)) < few {
			base, few = arm, len(optionsOf(levels))
		}
	}
	if base == "" {
		return "", nil
	}
	there := s.Of(x.Cell, base)[0].Plan.Levels
	for _, factor := range optionsOf(own) {
		if there[factor] != own[factor] {
			options = append(options, factor+"="+own[factor])
		}
	}
	return base, options
}

func optionsOf(levels map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(levels)), func(factor string) bool { return !strings.HasPrefix(factor, optionPrefix) })
}

// cpuOfBoth gathers the CPU time of both ends per GB.
func cpuOfBoth(judged []*trial.Judged) *cells.Pool {
	p := &cells.Pool{}
	for _, v := range judged {
		if cpu, ok := cells.OfBothEnds(&v.Trial, metric.CPUPerGB); ok && v.Trial.Status == trial.Valid {
			p.Add(v.Plan.Block, cpu)
		}
	}
	return p
}
