package finding

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// warnFewSamples names metrics that were asked about and exist in some of an arm's
// trials only: those in which most was done are no sample of all. One that no
// trial has is refused instead.
func warnFewSamples(s *cells.Dataset, f Findings) []record.Warning {
	var asked []string
	for _, m := range metric.All() {
		if s.Primary(m.Name) || slices.ContainsFunc(f.Requirements, func(r compare.Requirement) bool { return r.Metric == m.Name }) {
			asked = append(asked, m.Name)
		}
	}
	var all []record.Warning
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			for _, metric := range asked {
				if t, found := compare.MissingIn(s, cell.Name, arm.Name, metric); found && t.Trials < t.Of {
					all = append(all, record.Warning{
						About:  compare.FewSamples,
						Text:   fmt.Sprintf("%s is absent from %d of %d valid trials of %s: %s", metric, t.Trials, t.Of, cells.ArmOf(cell, arm), t.Want()),
						Advice: "lengthen the window, or compare a percentile nearer to the middle",
					})
				}
			}
		}
	}
	return all
}

// warn returns what a reader of the findings must know: the planner's
// warnings first, then what the records showed.
func warn(s *cells.Dataset, f Findings) []record.Warning {
	before, all := trial.BusyBefore(s.Header.Study.Warnings)
	all = append(append(all, s.Stray...), warnBusy(s, before)...)
	if f.Mesh != nil { // whose hosts are told apart, with what is unlike about them, and whose arm is one
		return append(append(all, warnFlags(s, f)...), warnAway(s, f)...)
	}
	if f.Capacity != nil { // which goes beyond what the arms carry on purpose
		return append(append(append(all, warnDelivery(s, f)...), warnAway(s, f)...), warnHosts(s, f)...)
	}
	for _, h := range f.Headlines() {
		all = append(all, h.Warnings...)
	}
	for _, of := range []func(*cells.Dataset, Findings) []record.Warning{
		warnLimits, warnFlags, warnFewSamples, warnUnfinished, warnNoise, warnFloors, warnDelivery, warnPlace, warnAway, warnHosts,
	} {
		all = append(all, of(s, f)...)
	}
	return all
}

func warnLimits(s *cells.Dataset, f Findings) []record.Warning {
	var limited []string
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			if _, of := cells.LimitedBy(s.Of(cell.Name, arm.Name)); of == contract.Client {
				limited = append(limited, cells.ArmOf(cell, arm))
			}
		}
	}
	if len(limited) == 0 {
		return nil
	}
	return []record.Warning{{
		About: "limit", Text: "the client limited " + quantity.Names(limited) + ": these rates measure the load generator",
		Advice: "give the clients more CPUs or processes (clients=2), or offer an equal rate to every arm and compare CPU per exchange",
	}}
}

// warnFlags counts the valid trials that carry each flag, but for those that are summed
// up otherwise. Of one that is invalid no figure is used, and its reason is told.
func warnFlags(s *cells.Dataset, _ Findings) []record.Warning {
	var all []record.Warning
	for _, flag := range trial.Flags() {
		n := flagged(s, flag.Name)
		if n == 0 || slices.Contains([]string{trial.Unfinished, trial.BusyMachine, trial.Onward}, flag.Name) {
			continue
		}
		text := fmt.Sprintf("in %d of %d trials %s: they %s", n, len(s.Trials), flag.Changes, flag.Warning)
		if flag.Name == trial.LateCounters {
			text += fmt.Sprintf(", %s at most", quantity.FormatShare(worst(s, func(v *trial.Judged) float64 { return v.CostError })))
		}
		all = append(all, record.Warning{About: flag.Name, Text: text, Advice: flag.Advice})
	}
	return all
}

// flagged counts the valid trials that carry a flag.
func flagged(s *cells.Dataset, flag string) int {
	n := 0
	for _, v := range s.Trials {
		if v.Trial.Status == trial.Valid && slices.Contains(v.Trial.Flags, flag) {
			n++
		}
	}
	return n
}

// worst is the largest of a number of the valid trials; 0 for none.
func worst(s *cells.Dataset, of func(*trial.Judged) float64) float64 {
	largest := 0.0
	for _, v := range s.Trials {
		if v.Trial.Status == trial.Valid {
			largest = max(largest, of(v))
		}
	}
	return largest
}

// warnNoise names primary metrics on which the baseline differs from itself,
// and cells in which nothing measures that.
func warnNoise(s *cells.Dataset, f Findings) []record.Warning {
	var all []record.Warning
	measured := map[string]bool{}
	for _, n := range f.Noise {
		measured[n.Cell] = true
		if s.Primary(n.Metric) && n.P <= cells.Level {
			all = append(all, record.Warning{
				About: "noise",
				Text: fmt.Sprintf("%s differs between the baseline and its own repeat%s: %.3g× (%.3g–%.3g), p %.2g; no difference below that is judged",
					n.Metric, cells.InCell(n.Cell), n.Ratio, n.Low, n.High, n.P),
				Advice: "run more blocks; one such pair in twenty differs by chance, so look for what drifts within blocks where several do",
			})
		}
	}
	unknown := slices.DeleteFunc(slices.Clone(s.Cells), func(cell string) bool { return measured[cell] })
	if len(unknown) > 0 && len(f.Comparisons) > 0 {
		all = append(all, record.Warning{
			About:  "noise",
			Text:   "fewer than two blocks have both trials of the baseline" + cells.InCells(unknown) + ": how far it differs from itself (A/A) is unknown, so only the margin bounds differences",
			Advice: "run more blocks",
		})
	}
	return all
}

// warnDelivery names every arm of the cells whose arms deliver content
// differently, once.
func warnDelivery(s *cells.Dataset, f Findings) []record.Warning {
	var mixed, all []string
	for _, cell := range f.Cells {
		var arms []string
		kinds := map[string]bool{}
		for _, arm := range cell.Arms {
			if arm.Delivery != "" {
				kinds[arm.Delivery] = true
				arms = append(arms, fmt.Sprintf("%s (%s)", arm.Name, arm.Delivery))
			}
		}
		if len(kinds) < 2 {
			continue
		}
		mixed = append(mixed, cell.Name)
		for _, arm := range arms {
			if !slices.Contains(all, arm) {
				all = append(all, arm)
			}
		}
	}
	if len(mixed) == 0 {
		return nil
	}
	place := cells.InCell(mixed[0])
	if len(mixed) > 1 {
		place = fmt.Sprintf(" in %d of %d cells", len(mixed), len(f.Cells))
	}
	return []record.Warning{{
		About:  "delivery",
		Text:   "the arms do not do the same work" + place + ", as whole messages cost a copy that chunks do not: " + strings.Join(all, ", "),
		Advice: "compare arms that deliver content alike; netdyno transports NAME says how each does",
	}}
}

func warnPlace(s *cells.Dataset, _ Findings) []record.Warning {
	if s.Header.Facts.Rig != "loopback" {
		return nil
	}
	return []record.Warning{{
		About:  "loopback",
		Text:   "a CPU-bound path in software; it says nothing about network cards",
		Advice: "compare only what software costs here, with frames of 64 KiB; to judge a network, measure across it",
	}}
}
