package reach

import (
	"fmt"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// sentence says which arm needs least, and which does not reach
// the share. "" for a reach without an answer.
func (f *Reach) sentence(study record.Study) string {
	m, err := metric.Named(f.Spec.Metric)
	if err != nil || f.Reason != "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The best %s is %s, of %s with %s.", m.Doc, rateWords(f.Best.Metric.Value, f.Unit), cells.ArmLabel(study, f.BestOf), f.spell(f.Best))
	var short []string
	for _, r := range f.Reached {
		if len(r.Least) == 0 {
			hedge := ""
			if r.Best.Uncertain(f.Spec.Share) {
				hedge = ", perhaps"
			}
			short = append(short, fmt.Sprintf("%s (%s%s, limit %s)", cells.ArmLabel(study, r.Arm), quantity.FormatShare(r.Best.Share), hedge, r.Best.Limit))
			continue
		}
		var ways []string
		for _, candidate := range r.Least {
			if r.Arm == f.BestOf && candidate.Cell == f.Best.Cell {
				continue // the best itself
			}
			hedge := ""
			if candidate.Uncertain(f.Spec.Share) {
				hedge = ", perhaps"
			}
			ways = append(ways, fmt.Sprintf("%s (%s%s)", f.spell(candidate), quantity.FormatShare(candidate.Share), hedge))
		}
		if len(ways) == 0 {
			continue
		}
		fmt.Fprintf(&b, " %s reaches %s of it with %s.", cells.ArmLabel(study, r.Arm), quantity.FormatShare(f.Spec.Share), strings.Join(ways, " or "))
	}
	if len(short) > 0 {
		fmt.Fprintf(&b, " Even at their best these stay below: %s.", strings.Join(short, ", "))
	}
	if len(f.LeftOut) > 0 {
		fmt.Fprintf(&b, " Left out, because fewer than %d blocks have both them and the best: %s.", LeastBlocks, strings.Join(f.LeftOut, ", "))
	}
	return b.String()
}

func rateWords(x float64, unit string) string {
	if unit == "B/s" {
		return quantity.FormatByteRate(x)
	}
	return strings.TrimSpace(fmt.Sprintf("%.3g %s", x, unit))
}
