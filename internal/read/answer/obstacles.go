package answer

import (
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// out says which arms did not do the work.
func (f Found) out() string {
	by := map[best.Why][]string{}
	for _, o := range f.Best.Out {
		if !slices.Contains(by[o.Why], o.Arm) {
			by[o.Why] = append(by[o.Why], o.Arm)
		}
	}
	var parts []string
	if arms := by[best.Absent]; len(arms) > 0 {
		parts = append(parts, f.few(arms)+" cannot run here")
	}
	if arms := by[best.Failed]; len(arms) > 0 {
		parts = append(parts, f.few(arms)+" gave no valid trial")
	}
	if arms := by[best.Overloaded]; len(arms) > 0 {
		parts = append(parts, f.few(arms)+" fell behind the offered rate")
	}
	return strings.Join(parts, "; ")
}

// uncompared are the arms of some cells of which nobody can tell whether they are the best.
func (f Found) uncompared(in []string) (arms []string) {
	for _, o := range f.Best.Out {
		if o.Why == best.Refused && slices.Contains(in, o.Cell) && !slices.Contains(arms, o.Arm) {
			arms = append(arms, o.Arm)
		}
	}
	return arms
}

// refused says why figures of some arms may not be compared while those of others are. Whom
// the load generator limits is said by generator.
func (f Found) refused() string {
	var reasons []string
	arms, docs := map[string][]string{}, map[string][]string{}
	for _, o := range f.Best.Out {
		if arm, ok := f.armIn(o.Cell, o.Arm); o.Why != best.Refused || ok && strings.HasPrefix(string(arm.Limit), "client-") {
			continue
		}
		reason, doc := strings.TrimSuffix(o.Reason, "."), metric.Shown(o.Metric).Doc
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
		if !slices.Contains(arms[reason], o.Arm) {
			arms[reason] = append(arms[reason], o.Arm)
		}
		if !slices.Contains(docs[reason], doc) {
			docs[reason] = append(docs[reason], doc)
		}
	}
	var parts []string
	for _, reason := range reasons {
		parts = append(parts, f.few(arms[reason])+" cannot be compared on "+part.And(docs[reason])+": "+reason)
	}
	return strings.Join(parts, "; ")
}

// mute says on which metrics nothing can be compared, those for one reason together.
func (f Found) mute() string {
	var reasons []string
	docs := map[string][]string{}
	for _, a := range f.Best.Advice {
		for _, m := range a.Mute {
			reason := ": " + strings.TrimSuffix(m.Reason, ".")
			switch {
			case strings.HasSuffix(reason, compare.OthersTurnRatios):
				if reason = ", as " + compare.OthersTurnRatios; besideOthers(f.Run) == "" {
					reason = ": other processes used the CPUs, and " + compare.OthersTurnRatios
				}
			case compare.IsLatency(m.Metric) && f.most(a.Cells, func(arm cells.Arm) bool { return flagged(arm, trial.Overloaded) }):
				reason = ": no arm kept up with the offered rate" + f.achieved(a.Cells)
			}
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
			if doc := metric.Shown(m.Metric).Doc; !slices.Contains(docs[reason], doc) {
				docs[reason] = append(docs[reason], doc)
			}
		}
	}
	var parts []string
	for _, reason := range reasons {
		parts = append(parts, "on "+part.And(docs[reason])+" nothing can be compared"+reason)
	}
	return strings.Join(parts, "; ")
}

// generator says whose figures are those of the load generator.
func (f Found) generator() string {
	var limited []string
	for _, set := range f.Best.Sets {
		for _, a := range set.Arms {
			if arm, ok := f.armIn(set.Cell, a.Name); ok && a.Standing == best.Unknown && strings.HasPrefix(string(arm.Limit), "client-") && !slices.Contains(limited, a.Name) {
				limited = append(limited, a.Name)
			}
		}
	}
	if len(limited) == 0 {
		return ""
	}
	return "the load generator was the limit for " + f.few(limited) + ", which may be faster than measured; give the clients more CPUs or processes (clients=2)"
}

// link says that the link was the limit for all that is advised.
func (f Found) link(named []string) string {
	if len(named) == 0 || !f.most(nil, func(arm cells.Arm) bool { return !slices.Contains(named, arm.Name) || arm.Limit == trial.Link }) {
		return ""
	}
	return "the link was full: the rates are the link's"
}

// most tells whether something holds for every arm of some cells; nil for all cells.
func (f Found) most(in []string, holds func(cells.Arm) bool) bool {
	for _, cell := range f.Cells {
		if in != nil && !slices.Contains(in, cell.Name) {
			continue
		}
		if slices.ContainsFunc(cell.Arms, func(a cells.Arm) bool { return !holds(a) }) {
			return false
		}
	}
	return true
}

// flagged tells whether most of an arm's trials have a flag.
func flagged(arm cells.Arm, flag string) bool {
	n := 0
	for _, t := range arm.Trials {
		if slices.Contains(t.Flags, flag) {
			n++
		}
	}
	return 2*n > len(arm.Trials)
}

// achieved is the most that an arm served in some cells.
func (f Found) achieved(in []string) string {
	most := 0.0
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			if s, ok := summary(arm, metric.ExchangesPerS); ok && slices.Contains(in, cell.Name) {
				most = max(most, s.Value)
			}
		}
	}
	if most == 0 {
		return ""
	}
	m := metric.Shown(metric.ExchangesPerS)
	return ", " + part.WithUnit(most, m.Scale(most)) + " were served at most; offer less"
}
