package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// weakens is what weakens whatever a run says, the worst first, a line each.
func (f Found) weakens() []string {
	all := []string{f.broken(), f.lost(), f.failures(), f.unanswered()}
	if f.Best != nil {
		all = append(all, f.generator(), f.mute(), f.refused())
	}
	return slices.DeleteFunc(all, func(line string) bool { return line == "" })
}

// broken says the first bound that does not hold, with the figure, and how many others do not.
func (f Found) broken() string {
	said, others := "", -1
	for _, r := range f.Requirements {
		if r.State != compare.Broken {
			continue
		}
		if others++; said != "" {
			continue
		}
		s := metric.Shown(r.Metric).Scale(r.Value)
		figure := fmt.Sprintf("%s (%s)", part.WithUnit(r.Value, s), s.Interval(r.Low, r.High))
		if r.Base != "" {
			figure = part.TimesIn(r.Value, r.Low, r.High)
		}
		if said = fmt.Sprintf("%s does not hold: %s", r.Text, figure); len(f.Cells) > 1 && r.Cell != "" {
			said += " at " + f.Plan().Names.Cell(r.Cell)
		}
	}
	if others > 0 {
		said += ", and " + quantity.Plural(others, "other") + " neither"
	}
	return said
}

// worst is what is said of the arm of which it is most, and of how many others there is less.
func (f Found) worst(of func(cells.Cell, cells.Arm) (size float64, text string)) string {
	worst, most, others := "", 0.0, -1
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			size, text := of(cell, arm)
			if text == "" {
				continue
			}
			if others++; worst == "" || size > most {
				worst, most = text, size
			}
		}
	}
	if others > 0 {
		return worst + ", " + quantity.Plural(others, "other") + " less"
	}
	return worst
}

// lost says of which arm most trials gave no figure, and why. Those that cannot run here the
// table names.
func (f Found) lost() string {
	return f.worst(func(cell cells.Cell, arm cells.Arm) (float64, string) {
		lost, why := lostOf(arm)
		switch {
		case lost == 0:
			return 0, ""
		case !slices.ContainsFunc(arm.Trials, func(t trial.Trial) bool { return t.Status == trial.Valid }):
			return 1, f.named(cell, arm) + " gave no valid trial: " + why
		}
		return float64(lost) / float64(len(arm.Trials)), fmt.Sprintf("%d of %s of %s gave no figure: %s", lost, quantity.Plural(len(arm.Trials), "trial"), f.named(cell, arm), why)
	})
}

// lostOf is how many trials of an arm gave no figure, with the first reason. Those that cannot
// run here, warmed up, or have not come yet are none beside one that is valid.
func lostOf(arm cells.Arm) (lost int, why string) {
	missing := 0
	for _, t := range arm.Trials {
		switch t.Status {
		case trial.Valid, trial.StatusWarmUp, trial.StatusUnsupported:
			continue
		case trial.StatusMissing:
			missing++
		default:
			lost++
		}
		why = cmp.Or(why, strings.TrimSuffix(t.Reason, "."))
	}
	if lost == 0 && missing == len(arm.Trials) {
		lost = missing
	}
	return lost, cmp.Or(why, "no reason was recorded")
}

// unansweredSaid is the least share of exchanges without an answer that is said: as many
// move a p99.
const unansweredSaid = 0.01

// unanswered says which arm left most of its exchanges without an answer.
func (f Found) unanswered() string {
	return f.worst(func(cell cells.Cell, arm cells.Arm) (float64, string) {
		if arm.Unfinished < unansweredSaid {
			return 0, ""
		}
		return arm.Unfinished, fmt.Sprintf("%s never answered %s %% of its %s", f.named(cell, arm), percent(arm.Unfinished), f.Counted())
	})
}

// failures says what share of the exchanges of the worst arm failed, and why.
func (f Found) failures() string {
	return f.worst(func(cell cells.Cell, arm cells.Arm) (float64, string) {
		failed, share, why := arm.Failures()
		if failed == 0 {
			return 0, ""
		}
		return share, fmt.Sprintf("%s: %s %% of the %s failed: %s", f.named(cell, arm), percent(share), f.Counted(), trial.ReasonsText(why))
	})
}

// named is an arm in its cell.
func (f Found) named(cell cells.Cell, arm cells.Arm) string {
	if in := f.Plan().Names.Cell(cell.Name); len(f.Cells) > 1 && in != "" {
		return f.label(arm.Name) + " at " + in
	}
	return f.label(arm.Name)
}

// generator says whose figures are those of the load generator.
func (f Found) generator() string {
	var limited []string
	for _, set := range f.Best.Sets {
		for _, a := range set.Arms {
			if f.byGenerator(set.Cell, a.Name) && a.Standing == best.Unknown && !slices.Contains(limited, a.Name) {
				limited = append(limited, a.Name)
			}
		}
	}
	if len(limited) == 0 {
		return ""
	}
	return "the load generator was the limit for " + f.listed(limited, quantity.And) + ": more client CPUs, or clients=2"
}

func (f Found) byGenerator(cell, name string) bool {
	arm, ok := f.armIn(cell, name)
	return ok && strings.HasPrefix(string(arm.Limit), "client-")
}

// mute says on which metrics nothing can be compared, and why.
func (f Found) mute() string {
	var docs []string
	reason := ""
	for _, a := range f.Best.Advice {
		for _, m := range a.Mute {
			if label := metric.Shown(m.Metric).Label; !slices.Contains(docs, label) {
				docs = append(docs, label)
			}
			reason = cmp.Or(reason, f.because(a, m))
		}
	}
	if len(docs) == 0 {
		return ""
	}
	return quantity.And(docs) + " not compared: " + reason
}

// because is why nothing can be compared on a metric.
func (f Found) because(a best.Advice, m best.Mute) string {
	overloaded := func(c cells.Cell) bool {
		return slices.Contains(a.Cells, c.Name) && !slices.ContainsFunc(c.Arms, func(arm cells.Arm) bool { return !flagged(arm, trial.Overloaded) })
	}
	if !compare.IsLatency(m.Metric) || !slices.ContainsFunc(f.Cells, overloaded) {
		return strings.TrimSuffix(m.Reason, ".")
	}
	most := 0.0
	for _, c := range f.Cells {
		for _, arm := range c.Arms {
			if s, ok := arm.Summary(metric.ExchangesPerS); ok {
				most = max(most, s.Value)
			}
		}
	}
	rate := metric.Shown(metric.ExchangesPerS)
	return fmt.Sprintf("no arm kept up with the offered rate, %s at most; offer less", part.WithUnit(most, rate.Scale(most)))
}

// refused says why figures of some arm may not be compared while those of others are.
func (f Found) refused() string {
	for _, o := range f.Best.Out {
		if o.Why == best.Refused && !f.byGenerator(o.Cell, o.Arm) {
			return f.label(o.Arm) + " not compared on " + metric.Shown(o.Metric).Label + ": " + strings.TrimSuffix(o.Reason, ".")
		}
	}
	return ""
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
